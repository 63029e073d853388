#include "base/platform/native.hpp"
#include "base/sync/futex_lock.hpp"

int main() {
  heddle::sync::FutexLock<heddle::platform::Native> lock;
  heddle::sync::Guard guard(lock);
}
