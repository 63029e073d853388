// Threads of one runtime, in a program that has several: each registers itself by a file of its own, if it is there.
#pragma once

#include <functional>
#include <vector>

namespace test {

struct Crew {
  const char* runtime;
  // Runs body(0) ... body(n - 1) in threads of the runtime, those of user level all on the calling kernel thread, and waits
  // for them. Called once, in a kernel thread that does nothing else.
  void (*run)(int n, const std::function<void(int)>& body);
};

inline std::vector<Crew>& crews() {
  static std::vector<Crew> all;
  return all;
}

struct Registered {
  explicit Registered(Crew crew) { crews().push_back(crew); }
};

}  // namespace test
