// Fibers of Boost.Fiber as the team of a benchmark program (common/team.h).
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/protected_fixedsize_stack.hpp>
#include <memory>
#include <vector>

extern "C" [[gnu::visibility("default")]] void bench_run_threads(int n, void (*member)(int)) {
  constexpr std::size_t stack = 64 * 1024;
  std::vector<boost::fibers::fiber> fibers;
  for (int i = 0; i < n; ++i)
    fibers.emplace_back(std::allocator_arg, boost::fibers::protected_fixedsize_stack(stack), member, i);
  for (boost::fibers::fiber& fiber : fibers) fiber.join();
}
