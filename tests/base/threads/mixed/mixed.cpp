// Threads of several runtimes in one program: they wait in the library at the same time, and complete each other.
#include <thread>

#include "base/threads/mixed/crew.hpp"
#include "base/threads/team.hpp"

namespace {

using namespace test;

// Threads of each runtime: even. First asked for before there are threads, since runtimes change the environment.
int each() {
  static const int threads = [] {
    const int pairs = 2 * static_cast<int>(crews().size());  // one of each runtime
    return (team_size(2 * pairs) + pairs - 1) / pairs * 2;
  }();
  return threads;
}
// All threads of a rank, counted so that neighbours are of different runtimes.
int team() { return each() * static_cast<int>(crews().size()); }

// One token goes round all threads of all ranks; meanwhile all others are blocked.
void token(int t) {
  constexpr int laps = 10, tag = 100;
  const int n = team() * size(), me = t * size() + rank();
  const auto rank_at = [](int place) { return place % size(); };
  const auto tag_at = [](int place) { return tag + place / size(); };
  const int next = (me + 1) % n, before = (me + n - 1) % n;
  for (int lap = 0; lap < laps; ++lap) {
    int value = lap * n;
    if (me > 0) MPI_Recv(&value, 1, MPI_INT, rank_at(before), tag + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(value, lap * n + me, "the token counts the threads");
    ++value;
    MPI_Send(&value, 1, MPI_INT, rank_at(next), tag_at(next), MPI_COMM_WORLD);
    if (me == 0) MPI_Recv(&value, 1, MPI_INT, rank_at(before), tag + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Two threads that send to each other, neither of which goes on before the other has received: `partner` is of the same
// runtime and on the same kernel thread if that is one of user-level threads; or of another runtime.
void converse(int t, int partner, int tag) {
  const bool first = t < partner;
  for (const int bytes : sizes) {
    std::vector<unsigned char> in(static_cast<std::size_t>(bytes));
    const auto send = [&] {
      const std::vector<unsigned char> out = message(mix(t, bytes), bytes);
      MPI_Ssend(out.data(), bytes, MPI_BYTE, rank(), tag + partner, MPI_COMM_WORLD);
    };
    if (first) send();
    MPI_Recv(in.data(), bytes, MPI_BYTE, rank(), tag + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_message(in, mix(partner, bytes), "from the partner");
    if (!first) send();
  }
}

// Requests that one thread posts and another waits for.
class Handover {
 public:
  void take_part(int t) {
    constexpr int rounds = 20, data = 2000, note = 3000;
    const int n = team(), next = (t + 1) % n, before = (t + n - 1) % n;
    for (int round = 0; round < rounds; ++round) {
      MPI_Request sent[2];
      const int out = 1000 * round + t;
      MPI_Irecv(&values_[at(t)], 1, MPI_INT, left(), data + t, MPI_COMM_WORLD, &requests_[at(t)]);
      MPI_Isend(nullptr, 0, MPI_INT, rank(), note + next, MPI_COMM_WORLD, &sent[0]);
      MPI_Recv(nullptr, 0, MPI_INT, rank(), note + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Isend(&out, 1, MPI_INT, right(), data + t, MPI_COMM_WORLD, &sent[1]);
      MPI_Wait(&requests_[at(before)], MPI_STATUS_IGNORE);
      equal(values_[at(before)], 1000 * round + before, "what another thread posted");
      // The one whose request it was posts anew only when it is told that it may.
      MPI_Request told;
      MPI_Isend(nullptr, 0, MPI_INT, rank(), note + n + before, MPI_COMM_WORLD, &told);
      MPI_Recv(nullptr, 0, MPI_INT, rank(), note + n + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Wait(&told, MPI_STATUS_IGNORE);
      MPI_Waitall(2, sent, MPI_STATUSES_IGNORE);
    }
  }

 private:
  static std::size_t at(int t) { return static_cast<std::size_t>(t); }

  std::vector<MPI_Request> requests_ = std::vector<MPI_Request>(at(team()), MPI_REQUEST_NULL);
  std::vector<int> values_ = std::vector<int>(at(team()));
};

// Collective calls, made by threads of different runtimes in different ranks.
class Together {
 public:
  Together() : comms_(static_cast<std::size_t>(team())) {
    for (MPI_Comm& comm : comms_) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  ~Together() {
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
  }
  Together(const Together&) = delete;
  Together& operator=(const Together&) = delete;

  void take_part(int t) {
    const int which = (t + rank()) % team();
    const MPI_Comm comm = comms_[static_cast<std::size_t>(which)];
    for (int round = 0; round < 10; ++round) {
      const int mine = which + rank() * round;
      int sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
      equal(sum, which * size() + round * size() * (size() - 1) / 2, "sum");
    }
  }

 private:
  std::vector<MPI_Comm> comms_;
};

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  Handover handover;
  Together together;
  const int kinds = static_cast<int>(crews().size());
  check(kinds >= 1, "there are threads");
  std::vector<std::jthread> carriers;
  for (int kind = 0; kind < kinds; ++kind) {
    carriers.emplace_back([&, kind] {
      crews()[static_cast<std::size_t>(kind)].run(each(), [&, kind](int i) {
        const int t = i * kinds + kind;
        if (team() * size() > 1) token(t);
        converse(t, (i ^ 1) * kinds + kind, 1000);
        if (const int other = kind ^ 1; other < kinds) converse(t, i * kinds + other, 1500);
        handover.take_part(t);
        together.take_part(t);
      });
    });
  }
}
