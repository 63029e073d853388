// Far more threads than cores: at least 32 and 64 in each of two ranks, 8 in each of eight. Each thread is served, and none waits for ever.
#include "base/threads/team.hpp"

namespace {

using namespace test;

// Blocking ping-pong of each thread with its like in the neighbour rank: at any time half of all threads wait.
void ping_pong(int threads, MPI_Comm comm) {
  in_threads(threads, [&](int t) {
    const int peer = rank() ^ 1;
    for (int i = 0; i < 12; ++i) {
      long value = 0;
      if (rank() < peer) {
        const long sent = i * 1000L + t;
        MPI_Send(&sent, 1, MPI_LONG, peer, t, comm);
        MPI_Recv(&value, 1, MPI_LONG, peer, t, comm, MPI_STATUS_IGNORE);
        equal(value, sent + 1, "echo");
      } else {
        MPI_Recv(&value, 1, MPI_LONG, peer, t, comm, MPI_STATUS_IGNORE);
        ++value;
        MPI_Send(&value, 1, MPI_LONG, peer, t, comm);
      }
    }
  });
}

// Windows of messages of mixed sizes with all neighbours, completed by waiting or by testing.
void windows(int threads, MPI_Comm comm) {
  constexpr int window = 4;
  constexpr int mixed[window] = {8, 20000, 0, 1000};
  in_threads(threads, [&](int t) {
    for (int round = 0; round < 2; ++round) {
      std::vector<std::vector<unsigned char>> out, in;
      MPI_Request requests[2 * window];
      for (int i = 0; i < window; ++i) {
        in.emplace_back(static_cast<std::size_t>(mixed[i]));
        out.push_back(message(mix(rank(), t, round, i), mixed[i]));
        MPI_Irecv(in.back().data(), mixed[i], MPI_BYTE, left(), t, comm, &requests[2 * i]);
        MPI_Isend(out.back().data(), mixed[i], MPI_BYTE, right(), t, comm, &requests[2 * i + 1]);
      }
      if (t % 16 == 3) {
        for (int flag = 0; !flag;) MPI_Testall(2 * window, requests, &flag, MPI_STATUSES_IGNORE);
      } else {
        MPI_Waitall(2 * window, requests, MPI_STATUSES_IGNORE);
      }
      for (int i = 0; i < window; ++i)
        expect_message(in[static_cast<std::size_t>(i)], mix(left(), t, round, i), "in a crowd");
    }
  });
}

// All threads wait for one: a single message lets all go, one by one.
void released_one_by_one(int threads, MPI_Comm comm) {
  in_threads(threads + 1, [&](int t) {
    char token = 0;
    if (t < threads) {
      MPI_Recv(&token, 1, MPI_CHAR, right(), t, comm, MPI_STATUS_IGNORE);
    } else {
      for (int i = threads - 1; i >= 0; --i) MPI_Send(&token, 1, MPI_CHAR, left(), i, comm);
    }
  });
}

// A collective of each thread with its likes, on a communicator of its own.
void collectives(int threads) {
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  in_threads(threads, [&](int t) {
    for (int i = 0; i < 3; ++i) {
      int out = rank() + t, sum = -1;
      MPI_Allreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comms[static_cast<std::size_t>(t)]);
      equal(sum, size() * (size() - 1) / 2 + size() * t, "allreduce in a crowd");
    }
  });
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (int threads : size() <= 2 ? std::vector{team_size(32), team_size(64)} : std::vector{team_size(8)}) {
    if (size() % 2 == 0) ping_pong(threads, MPI_COMM_WORLD);
    windows(threads, MPI_COMM_WORLD);
    released_one_by_one(threads, MPI_COMM_WORLD);
    collectives(threads);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}
