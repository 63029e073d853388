// Messages of a rank to itself, from many threads at once: within a thread, from thread to thread, in every mode, on the
// world and on MPI_COMM_SELF.
#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(6);

int self_in(MPI_Comm comm) {
  int r;
  MPI_Comm_rank(comm, &r);
  return r;
}

// A thread can only send to itself what it has posted or what it need not wait for.
void within_a_thread(MPI_Comm comm) {
  const int self = self_in(comm);
  in_threads(threads, [&](int t) {
    Random random(rank(), t);
    for (int i = 0; i < 60; ++i) {
      const int bytes = any_size(random);
      const std::vector<unsigned char> out = message(mix(t, i), bytes);
      std::vector<unsigned char> in(out.size());
      MPI_Request receive, send = MPI_REQUEST_NULL;
      MPI_Status status;
      const bool posted = i % 7 != 6;
      if (posted) MPI_Irecv(in.data(), bytes, MPI_BYTE, i % 2 ? self : MPI_ANY_SOURCE, t, comm, &receive);
      switch (i % 7) {
        case 0:
          MPI_Send(out.data(), bytes, MPI_BYTE, self, t, comm);
          break;
        case 1:
          MPI_Ssend(out.data(), bytes, MPI_BYTE, self, t, comm);
          break;
        case 2:
          MPI_Rsend(out.data(), bytes, MPI_BYTE, self, t, comm);
          break;
        case 3:
          MPI_Issend(out.data(), bytes, MPI_BYTE, self, t, comm, &send);
          break;
        case 4:
          MPI_Irsend(out.data(), bytes, MPI_BYTE, self, t, comm, &send);
          break;
        case 5:
          MPI_Isend(out.data(), bytes, MPI_BYTE, self, t, comm, &send);
          break;
        default:
          MPI_Issend(out.data(), bytes, MPI_BYTE, self, t, comm, &send);
          MPI_Recv(in.data(), bytes, MPI_BYTE, self, t, comm, &status);
      }
      if (posted) MPI_Wait(&receive, &status);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      equal(status.MPI_SOURCE, self, "source");
      equal(count_of(status, MPI_BYTE), bytes, "size");
      expect_message(in, mix(t, i), "a message to oneself");

      std::vector<unsigned char> replaced = out;
      MPI_Sendrecv_replace(replaced.data(), bytes, MPI_BYTE, self, t, self, t, comm, &status);
      check(replaced == out, "sendrecv_replace with oneself");
    }
  });
}

// Blocking messages from thread t to thread t + 1 of the same rank; the last one begins by receiving.
void thread_to_thread(MPI_Comm comm) {
  const int self = self_in(comm);
  in_threads(threads, [&](int t) {
    const int from = (t + threads - 1) % threads, to = (t + 1) % threads;
    Random random(rank(), t, 1);
    for (int i = 0; i < 40; ++i) {
      const int bytes = any_size(random);
      const std::vector<unsigned char> out = message(mix(t, i), bytes);
      const auto send = [&] {
        if (i % 2 == 0)
          MPI_Ssend(out.data(), bytes, MPI_BYTE, self, 100 + to, comm);
        else
          MPI_Send(out.data(), bytes, MPI_BYTE, self, 100 + to, comm);
      };
      const auto receive = [&] {
        MPI_Status status;
        MPI_Probe(MPI_ANY_SOURCE, 100 + t, comm, &status);
        std::vector<unsigned char> in(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
        MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, self, 100 + t, comm, MPI_STATUS_IGNORE);
        expect_message(in, mix(from, i), "from the thread before");
      };
      if (t == threads - 1) {
        receive();
        send();
      } else {
        send();
        receive();
      }
    }
  });
}

// Collectives of one, each thread on a communicator of its own.
void alone() {
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  in_threads(threads, [&](int t) {
    const MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    for (int i = 0; i < 50; ++i) {
      int out = i * threads + t, sum = -1;
      MPI_Request request;
      MPI_Iallreduce(&out, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
      MPI_Barrier(comm);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      equal(sum, out, "allreduce of one");
    }
  });
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) {
    within_a_thread(comm);
    thread_to_thread(comm);
  }
  alone();
}
