// Two threads that write the same fields: of an object in the heap, of a static array, and of a variable of a function.
#include <atomic>
#include <cstddef>
#include <memory>

#include "pair.hpp"

namespace {

struct Lock {
  unsigned owner = 0;
  std::atomic<unsigned> word{0};
  [[gnu::noinline]] void take() {
    while (word.exchange(1) != 0) {
    }
  }
  void leave() { word.store(0); }
};

class alignas(64) Service {
 public:
  template <class T>
  struct alignas(64) Queue {
    T head{};
    Lock lock;
    T items[10]{};
  };
  void serve() {
    queues_[1].lock.take();
    ++queues_[1].items[8];
    queues_[1].lock.leave();
  }

 private:
  long unused_[4] = {};
  Queue<long> queues_[2];
};

struct alignas(64) Total {
  std::byte unused[16];
  std::atomic<int> hits;
};
Total totals[3];

}  // namespace

int main() {
  constexpr int times = 2000;
  const auto service = std::make_unique<Service>();
  struct alignas(64) {
    std::atomic<int> first, second;
  } local{};
  const auto work = [&] {
    for (int i = 0; i != times; ++i) {
      service->serve();
      totals[2].hits.fetch_add(1);
      local.second.fetch_add(1);
    }
  };
  together(work, work);
  return totals[2].hits == 2 * times && local.second == 2 * times ? 0 : 1;
}
