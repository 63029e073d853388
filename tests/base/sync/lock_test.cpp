// Every lock on real threads, up to 64 of them; order and priority where a header promises them.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/platform/native.hpp"
#include "combining.hpp"
#include "lock_body.hpp"
#include "locks.hpp"
#include "native_run.hpp"
#include "observed.hpp"

namespace heddle::test {
namespace {

using platform::Native;
constexpr unsigned max_threads = 64;

// For each thread. Few for large crews: the FIFO locks need a turn of the scheduler for each, more on a busy machine.
constexpr unsigned rounds_for(unsigned threads) { return threads > 8 ? 60 : 12'000 / threads; }

struct Run : testing::Test {
  explicit Run(std::function<void()> b) : body(std::move(b)) {}
  void TestBody() override { body(); }
  std::function<void()> body;
};

void add(const char* suite, const std::string& name, std::function<void()> body) {
  testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                        [body]() -> testing::Test* { return new Run(body); });
}

// Lets threads come to wait one after the other, the low class first, and returns the order in which they got the lock.
template <class L>
std::vector<unsigned> order_of_service(unsigned low, unsigned high) {
  const auto lock = std::make_unique<L>();
  std::vector<unsigned> served;
  Observed::waiters = 0;
  typename L::node mine;
  lock->lock(mine);
  {
    std::vector<std::jthread> crew;
    for (unsigned id = 0; id != low + high; ++id) {
      crew.emplace_back([&, id] {
        Observed::fresh();
        typename L::node node;
        if (id < low) {
          sync::lock_low(*lock, node);
        } else {
          lock->lock(node);
        }
        served.push_back(id);
        lock->unlock(node);
      });
      Observed::until_waiting(id + 1);
    }
    lock->unlock(mine);
  }
  return served;
}

// High callers come again and again until a low one has got the lock: there is always a successor, and it must get its turn.
template <class L>
void low_class_gets_its_turn() {
  const auto lock = std::make_unique<L>();
  std::atomic<bool> over{false};
  std::vector<std::jthread> crew;
  for (int i = 0; i != 8; ++i) {
    crew.emplace_back([&] {
      typename L::node node;
      while (!over) {
        lock->lock(node);
        Native::pause(20);
        lock->unlock(node);
      }
    });
  }
  for (int i = 0; i != 20; ++i) {
    typename L::node node;
    sync::lock_low(*lock, node);
    lock->unlock(node);
  }
  over = true;
}

void register_all() {
  Locks<Native>::for_each([]<class C>(C) {
    for (const unsigned threads : {1U, 2U, 3U, 8U, max_threads}) {
      add("Lock", std::string(C::name) + "/" + std::to_string(threads),
          [threads] { run_on_threads<LockBody<Native, typename C::type, max_threads>>(threads, rounds_for(threads)); });
    }
  });
  Combinings<Native>::for_each([]<class C>(C) {
    for (const unsigned threads : {1U, 2U, 3U, 8U, max_threads}) {
      add("Combining", std::string(C::name) + "/" + std::to_string(threads), [threads] {
        run_on_threads<CombiningBody<Native, typename C::type, max_threads>>(threads, rounds_for(threads));
      });
    }
  });
  FifoLocks<Observed>::for_each([]<class C>(C) {
    add("LockIsFifo", std::string(C::name), [] {
      EXPECT_EQ(order_of_service<typename C::type>(0, 6), (std::vector<unsigned>{0, 1, 2, 3, 4, 5}));
    });
  });
  add("LowClass", "pclh", low_class_gets_its_turn<sync::PClhLock<Native>>);
  TwoClassLocks<Observed>::for_each([]<class C>(C) {
    add("LockHasTwoClasses", std::string(C::name), [] {
      EXPECT_EQ(order_of_service<typename C::type>(3, 3), (std::vector<unsigned>{3, 4, 5, 0, 1, 2}));
    });
  });
}

}  // namespace
}  // namespace heddle::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  heddle::test::register_all();
  return RUN_ALL_TESTS();
}
