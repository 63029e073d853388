// Requests and messages belong to the rank, not to the thread that made them: one thread starts what another completes,
// and threads leave while what they started is under way.
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "base/threads/team.hpp"

namespace {

using namespace test;

int size_of(int i) {
  constexpr int mixed[] = {8, 30000, 0, 200, 140000, 41, 16384, 1};
  return mixed[i % 8];
}

// One message to the right and one from the left, under way.
struct Exchange {
  int id;
  std::vector<unsigned char> out, in;
  MPI_Request requests[2];

  explicit Exchange(int i) : id(i), out(message(mix(rank(), i), size_of(i))), in(out.size()) {
    MPI_Irecv(in.data(), size_of(i), MPI_BYTE, left(), i, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out.data(), size_of(i), MPI_BYTE, right(), i, MPI_COMM_WORLD, &requests[1]);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void wait() {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_message(in, mix(left(), id), "an exchange that another thread started");
  }
};

// Threads that start exchanges hand them to threads that wait for them.
void producers_and_consumers() {
  const int pairs = even_team_size(8) / 2;
  constexpr int exchanges = 40;
  Mutex mutex;
  Condition more;
  std::deque<std::unique_ptr<Exchange>> started;
  in_threads(2 * pairs, [&](int t) {
    for (int i = 0; i < exchanges; ++i) {
      if (t < pairs) {
        auto exchange = std::make_unique<Exchange>(t * exchanges + i);
        const std::lock_guard guard(mutex);
        started.push_back(std::move(exchange));
        more.notify_one();
      } else {
        std::unique_lock guard(mutex);
        more.wait(guard, [&] { return !started.empty(); });
        const std::unique_ptr<Exchange> exchange = std::move(started.front());
        started.pop_front();
        guard.unlock();
        exchange->wait();
      }
    }
  });
}

// Short lives: each thread starts something and is gone. Its requests outlive it.
void threads_that_leave() {
  constexpr int generations = 20;
  const int threads = team_size(5);
  std::deque<std::unique_ptr<Exchange>> started;
  for (int g = 0; g < generations; ++g) {
    Mutex mutex;
    in_threads(threads, [&](int t) {
      auto exchange = std::make_unique<Exchange>(g * threads + t);
      const std::lock_guard guard(mutex);
      started.push_back(std::move(exchange));
    });
    if (g % 2 == 1) {  // by this thread, those of two generations
      while (!started.empty()) {
        started.front()->wait();
        started.pop_front();
      }
    }
  }
}

// A thread leaves from its wait while others are still waiting: another thread must poll them.
void threads_that_leave_waiting_others() {
  const int threads = team_size(8);
  for (int round = 0; round < 10; ++round) {
    in_threads(threads, [&](int t) {
      // Thread t is released by thread t - 1 of the rank on the left, so the ranks' threads leave one by one.
      char token = 0;
      if (t > 0) MPI_Recv(&token, 1, MPI_CHAR, left(), t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (t + 1 < threads) MPI_Send(&token, 1, MPI_CHAR, right(), t + 1, MPI_COMM_WORLD);
    });
  }
}

// Sends that are given up by their thread before it leaves arrive all the same.
void freed_sends() {
  const int threads = team_size(4);
  constexpr int sends = 10;
  std::vector<std::vector<unsigned char>> out;
  for (int i = 0; i < threads * sends; ++i) out.push_back(message(mix(rank(), i), size_of(i)));
  in_threads(threads, [&](int t) {
    for (int i = t * sends; i < (t + 1) * sends; ++i) {
      MPI_Request request;
      MPI_Isend(out[static_cast<std::size_t>(i)].data(), size_of(i), MPI_BYTE, right(), 500 + i, MPI_COMM_WORLD,
                &request);
      MPI_Request_free(&request);
      check(request == MPI_REQUEST_NULL, "a freed request is null");
    }
  });
  for (int i = 0; i < threads * sends; ++i) {
    std::vector<unsigned char> in(static_cast<std::size_t>(size_of(i)));
    MPI_Recv(in.data(), size_of(i), MPI_BYTE, left(), 500 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_message(in, mix(left(), i), "a freed send");
  }
  // All have been received, so `out` may go. A message says so, not a barrier through shared memory: then the thread sanitizer, which sees
  // one process, sees that `out` is freed after the communication thread has read it.
  MPI_Sendrecv(nullptr, 0, MPI_BYTE, left(), 499, nullptr, 0, MPI_BYTE, right(), 499, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

// A message is found by a thread that leaves, and received by another.
void found_by_one_that_left() {
  for (int i = 0; i < 16; ++i) {
    const std::vector<unsigned char> out = message(mix(rank(), i), size_of(i));
    std::vector<unsigned char> in(out.size());
    MPI_Request request;
    MPI_Isend(out.data(), size_of(i), MPI_BYTE, right(), 900, MPI_COMM_WORLD, &request);
    MPI_Message found = MPI_MESSAGE_NULL;
    in_threads(1, [&](int) { MPI_Mprobe(left(), 900, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE); });
    in_threads(1, [&](int) { MPI_Mrecv(in.data(), size_of(i), MPI_BYTE, &found, MPI_STATUS_IGNORE); });
    expect_message(in, mix(left(), i), "a message found by a thread that left");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  producers_and_consumers();
  threads_that_leave();
  threads_that_leave_waiting_others();
  freed_sends();
  found_by_one_that_left();
}
