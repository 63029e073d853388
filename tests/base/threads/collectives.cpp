// Collectives from many threads: each thread on a communicator of its own, blocking and nonblocking, with messages on
// the same communicators beside; and nonblocking ones that threads start in turn on one communicator and complete later.
#include <condition_variable>
#include <mutex>

#include "base/threads/team.hpp"

namespace {

using namespace test;

const int threads = team_size(5);

// The operand of each call is computed from the round, the thread and the ranks.
struct Round {
  int number, thread, n, root;

  int of(int r, int i) const { return r * 7 + i % 13 + number * 3 + thread; }
  int sum(int i) const {
    int s = 0;
    for (int r = 0; r < size(); ++r) s += of(r, i);
    return s;
  }
};

enum Kind { barrier, bcast, allreduce, reduce, allgather, alltoall, scan, kinds };

// One collective with its buffers, started or done at once.
class Collective {
 public:
  Collective(Kind kind, const Round& round)
      : kind_(kind),
        round_(round),
        in_(static_cast<std::size_t>(round.n * (kind == alltoall ? size() : 1))),
        out_(static_cast<std::size_t>(round.n * (kind == alltoall || kind == allgather ? size() : 1)), -1) {
    for (std::size_t i = 0; i < in_.size(); ++i) in_[i] = round.of(rank(), static_cast<int>(i));
    if (kind == bcast && rank() != round.root) std::fill(in_.begin(), in_.end(), -1);
  }

  void block(MPI_Comm comm) {
    const int n = round_.n, root = round_.root;
    switch (kind_) {
      case barrier:
        MPI_Barrier(comm);
        break;
      case bcast:
        MPI_Bcast(in_.data(), n, MPI_INT, root, comm);
        break;
      case allreduce:
        MPI_Allreduce(in_.data(), out_.data(), n, MPI_INT, MPI_SUM, comm);
        break;
      case reduce:
        MPI_Reduce(in_.data(), out_.data(), n, MPI_INT, MPI_SUM, root, comm);
        break;
      case allgather:
        MPI_Allgather(in_.data(), n, MPI_INT, out_.data(), n, MPI_INT, comm);
        break;
      case alltoall:
        MPI_Alltoall(in_.data(), n, MPI_INT, out_.data(), n, MPI_INT, comm);
        break;
      case scan:
        MPI_Scan(in_.data(), out_.data(), n, MPI_INT, MPI_MAX, comm);
        break;
      case kinds:
        break;
    }
  }

  void start(MPI_Comm comm, MPI_Request* request) {
    const int n = round_.n, root = round_.root;
    switch (kind_) {
      case barrier:
        MPI_Ibarrier(comm, request);
        break;
      case bcast:
        MPI_Ibcast(in_.data(), n, MPI_INT, root, comm, request);
        break;
      case allreduce:
        MPI_Iallreduce(in_.data(), out_.data(), n, MPI_INT, MPI_SUM, comm, request);
        break;
      case reduce:
        MPI_Ireduce(in_.data(), out_.data(), n, MPI_INT, MPI_SUM, root, comm, request);
        break;
      case allgather:
        MPI_Iallgather(in_.data(), n, MPI_INT, out_.data(), n, MPI_INT, comm, request);
        break;
      case alltoall:
        MPI_Ialltoall(in_.data(), n, MPI_INT, out_.data(), n, MPI_INT, comm, request);
        break;
      case scan:
        MPI_Iscan(in_.data(), out_.data(), n, MPI_INT, MPI_MAX, comm, request);
        break;
      case kinds:
        break;
    }
  }

  void verify() const {
    const int n = round_.n;
    for (int i = 0; i < static_cast<int>(out_.size()); ++i) {
      const int got = out_[static_cast<std::size_t>(i)];
      if (kind_ == allreduce || (kind_ == reduce && rank() == round_.root)) equal(got, round_.sum(i), "sum");
      if (kind_ == allgather) equal(got, round_.of(i / n, i % n), "gathered");
      if (kind_ == alltoall) equal(got, round_.of(i / n, rank() * n + i % n), "exchanged");
      if (kind_ == scan) equal(got, round_.of(rank(), i), "maximum up to this rank");
    }
    if (kind_ == bcast)
      for (int i = 0; i < n; ++i) equal(in_[static_cast<std::size_t>(i)], round_.of(round_.root, i), "broadcast");
  }

 private:
  Kind kind_;
  Round round_;
  std::vector<int> in_, out_;
};

Collective any_collective(int number, int thread) {
  Random random(number, thread);  // the same in all ranks
  const auto kind = static_cast<Kind>(random.below(kinds));
  const int n = random.one_in(6) ? 1 + random.below(20000) : 1 + random.below(60);
  return {kind, {number, thread, n, random.below(size())}};
}

// Each thread on its communicator: some wait at once, some keep a window of collectives under way.
void own_communicators(const std::vector<MPI_Comm>& comms) {
  constexpr int rounds = 12;
  constexpr int window = 4;
  in_threads(threads, [&](int t) {
    MPI_Comm comm = comms[static_cast<std::size_t>(t)];
    for (int round = 0; round < rounds; ++round) {
      std::vector<Collective> collectives;
      std::vector<MPI_Request> requests;
      for (int i = 0; i < window; ++i) collectives.push_back(any_collective(round * window + i, t));
      for (Collective& collective : collectives) {
        if ((t + round) % 2 == 0)
          collective.block(comm);
        else
          collective.start(comm, &requests.emplace_back());
      }
      int out = round, in = -1;
      MPI_Sendrecv(&out, 1, MPI_INT, right(), round, &in, 1, MPI_INT, left(), MPI_ANY_TAG, comm, MPI_STATUS_IGNORE);
      equal(in, round, "a message on a communicator with collectives under way");
      if (t % 2 == 0) {
        MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      } else {
        for (int flag = 0; !flag;)
          MPI_Testall(static_cast<int>(requests.size()), requests.data(), &flag, MPI_STATUSES_IGNORE);
      }
      for (const Collective& collective : collectives) collective.verify();
    }
  });
}

// On one communicator collectives must be started in one order, which is the program's business: here the threads take
// turns. Completing them is each thread's own, while the others go on.
void in_turn(MPI_Comm comm) {
  constexpr int rounds = 20;
  Mutex mutex;
  Condition next;
  int turn = 0;
  in_threads(threads, [&](int t) {
    for (int round = 0; round < rounds; ++round) {
      Collective collective = any_collective(round, t);
      MPI_Request request;
      {
        std::unique_lock guard(mutex);
        next.wait(guard, [&] { return turn == round * threads + t; });
        collective.start(comm, &request);
        ++turn;
        next.notify_all();
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      collective.verify();
    }
  });
}

// A blocking collective in one thread, while the rank that it needs is busy with messages of other threads.
void beside_messages(MPI_Comm comm, MPI_Comm other) {
  in_threads(threads, [&](int t) {
    if (t == 0) {
      for (int i = 0; i < 40; ++i) {
        Collective collective = any_collective(i, t);
        collective.block(comm);
        collective.verify();
      }
      return;
    }
    for (int i = 0; i < 30; ++i) {
      const int bytes = i % 5 == 4 ? 150000 : 100;
      const std::vector<unsigned char> out = message(mix(rank(), t, i), bytes);
      std::vector<unsigned char> in(out.size());
      MPI_Sendrecv(out.data(), bytes, MPI_BYTE, right(), t, in.data(), bytes, MPI_BYTE, left(), t,
                   t % 2 == 0 ? comm : other, MPI_STATUS_IGNORE);
      expect_message(in, mix(left(), t, i), "a message beside collectives");
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(threads));
  for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  own_communicators(comms);
  in_turn(comms[0]);
  beside_messages(comms[1], comms[2]);
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}
