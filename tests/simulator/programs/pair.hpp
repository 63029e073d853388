// Two threads that begin together.
#pragma once

#include <atomic>
#include <thread>

template <class F, class G>
void together(F first, G second) {
  std::thread other(second);
  first();
  other.join();
}
