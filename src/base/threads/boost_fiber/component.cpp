// Boost.Fiber as a loadable component.
#include "base/threads/boost_fiber/boost_fiber.hpp"

extern "C" [[gnu::visibility("default")]] const heddle::threads::Operations* heddle_thread_runtime() {
  return &heddle::threads::operations_of<heddle::threads::BoostFiber>;
}
