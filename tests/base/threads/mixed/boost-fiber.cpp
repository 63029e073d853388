#include <boost/fiber/all.hpp>

#include "base/threads/mixed/crew.hpp"

namespace {

void run(int n, const std::function<void(int)>& body) {
  std::vector<boost::fibers::fiber> fibers;
  for (int i = 0; i < n; ++i)
    fibers.emplace_back(std::allocator_arg, boost::fibers::protected_fixedsize_stack(256 * 1024),
                        [&body, i] { body(i); });
  for (boost::fibers::fiber& fiber : fibers) fiber.join();
}

const test::Registered registered({"boost-fiber", run});

}  // namespace
