// Many threads of every rank at once: own pairs, wildcards, probes, self-messages, long messages, and order.
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int threads = 8;

template <class F>
void in_threads(F&& f) {
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(f, t);
  for (std::thread& t : team) t.join();
}

// Blocking ping-pongs of thread t with thread t of the neighbour, told apart by tag.
void ping_pong(int peer, bool first) {
  in_threads([=](int t) {
    for (int i = 0; i < 300; ++i) {
      long value = 0;
      if (first) {
        const long sent = i * 1000L + t;
        MPI_Send(&sent, 1, MPI_LONG, peer, t, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_LONG, peer, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        equal(value, sent + 1, "echo");
      } else {
        MPI_Recv(&value, 1, MPI_LONG, peer, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        ++value;
        MPI_Send(&value, 1, MPI_LONG, peer, t, MPI_COMM_WORLD);
      }
    }
  });
}

// Each thread's messages keep their order, whatever the others do; windows of nonblocking calls, sizes mixed.
void windows(int peer) {
  in_threads([=](int t) {
    constexpr int window = 32;
    std::vector<std::vector<int>> out(window), in(window);
    for (int round = 0; round < 20; ++round) {
      std::vector<MPI_Request> requests;
      for (int i = 0; i < window; ++i) {
        const std::size_t n = (i % 8 == 7) ? 50000 : static_cast<std::size_t>(1 + i * 3);
        in[static_cast<std::size_t>(i)].assign(n, -1);
        out[static_cast<std::size_t>(i)].assign(n, round * 100 + i);
        MPI_Request r;
        MPI_Irecv(in[static_cast<std::size_t>(i)].data(), static_cast<int>(n), MPI_INT, peer, 100 + t, MPI_COMM_WORLD,
                  &r);
        requests.push_back(r);
        MPI_Isend(out[static_cast<std::size_t>(i)].data(), static_cast<int>(n), MPI_INT, peer, 100 + t, MPI_COMM_WORLD,
                  &r);
        requests.push_back(r);
      }
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (int i = 0; i < window; ++i) {
        equal(in[static_cast<std::size_t>(i)].front(), round * 100 + i, "order");
        equal(in[static_cast<std::size_t>(i)].back(), round * 100 + i, "whole message");
      }
    }
  });
}

// All threads receive with wildcards from all; every message must arrive exactly once.
void wildcards() {
  constexpr int messages = 200;
  const int peers = test::size();
  std::vector<long> sums(threads);
  in_threads([&](int t) {
    for (int i = 0; i < messages; ++i) {
      const int to = (test::rank() + 1 + i % peers) % peers;
      const int value = test::rank() * 1000000 + t * 1000 + i;
      MPI_Request r;
      MPI_Isend(&value, 1, MPI_INT, to, 500, MPI_COMM_WORLD, &r);
      int got;
      MPI_Status status;
      if (i % 2 == 0) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 500, MPI_COMM_WORLD, &status);
      } else {
        MPI_Message message;
        MPI_Mprobe(MPI_ANY_SOURCE, 500, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
      }
      equal(got / 1000000, status.MPI_SOURCE, "the status names the sender");
      sums[static_cast<std::size_t>(t)] += got;
      MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
  });
  long mine = 0;
  for (long s : sums) mine += s;
  long total = 0, expected = 0;
  MPI_Reduce(&mine, &total, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  for (long r = 0; r < peers; ++r)
    for (long t = 0; t < threads; ++t)
      for (long i = 0; i < messages; ++i) expected += r * 1000000 + t * 1000 + i;
  if (test::rank() == 0) equal(total, expected, "every message arrives once");
}

// Threads that only test, and messages to oneself.
void self() {
  in_threads([](int t) {
    for (int i = 0; i < 200; ++i) {
      int out = i, in = -1, flag = 0;
      MPI_Request requests[2];
      MPI_Irecv(&in, 1, MPI_INT, test::rank(), 700 + t, MPI_COMM_WORLD, &requests[0]);
      MPI_Issend(&out, 1, MPI_INT, test::rank(), 700 + t, MPI_COMM_WORLD, &requests[1]);
      while (!flag) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
      equal(in, i, "message to oneself");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  const int peer = test::rank() ^ 1;
  if (peer < test::size()) {
    ping_pong(peer, test::rank() < peer);
    windows(peer);
  }
  wildcards();
  self();
  MPI_Barrier(MPI_COMM_WORLD);
}
