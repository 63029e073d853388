// Cancelling a receive while its message may be arriving: either it is cancelled and the message is there for another
// receive, or it has the message. And a thread that waits for a receive is released when another thread cancels it.
#include <atomic>
#include <chrono>

#include "base/threads/received_once.hpp"

namespace {

using namespace test;

const int threads = team_size(4);
constexpr int messages = 60;

bool was_cancelled(const MPI_Status& status) {
  int flag;
  MPI_Test_cancelled(&status, &flag);
  return flag != 0;
}

// Receives one message by receives that are cancelled soon after they were posted, until one of them has it. Nothing
// promises that one ever does, so the last is not cancelled.
void receive_through_cancels(std::vector<unsigned char>& in, int source, int tag, Random& random, MPI_Status& status) {
  constexpr int most_cancels = 100;
  for (int cancels = 0;; ++cancels) {
    std::fill(in.begin(), in.end(), static_cast<unsigned char>(0xee));
    MPI_Request request;
    MPI_Irecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, source, tag, MPI_COMM_WORLD, &request);
    int flag = 0;
    for (int tests = random.below(20); tests > 0 && !flag; --tests) MPI_Test(&request, &flag, &status);
    if (flag) return;
    if (cancels < most_cancels) MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    check(request == MPI_REQUEST_NULL, "a cancelled receive completes");
    if (!was_cancelled(status)) return;
    for (unsigned char byte : in) equal(byte, 0xee, "a cancelled receive writes nothing");
  }
}

// `any`: the threads compete for the messages; otherwise each has a tag.
void race(bool any, unsigned seed) {
  constexpr int mixed[] = {16, 100, 3000, 20000};
  ReceivedOnce received_once(threads, messages);
  in_threads(threads, [&](int t) {
    Random random(seed, rank(), t, any);
    for (int i = 0; i < messages; ++i) {
      const std::vector<unsigned char> out = stamped({rank(), t, i}, mixed[i % 4]);
      MPI_Request send;
      MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, right(), any ? 90 : t, MPI_COMM_WORLD, &send);
      std::vector<unsigned char> in(20000);
      MPI_Status status;
      receive_through_cancels(in, any ? MPI_ANY_SOURCE : left(), any ? 90 : t, random, status);
      in.resize(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
      const Stamp stamp = read_stamped(in, status);
      if (!any) equal(stamp.number, i, "a cancelled receive does not take its message along");
      received_once.got(stamp);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
  });
  equal(received_once.total(), threads * messages, "messages that arrived");
  MPI_Barrier(MPI_COMM_WORLD);
}

// Threads block in receives that no send will ever match; another thread cancels them while a third keeps the library
// busy. Each waits in its own way.
void cancelled_by_another() {
  for (int round = 0; round < 20; ++round) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(threads));
    std::vector<int> nothing(requests.size());
    std::atomic<int> waiting = 0;
    for (int t = 0; t < threads; ++t) {
      const auto place = static_cast<std::size_t>(t);
      MPI_Irecv(&nothing[place], 1, MPI_INT, MPI_ANY_SOURCE, 700 + t, MPI_COMM_WORLD, &requests[place]);
    }
    in_threads(threads + 2, [&](int t) {
      if (t == threads) {
        std::vector<MPI_Request> handles = requests;
        while (waiting < threads) yield();
        if (round % 2 == 1) sleep(std::chrono::milliseconds(2));  // they sleep by now
        for (MPI_Request& handle : handles) MPI_Cancel(&handle);
      } else if (t > threads) {
        int out = round, in = -1;
        MPI_Sendrecv(&out, 1, MPI_INT, right(), 900, &in, 1, MPI_INT, left(), 900, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        equal(in, round, "a message beside");
      } else {
        MPI_Request request = requests[static_cast<std::size_t>(t)];
        ++waiting;
        MPI_Status status;
        int index = 0, count = 0;
        if (t % 4 == 0) MPI_Wait(&request, &status);
        if (t % 4 == 1) MPI_Waitany(1, &request, &index, &status);
        if (t % 4 == 2) MPI_Waitall(1, &request, &status);
        if (t % 4 == 3) MPI_Waitsome(1, &request, &count, &index, &status);
        check(was_cancelled(status), "the wait ends because of the cancel");
      }
    });
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const unsigned s = seed(argc, argv);
  race(false, s);
  race(true, s);
  cancelled_by_another();
}
