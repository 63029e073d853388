// Any thread makes progress for all: a call that waits, or only tests, on one communicator moves what is under way on every other
// one, so no thread and no message is starved by what the rest of its rank is doing.
//
// Ranks work in pairs (0 and 1, 2 and 3, ...); with an odd number the last one is its own partner where it can be.
#include <atomic>

#include "base/threads/team.hpp"

namespace {

using namespace test;

constexpr int large = 300000;  // travels by rendezvous in any implementation worth the name
constexpr int rounds = 5;

int partner() { return (rank() ^ 1) < size() ? rank() ^ 1 : rank(); }
bool paired() { return partner() != rank(); }

void send_token(int to, int tag, MPI_Comm comm) { MPI_Send(nullptr, 0, MPI_BYTE, to, tag, comm); }
void receive_token(int from, int tag, MPI_Comm comm) {
  MPI_Recv(nullptr, 0, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
}

void receive_large(int from, int tag, std::uint64_t key, MPI_Comm comm) {
  std::vector<unsigned char> in(large);
  MPI_Recv(in.data(), large, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE);
  expect_message(in, key, "a long message");
}

// All threads but the last block on X until the very end; the last sends long messages on Y and only ever tests.
void all_but_one_block(MPI_Comm x, MPI_Comm y) {
  const int blocked = team_size(2) - 1;
  in_threads(blocked + 1, [&](int t) {
    if (t < blocked) {
      receive_token(partner(), 1 + t, x);
      return;
    }
    for (int i = 0; i < rounds; ++i) {
      std::vector<unsigned char> out = message(mix(rank(), i), large), in(large);
      MPI_Request requests[2];
      MPI_Irecv(in.data(), large, MPI_BYTE, partner(), 2, y, &requests[0]);
      MPI_Isend(out.data(), large, MPI_BYTE, partner(), 2, y, &requests[1]);
      for (MPI_Request& request : requests)
        for (int flag = 0; !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      expect_message(in, mix(partner(), i), "a long message while the other threads block");
    }
    for (int other = 0; other < blocked; ++other) send_token(partner(), 1 + other, x);
  });
}

// How the only thread of a rank may pass its time until a token arrives on X.
enum class Pastime { recv, probe, iprobe, improbe, test, get_status, testall, barrier, pastimes };

void pass_time(Pastime how, int from, MPI_Comm x) {
  MPI_Request request;
  MPI_Message found;
  int flag = 0;
  switch (how) {
    case Pastime::recv:
      break;
    case Pastime::probe:
      MPI_Probe(from, 3, x, MPI_STATUS_IGNORE);
      break;
    case Pastime::iprobe:
      while (!flag) MPI_Iprobe(from, 3, x, &flag, MPI_STATUS_IGNORE);
      break;
    case Pastime::improbe:
      while (!flag) MPI_Improbe(from, 3, x, &flag, &found, MPI_STATUS_IGNORE);
      MPI_Mrecv(nullptr, 0, MPI_BYTE, &found, MPI_STATUS_IGNORE);
      return;
    case Pastime::test:
    case Pastime::get_status:
    case Pastime::testall:
      MPI_Irecv(nullptr, 0, MPI_BYTE, from, 3, x, &request);
      while (!flag) {
        if (how == Pastime::test) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        if (how == Pastime::testall) MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE);
        if (how == Pastime::get_status) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
      }
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      return;
    case Pastime::barrier:
      MPI_Barrier(x);
      return;
    case Pastime::pastimes:
      return;
  }
  receive_token(from, 3, x);
}
void end_pastime(Pastime how, int to, MPI_Comm x) {
  if (how == Pastime::barrier)
    MPI_Barrier(x);
  else
    send_token(to, 3, x);
}

// The only thread of a rank starts long sends on all of Y and then minds X alone; its partner lets X go once it has them.
// Then the other way round: the long messages are being received by the rank that minds X.
void only_thread_elsewhere(MPI_Comm x, const std::vector<MPI_Comm>& ys, Pastime how) {
  if (!paired()) return;
  for (bool sends : {true, false}) {
    const bool minds_x = rank() < partner();
    std::vector<std::vector<unsigned char>> data;
    std::vector<MPI_Request> requests;
    if (minds_x) {
      for (std::size_t i = 0; i < ys.size(); ++i) {
        data.push_back(sends ? message(mix(rank(), i), large) : std::vector<unsigned char>(large));
        requests.emplace_back();
        if (sends)
          MPI_Isend(data[i].data(), large, MPI_BYTE, partner(), 4, ys[i], &requests[i]);
        else
          MPI_Irecv(data[i].data(), large, MPI_BYTE, partner(), 4, ys[i], &requests[i]);
      }
      pass_time(how, partner(), x);
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (std::size_t i = 0; i < ys.size() && !sends; ++i) expect_message(data[i], mix(partner(), i), "long message");
    } else {
      for (std::size_t i = 0; i < ys.size(); ++i) {
        if (sends) {
          receive_large(partner(), 4, mix(partner(), i), ys[i]);
        } else {
          const std::vector<unsigned char> out = message(mix(rank(), i), large);
          MPI_Ssend(out.data(), large, MPI_BYTE, partner(), 4, ys[i]);
        }
      }
      end_pastime(how, partner(), x);
    }
  }
}

// A nonblocking collective goes on while its rank's only thread waits for a message elsewhere. Rank 0 enters it last,
// and sends what the others wait for after it has come through.
void collective_elsewhere(MPI_Comm x, MPI_Comm y) {
  for (int i = 0; i < rounds; ++i) {
    std::vector<int> out(50000, rank() + i), sum(out.size(), -1);
    MPI_Request request;
    MPI_Iallreduce(out.data(), sum.data(), static_cast<int>(out.size()), MPI_INT, MPI_SUM, y, &request);
    if (rank() == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int r = 1; r < size(); ++r) send_token(r, 5, x);
    } else {
      receive_token(0, 5, x);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    equal(sum.back(), size() * (size() - 1) / 2 + size() * i, "allreduce");
  }
}

// Half of the threads only test, the other half waits; each has its own partner thread in the partner rank, and each
// answer depends on the question before.
void testers_and_waiters(MPI_Comm comm) {
  const int threads = team_size(8);
  constexpr int turns = 60;
  in_threads(threads, [&](int t) {
    for (int i = 0; i < turns; ++i) {
      int out = i * threads + t, in = -1;
      MPI_Request requests[2];
      MPI_Irecv(&in, 1, MPI_INT, partner(), t, comm, &requests[0]);
      MPI_Isend(&out, 1, MPI_INT, partner(), t, comm, &requests[1]);
      if ((t + rank()) % 2 == 0) {
        for (int flag = 0; !flag;) MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
      } else {
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      }
      equal(in, out, "the partner's turn");
    }
  });
}

// A third of the threads does nothing but MPI_Iprobe for a message that comes last, a sixth nothing but look at a
// request that is never complete, while the others work.
void idle_pollers(MPI_Comm comm) {
  constexpr int last_tag = 400, never_tag = 300;
  const int threads = team_size(6), probers = threads / 3, lookers = threads / 6, first_worker = probers + lookers;
  std::atomic<bool> over = false;
  std::vector<int> nothing(static_cast<std::size_t>(lookers));
  std::vector<MPI_Request> never(nothing.size());
  for (std::size_t i = 0; i < never.size(); ++i)
    MPI_Irecv(&nothing[i], 1, MPI_INT, partner(), never_tag, comm, &never[i]);
  in_threads(threads, [&](int t) {
    if (t < probers) {
      for (int flag = 0; !flag;) MPI_Iprobe(partner(), last_tag + t, comm, &flag, MPI_STATUS_IGNORE);
      receive_token(partner(), last_tag + t, comm);
    } else if (t < first_worker) {
      const MPI_Request mine = never[static_cast<std::size_t>(t - probers)];
      for (int flag = 0; !flag && !over;) MPI_Request_get_status(mine, &flag, MPI_STATUS_IGNORE);
    } else {
      for (int i = 0; i < rounds; ++i) {
        std::vector<unsigned char> out = message(mix(rank(), t, i), 100000), in(100000);
        MPI_Sendrecv(out.data(), 100000, MPI_BYTE, partner(), t, in.data(), 100000, MPI_BYTE, partner(), t, comm,
                     MPI_STATUS_IGNORE);
        expect_message(in, mix(partner(), t, i), "beside pollers");
      }
      // Workers are half of the threads, and so more than probers.
      const int released = t - first_worker - 1;
      if (released >= 0 && released < probers) send_token(partner(), last_tag + released, comm);
      if (t == first_worker) over = true;
    }
  });
  for (MPI_Request& request : never) {
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  MPI_Comm x, pair;
  std::vector<MPI_Comm> ys(8);
  MPI_Comm_dup(MPI_COMM_WORLD, &x);
  MPI_Comm_split(MPI_COMM_WORLD, rank() / 2, 0, &pair);
  for (MPI_Comm& y : ys) MPI_Comm_dup(MPI_COMM_WORLD, &y);

  all_but_one_block(x, ys[0]);
  for (int how = 0; how < static_cast<int>(Pastime::pastimes); ++how) {
    const auto pastime = static_cast<Pastime>(how);
    const bool collective = pastime == Pastime::barrier;
    only_thread_elsewhere(collective ? pair : x, {ys[0]}, pastime);
    only_thread_elsewhere(collective ? pair : x, ys, pastime);
  }
  collective_elsewhere(x, ys[1]);
  testers_and_waiters(x);
  idle_pollers(x);

  MPI_Barrier(MPI_COMM_WORLD);
  for (MPI_Comm& y : ys) MPI_Comm_free(&y);
  MPI_Comm_free(&pair);
  MPI_Comm_free(&x);
}
