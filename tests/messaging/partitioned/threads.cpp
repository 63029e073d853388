// Partitioned communication as it is meant: every partition is marked by a thread of its own, at its own time, and each
// of the receiver's threads takes its partition as soon as it has arrived.
#include <atomic>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int rounds = 20;

int value(int rank, int round, int index) { return rank * 1000003 + round * 10007 + index; }

// `senders` threads a rank mark, `receivers` threads a rank take; `ints` in all.
void ring(int senders, int receivers, int ints) {
  const int right = (test::rank() + 1) % test::size();
  const int left = (test::rank() + test::size() - 1) % test::size();
  std::vector<int> out(static_cast<std::size_t>(ints)), in(static_cast<std::size_t>(ints), -1);
  MPI_Request send, receive;
  MPI_Psend_init(out.data(), senders, ints / senders, MPI_INT, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in.data(), receivers, ints / receivers, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  for (int round = 0; round < rounds; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    std::vector<std::thread> team;
    for (int t = 0; t < senders; ++t)
      team.emplace_back([&, t] {
        for (int i = t * (ints / senders); i < (t + 1) * (ints / senders); ++i)
          out[static_cast<std::size_t>(i)] = value(test::rank(), round, i);
        MPI_Pready(t, send);
      });
    for (int t = 0; t < receivers; ++t)
      team.emplace_back([&, t] {
        for (int flag = 0; !flag;) {
          MPI_Parrived(receive, t, &flag);
          if (!flag) std::this_thread::yield();
        }
        for (int i = t * (ints / receivers); i < (t + 1) * (ints / receivers); ++i)
          equal(in[static_cast<std::size_t>(i)], value(left, round, i), "data of a partition that has arrived");
      });
    // One thread waits meanwhile: it must not be needed for the others to get on, nor be in their way.
    team.emplace_back([&] { MPI_Wait(&send, MPI_STATUS_IGNORE); });
    for (std::thread& t : team) t.join();
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

// A thread that has seen all partitions arrive finds the request complete, also while another thread makes progress.
void arrival_is_completion(int ints) {
  constexpr int partitions = 4;
  const int right = (test::rank() + 1) % test::size();
  const int left = (test::rank() + test::size() - 1) % test::size();
  std::vector<int> out(static_cast<std::size_t>(partitions * ints)), in(out.size());
  MPI_Request send, receive;
  MPI_Psend_init(out.data(), partitions, ints, MPI_INT, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &send);
  MPI_Precv_init(in.data(), partitions, ints, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &receive);
  std::atomic<bool> stop{false};
  std::thread other([&] {
    for (int flag; !stop;) MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  });
  for (int round = 0; round < 2000; ++round) {
    MPI_Start(&receive);
    MPI_Start(&send);
    for (int i = 0; i < partitions; ++i) {
      out[static_cast<std::size_t>((i + 1) * ints - 1)] = value(test::rank(), round, i);
      MPI_Pready(i, send);
    }
    for (int i = 0; i < partitions; ++i) {
      for (int flag = 0; !flag;) MPI_Parrived(receive, i, &flag);
      equal(in[static_cast<std::size_t>((i + 1) * ints - 1)], value(left, round, i),
            "data of a partition that has arrived");
    }
    int flag = 0;
    MPI_Test(&receive, &flag, MPI_STATUS_IGNORE);
    check(flag, "all partitions have arrived, so the receive is complete");
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  stop = true;
  other.join();
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

// Several operations at a time, each driven by a thread of its own.
void many() {
  std::vector<std::thread> team;
  for (int t = 0; t < 6; ++t)
    team.emplace_back([t] {
      const int peer = test::size() - 1 - test::rank();
      int out[4], in[4];
      MPI_Request requests[2];
      MPI_Precv_init(in, 2, 2, MPI_INT, peer, 100 + t, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
      MPI_Psend_init(out, 4, 1, MPI_INT, peer, 100 + t, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
      for (int round = 0; round < 50; ++round) {
        for (int i = 0; i < 4; ++i) out[i] = value(test::rank() + 100 * t, round, i);
        MPI_Startall(2, requests);
        MPI_Pready_range(0, 3, requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 4; ++i) equal(in[i], value(peer + 100 * t, round, i), "data");
      }
      MPI_Request_free(&requests[0]);
      MPI_Request_free(&requests[1]);
    });
  for (std::thread& t : team) t.join();
}

}  // namespace

int main(int argc, char** argv) {
  test::Session session(&argc, &argv);
  ring(4, 4, 4000);
  ring(6, 4, 120000);
  ring(2, 8, 8);
  many();
  arrival_is_completion(1);    // through the board
  arrival_is_completion(512);  // as messages
}
