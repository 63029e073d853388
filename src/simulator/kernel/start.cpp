// The first function of a program gets a stack that begins at a page, whatever the environment: which variables share a
// cache line must not depend on the length of a path.
#include <cstddef>
#include <cstdint>

#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

using Main = int (*)(int, char**, char**);

constinit Real<int(Main, int, char**, Main, void (*)(), void (*)(), void*)> real_start("__libc_start_main");
constinit Main program_main = nullptr;

int main_on_a_page(int argc, char** argv, char** environment) {
  constexpr std::uintptr_t page = 4096;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  auto* const unused = static_cast<volatile char*>(__builtin_alloca(here % page + page));
  unused[0] = 0;
  return program_main(argc, argv, environment);
}

}  // namespace
}  // namespace heddle::simulator

extern "C" {

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, int (*init)(int, char**, char**),
                      void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  using namespace heddle::simulator;
  if (self == nullptr) return real_start(main, argc, argv, init, fini, rtld_fini, stack_end);
  program_main = main;
  return real_start(main_on_a_page, argc, argv, init, fini, rtld_fini, stack_end);
}
}
