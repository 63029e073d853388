// Receives with wildcards from many threads of a rank: each message goes to one of them, whole, and wildcards that come
// and go do not disturb those who know what they wait for.
#include <deque>

#include "base/threads/received_once.hpp"

namespace {

using namespace test;

const int threads = team_size(6);
constexpr int messages = 48;
constexpr int largest = 40000;

int size_of(int number) {
  constexpr int mixed[] = {12, 40, 1000, 16400, 20, 104, largest, 64};
  return mixed[number % 8];
}

// Starts to send message i of thread t, the i-th to the i-th rank after this one. Each rank gets as many as it sends.
struct Outgoing {
  std::deque<std::vector<unsigned char>> data;
  std::vector<MPI_Request> requests;

  void send(int t, int i, int tag, MPI_Comm comm) {
    data.push_back(stamped({rank(), t, i}, size_of(i)));
    MPI_Isend(data.back().data(), static_cast<int>(data.back().size()), MPI_BYTE, (rank() + i) % size(), tag, comm,
              &requests.emplace_back());
  }
  void wait() { MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE); }
};

// Receives one at a time, or in windows of nonblocking ones, for any source and for any tag or a known one.
void anything(int window, int tag) {
  ReceivedOnce received_once(threads, messages);
  in_threads(threads, [&](int t) {
    Outgoing outgoing;
    for (int i = 0; i < messages; i += window) {
      std::vector<std::vector<unsigned char>> in(static_cast<std::size_t>(window), std::vector<unsigned char>(largest));
      std::vector<MPI_Request> receives(in.size());
      std::vector<MPI_Status> statuses(in.size());
      if (window > 1) {
        for (std::size_t w = 0; w < in.size(); ++w)
          MPI_Irecv(in[w].data(), largest, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &receives[w]);
      }
      for (int w = 0; w < window; ++w) outgoing.send(t, i + w, tag == MPI_ANY_TAG ? i + w : tag, MPI_COMM_WORLD);
      if (window > 1)
        MPI_Waitall(window, receives.data(), statuses.data());
      else
        MPI_Recv(in[0].data(), largest, MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &statuses[0]);
      for (std::size_t w = 0; w < in.size(); ++w) {
        const auto bytes = static_cast<std::size_t>(count_of(statuses[w], MPI_BYTE));
        const Stamp stamp = read_stamped(std::span(in[w]).first(bytes), statuses[w]);
        equal(statuses[w].MPI_TAG, tag == MPI_ANY_TAG ? stamp.number : tag, "tag");
        received_once.got(stamp);
      }
    }
    outgoing.wait();
  });
  equal(received_once.total(), threads * messages, "messages that arrived");
  MPI_Barrier(MPI_COMM_WORLD);
}

// On one communicator: threads that name source and tag, threads that take a tag from any source, threads that take any
// tag that one rank sends to them alone, and one that posts and cancels receives that would match nothing.
void beside_exact(MPI_Comm comm) {
  constexpr int unused_tag = 999;
  in_threads(threads, [&](int t) {
    if (t == 0) {
      for (int i = 0; i < messages; ++i) {
        int nothing, cancelled;
        MPI_Request request;
        MPI_Status status;
        MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, unused_tag, comm, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &cancelled);
        check(cancelled != 0, "a receive that matches nothing is cancelled");
      }
      return;
    }
    const bool any_source = t % 2 == 0;
    for (int i = 0; i < messages; ++i) {
      const std::vector<unsigned char> out = stamped({rank(), t, i}, size_of(i));
      std::vector<unsigned char> in(largest);
      MPI_Request request;
      MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, right(), t, comm, &request);
      MPI_Status status;
      MPI_Recv(in.data(), largest, MPI_BYTE, any_source ? MPI_ANY_SOURCE : left(), t, comm, &status);
      const auto bytes = static_cast<std::size_t>(count_of(status, MPI_BYTE));
      const Stamp stamp = read_stamped(std::span(in).first(bytes), status);
      equal(stamp.thread, t, "the thread's own message");
      equal(stamp.number, i, "in order");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  anything(1, 5);
  anything(1, MPI_ANY_TAG);
  anything(8, 5);
  anything(8, MPI_ANY_TAG);
  beside_exact(MPI_COMM_WORLD);
}
