// Runs a test body on real threads. All start together; with a seed the scheduler is disturbed at random.
#pragma once

#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "kit.hpp"

namespace heddle::test {

template <class Body>
void run_on_threads(unsigned threads, unsigned rounds) {
  const auto body = std::make_unique<Body>(threads, rounds);
  std::latch start(threads);
  {
    std::vector<std::jthread> crew;
    crew.reserve(threads);
    for (unsigned id = 0; id != threads; ++id) {
      crew.emplace_back([&body, &start, id] {
        start.arrive_and_wait();
        body->thread(id);
      });
    }
  }
  body->finish();
}

}  // namespace heddle::test
