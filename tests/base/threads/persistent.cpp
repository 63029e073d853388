// Persistent requests under threads: each thread starts its own again and again; one thread starts what another waits
// for and a third frees; collectives too.
#include <barrier>

#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(6);
constexpr int rounds = 30;

using SendInit = int (*)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// A channel of one thread to the next rank, with buffers that stay.
struct Channel {
  int thread;
  std::vector<unsigned char> out, in;
  MPI_Request requests[2];  // receive, send

  Channel(int t, int bytes, MPI_Comm comm) : thread(t), out(static_cast<std::size_t>(bytes)), in(out.size()) {
    constexpr SendInit init[] = {MPI_Send_init, MPI_Ssend_init};
    const int source = t % 2 == 0 ? left() : MPI_ANY_SOURCE;
    MPI_Recv_init(in.data(), bytes, MPI_BYTE, source, t, comm, &requests[0]);
    init[t / 2 % 2](out.data(), bytes, MPI_BYTE, right(), t, comm, &requests[1]);
  }
  void start(int round) {
    fill(out, mix(rank(), thread, round));
    if (round % 2 == 0) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[1]);
      MPI_Start(&requests[0]);
    }
  }
  void wait(int round) {
    MPI_Status statuses[2];
    if (round % 3 == 0) {
      for (int flag = 0; !flag;) MPI_Testall(2, requests, &flag, statuses);
    } else if (round % 3 == 1) {
      MPI_Waitall(2, requests, statuses);
    } else {
      for (int left_over = 2, index; left_over > 0; --left_over) {
        MPI_Status status;
        MPI_Waitany(2, requests, &index, &status);
        check(index == 0 || index == 1, "waitany of persistent requests");
        statuses[index] = status;
      }
    }
    check(requests[0] != MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL, "persistent requests stay");
    equal(statuses[0].MPI_SOURCE, left(), "source");
    equal(statuses[0].MPI_TAG, thread, "tag");
    expect_message(in, mix(left(), thread, round), "content of this round");
    int flag = 0;
    MPI_Status empty;
    MPI_Test(&requests[0], &flag, &empty);
    check(flag != 0 && empty.MPI_SOURCE == MPI_ANY_SOURCE, "an inactive request is complete and empty");
  }
  void free() {
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
};

int size_of(int t) {
  constexpr int mixed[] = {8, 30000, 200, 150000, 0, 16384};
  return mixed[t % 6];
}

void own_channels() {
  in_threads(threads, [](int t) {
    Channel channel(t, size_of(t), MPI_COMM_WORLD);
    for (int round = 0; round < rounds; ++round) {
      channel.start(round);
      channel.wait(round);
    }
    channel.free();
  });
}

// In turn every thread starts the channel of one neighbour, waits for that of the next, and in the end frees a third's.
void shared_channels() {
  std::vector<Channel> channels;
  channels.reserve(static_cast<std::size_t>(threads));
  for (int t = 0; t < threads; ++t) channels.emplace_back(t, size_of(t), MPI_COMM_WORLD);
  Barrier all(threads);
  in_threads(threads, [&](int t) {
    const auto other = [&](int k) -> Channel& { return channels[static_cast<std::size_t>((t + k) % threads)]; };
    for (int round = 0; round < rounds; ++round) {
      other(round).start(round);
      all.arrive_and_wait();
      other(round + 1).wait(round);
      all.arrive_and_wait();
    }
    other(3).free();
  });
}

// Persistent collectives, each thread on its communicator, all under way at the same time.
void collectives() {
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  in_threads(threads, [&](int t) {
    const int n = 1 + t * 400;
    std::vector<int> out(static_cast<std::size_t>(n)), sum(out.size());
    MPI_Request requests[2];
    MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    MPI_Allreduce_init(out.data(), sum.data(), n, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < rounds; ++round) {
      std::fill(out.begin(), out.end(), rank() + round);
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      for (int x : sum) equal(x, size() * (size() - 1) / 2 + size() * round, "persistent allreduce");
    }
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  });
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  own_channels();
  MPI_Barrier(MPI_COMM_WORLD);
  shared_channels();
  collectives();
}
