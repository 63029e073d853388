#include "platform/native.hpp"
#include "sync/futex_lock.hpp"

int main() {
  heddle::sync::FutexLock<heddle::platform::Native> lock;
  heddle::sync::Guard guard(lock);
}
