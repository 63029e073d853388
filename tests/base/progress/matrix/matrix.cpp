// The progress matrix: a thread of rank 0 blocks in some call, another leaves work behind and waits outside MPI for the first.
// The call ends only when the work has been moved, so a cell hangs if no thread does that. A thread that leaves work which no
// spinning thread will do must wake one that will.
//
//   matrix [staged] [REPEATS [BLOCKING [WORK]]]    all cells so often, or those of a row, or one; rows and columns by index
//
// The last rows are calls that wait for a message of the same rank, which the other thread sends or receives before it leaves.
// Nothing else is deferred then: such a row has one cell.
//
// `staged`: the kernel is not allowed to copy between processes. Long messages must then have gone through shared memory, which
// is counted, and there are no windows over memory of the program.
//
// While a cell takes long its name stands on stderr; mpiexec --timeout then tells who waits for whom.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <thread>

#include "base/progress/matrix/cell.hpp"
#include "base/threads/team.hpp"
#include "mpi/board.hpp"
#include "mpi/kernel_copy.hpp"
#include "mpi/tool/tool.hpp"

namespace {

using namespace matrix;
using namespace std::chrono_literals;

constexpr auto until_blocked = 2ms;  // longer than a thread stays spinning by default
constexpr auto patience = 2s;

// Both ranks agree without calls.
class Shared {
 public:
  void leave() { board_[0].fetch_add(1); }
  void await(int cell) const { board_.await(0, cell); }

 private:
  test::Board board_;
};

// Says which cell it is that does not end.
class Watch {
 public:
  void begin(const Blocking& blocking, const Work& work) {
    const std::lock_guard guard(mutex_);
    blocking_ = blocking.name();
    work_ = work.name();
    since_ = std::chrono::steady_clock::now();
    told_ = false;
  }

 private:
  void look() {
    const std::lock_guard guard(mutex_);
    if (told_ || blocking_ == nullptr || std::chrono::steady_clock::now() - since_ < patience) return;
    told_ = true;
    std::fprintf(stderr, "matrix: %s while another thread has left: %s: still blocked\n", blocking_, work_);
  }

  std::mutex mutex_;
  const char* blocking_ = nullptr;
  const char* work_ = nullptr;
  std::chrono::steady_clock::time_point since_;
  bool told_ = false;
  std::jthread thread_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(50ms);
      look();
    }
  }};
};

// Counts the long messages that have come through shared memory.
class Staged {
 public:
  Staged() {
    test::ok(MPI_T_pvar_session_create(&session_));
    counter_ = std::make_unique<test::Counter>(session_, "vni_messages_staged");
  }
  Staged(const Staged&) = delete;
  Staged& operator=(const Staged&) = delete;
  ~Staged() {
    counter_.reset();
    test::ok(MPI_T_pvar_session_free(&session_));
  }

  void expect(int messages, const char* work) {
    const unsigned long long now = counter_->read();
    test::check(now >= seen_ + static_cast<unsigned long long>(messages), work);
    seen_ = now;
  }

 private:
  test::Tool tool_;
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  std::unique_ptr<test::Counter> counter_;
  unsigned long long seen_ = 0;
};

// For a row that has one cell.
struct Nothing final : Work {
  const char* name() const override { return "nothing but a message to itself"; }
  void leave() override {}
  void effect() override {}
  void finish() override {}
};

void block_and_leave(Blocking& blocking, Work& work, Shared& shared) {
  test::Mutex mutex;
  test::Condition released;
  bool inside = false, over = false;
  work.accept();
  test::in_threads(2, [&](int t) {
    if (t == 0) {
      {
        const std::lock_guard guard(mutex);
        inside = true;
      }
      blocking.block();
      const std::lock_guard guard(mutex);
      over = true;
      released.notify_all();
      return;
    }
    for (bool begun = false; !begun;) {
      test::sleep(1ms);
      const std::lock_guard guard(mutex);
      begun = inside;
    }
    test::sleep(until_blocked);
    work.leave();
    shared.leave();
    blocking.release_beside();
    std::unique_lock guard(mutex);
    released.wait(guard, [&] { return over; });
  });
  work.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_staged = argc > 1 && std::strcmp(argv[1], "staged") == 0;
  const bool forbidden = is_staged && test::forbid_kernel_copy();
  argc -= is_staged;
  argv += is_staged;
  const test::Session session(&argc, &argv);
  test::equal(test::size(), 2, "ranks");
  test::equal(forbidden, is_staged, "the kernel refuses to copy");
  const auto argument = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  auto blocking = all_blocking();
  const std::size_t crossed = blocking.size();
  for (auto& to_itself : all_to_itself()) blocking.push_back(std::move(to_itself));
  const auto work = all_work(is_staged ? Copy::staged : Copy::by_kernel);
  Nothing nothing;
  Shared shared;
  Watch watch;
  std::optional<Staged> staged;
  if (is_staged) staged.emplace();
  int cells = 0;
  for (int repeat = argument(1, 1); repeat > 0; --repeat) {
    for (std::size_t b = 0; b < blocking.size(); ++b) {
      for (std::size_t w = 0; w < (b < crossed ? work.size() : 1); ++w) {
        if (argument(2, static_cast<int>(b)) != static_cast<int>(b) ||
            argument(3, static_cast<int>(w)) != static_cast<int>(w))
          continue;
        Work& left = b < crossed ? *work[w] : nothing;
        ++cells;
        watch.begin(*blocking[b], left);
        blocking[b]->prepare(test::rank());
        left.announce(test::rank());
        MPI_Barrier(MPI_COMM_WORLD);
        if (test::rank() == rank_that_blocks) {
          block_and_leave(*blocking[b], left, shared);
        } else {
          shared.await(cells);
          left.effect();
          blocking[b]->release();
        }
        if (staged) staged->expect(left.long_messages(test::rank()), left.name());
        MPI_Barrier(MPI_COMM_WORLD);
      }
    }
  }
  if (test::rank() == 0) std::printf("%d cells\n", cells);
}
