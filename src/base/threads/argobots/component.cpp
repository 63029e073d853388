// Argobots as a loadable component.
#include "base/threads/argobots/argobots.hpp"

extern "C" [[gnu::visibility("default")]] const heddle::threads::Operations* heddle_thread_runtime() {
  return &heddle::threads::operations_of<heddle::threads::Argobots>;
}
