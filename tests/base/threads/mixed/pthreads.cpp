#include <thread>

#include "base/threads/mixed/crew.hpp"

namespace {

void run(int n, const std::function<void(int)>& body) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&body, i] { body(i); });
}

const test::Registered registered({"pthreads", run});

}  // namespace
