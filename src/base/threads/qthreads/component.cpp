// Qthreads as a loadable component.
#include "base/threads/qthreads/qthreads.hpp"

extern "C" [[gnu::visibility("default")]] const heddle::threads::Operations* heddle_thread_runtime() {
  return &heddle::threads::operations_of<heddle::threads::Qthreads>;
}
