// One ring through all threads of all ranks: each sends to the next and receives from the one before, in one call or
// by passing a token.
#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(5);

// A member of the ring: thread t of a rank, counted rank by rank, or thread by thread so that each step changes ranks.
struct Ring {
  bool across;

  int members() const { return threads * size(); }
  int place(int r, int t) const { return across ? t * size() + r : r * threads + t; }
  int rank_at(int p) const { return across ? p % size() : p / threads; }
  int thread_at(int p) const { return across ? p / size() : p % threads; }
};

void sendrecv(Ring ring, MPI_Comm comm) {
  in_threads(threads, [&](int t) {
    const int n = ring.members(), me = ring.place(rank(), t), next = (me + 1) % n, before = (me + n - 1) % n;
    Random random(7, ring.across);  // the same sizes for all
    for (int i = 0; i < 25; ++i) {
      const int bytes = any_size(random);
      const std::vector<unsigned char> out = message(mix(me, i), bytes);
      std::vector<unsigned char> in(out.size());
      MPI_Status status;
      const int to = ring.rank_at(next), from = i % 3 == 0 ? MPI_ANY_SOURCE : ring.rank_at(before);
      const int to_tag = ring.thread_at(next), tag = t;
      if (i % 2 == 0) {
        MPI_Sendrecv(out.data(), bytes, MPI_BYTE, to, to_tag, in.data(), bytes, MPI_BYTE, from, tag, comm, &status);
      } else if (i % 4 == 1) {
        in = out;
        MPI_Sendrecv_replace(in.data(), bytes, MPI_BYTE, to, to_tag, from, tag, comm, &status);
      } else {
        MPI_Request request;
        MPI_Isendrecv(out.data(), bytes, MPI_BYTE, to, to_tag, in.data(), bytes, MPI_BYTE, from, tag, comm, &request);
        MPI_Wait(&request, &status);
      }
      equal(status.MPI_SOURCE, ring.rank_at(before), "source");
      equal(count_of(status, MPI_BYTE), bytes, "size");
      expect_message(in, mix(before, i), "from the member before");
    }
  });
  MPI_Barrier(comm);
}

// One token goes round; all others are blocked. Each adds one to it.
void token(Ring ring, MPI_Comm comm) {
  constexpr int laps = 10;
  in_threads(threads, [&](int t) {
    const int n = ring.members(), me = ring.place(rank(), t), next = (me + 1) % n, before = (me + n - 1) % n;
    for (int lap = 0; lap < laps; ++lap) {
      int value = lap * n;
      if (me > 0) MPI_Recv(&value, 1, MPI_INT, ring.rank_at(before), 50 + t, comm, MPI_STATUS_IGNORE);
      equal(value, lap * n + me, "the token counts the members");
      ++value;
      MPI_Send(&value, 1, MPI_INT, ring.rank_at(next), 50 + ring.thread_at(next), comm);
      if (me == 0) MPI_Recv(&value, 1, MPI_INT, ring.rank_at(before), 50 + t, comm, MPI_STATUS_IGNORE);
    }
  });
  MPI_Barrier(comm);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  for (bool across : {false, true}) {
    sendrecv({across}, MPI_COMM_WORLD);
    if (threads * size() > 1) token({across}, MPI_COMM_WORLD);
  }
}
