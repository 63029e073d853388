// Memory runs out in the middle of a call: each allocation that a thread makes in its calls fails in turn. A call either succeeds or
// ends with MPI_ERR_NO_MEM; made once more, it succeeds: no message is lost, none comes twice, nothing waits for ever.
//
// A victim plays a scenario with another rank, which has all the memory that it wants, again and again: the n-th allocation of the
// n-th round fails, until a round has fewer. A library may keep its allocations, so each round needs more than the last.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <vector>

#include "messaging/p2p/failing_malloc.hpp"
#include "messaging/p2p/rounds.hpp"
#include "mpi/check.hpp"

using namespace test;

namespace {

MPI_Datatype column;
MPI_Request last;

constexpr int tag = 1, other_tag = 2;

// ---- messages

struct Message {
  int bytes;
  bool strided = false;
};

struct Buffers {
  explicit Buffers(int n) : out(static_cast<std::size_t>(n)), in(static_cast<std::size_t>(n)) {}
  std::vector<std::vector<char>> out, in;
};

int count_of(const Message& m) { return m.strided ? m.bytes / 8 : m.bytes; }
MPI_Datatype type_of(const Message& m) { return m.strided ? column : MPI_CHAR; }
std::size_t reach(const Message& m) { return static_cast<std::size_t>(m.strided ? 2 * m.bytes : m.bytes); }

char letter(int i) { return static_cast<char>('a' + i % 26); }

void expect(const Message& m, const std::vector<char>& in, int i) {
  const std::size_t last = m.strided ? reach(m) - 9 : reach(m) - 1;
  check(in[0] == letter(i) && in[last] == letter(i), "what arrived");
  if (m.strided) check(in[8] == '-', "what lies between the elements");
}

enum class Send { send, isend, ssend, issend, bsend, persistent };
enum class Recv { posted, unexpected, persistent, probed, any };

void send_one(Round& round, Send how, const Message& m, const char* data, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto blocking = [&](auto function) {
    insist(
        round, [&] { return function(data, count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD); }, "a send");
  };
  switch (how) {
    case Send::send:
      return blocking(MPI_Send);
    case Send::ssend:
      return blocking(MPI_Ssend);
    case Send::bsend:
      return blocking(MPI_Bsend);
    case Send::isend:
      return complete(
          round, [&] { return MPI_Isend(data, count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, &request); }, request,
          "a nonblocking send");
    case Send::issend:
      return complete(
          round, [&] { return MPI_Issend(data, count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, &request); },
          request, "a synchronous send");
    case Send::persistent:
      insist(
          round, [&] { return MPI_Send_init(data, count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, &request); },
          "making a persistent send");
      complete(
          round, [&] { return MPI_Start(&request); }, request, "a persistent send", true);
      insist(
          round, [&] { return MPI_Request_free(&request); }, "freeing a persistent send");
  }
}

void recv_one(Round& round, Recv how, const Message& m, char* data, int peer) {
  MPI_Request request = MPI_REQUEST_NULL;
  switch (how) {
    case Recv::posted:
    case Recv::unexpected:
      return insist(
          round, [&] { return MPI_Recv(data, count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE); },
          "a receive");
    case Recv::any:
      return insist(
          round,
          [&] {
            return MPI_Recv(data, count_of(m), type_of(m), MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                            MPI_STATUS_IGNORE);
          },
          "a receive from anywhere");
    case Recv::persistent:
      insist(
          round, [&] { return MPI_Recv_init(data, count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, &request); },
          "making a persistent receive");
      complete(
          round, [&] { return MPI_Start(&request); }, request, "a persistent receive", true);
      return insist(
          round, [&] { return MPI_Request_free(&request); }, "freeing a persistent receive");
    case Recv::probed: {
      MPI_Status status;
      MPI_Message message = MPI_MESSAGE_NULL;
      insist(
          round, [&] { return MPI_Probe(peer, tag, MPI_COMM_WORLD, &status); }, "a probe");
      insist(
          round, [&] { return MPI_Mprobe(peer, tag, MPI_COMM_WORLD, &message, &status); }, "a matched probe");
      insist(
          round, [&] { return MPI_Mrecv(data, count_of(m), type_of(m), &message, MPI_STATUS_IGNORE); },
          "a receive of a probed message");
    }
  }
}

// The sender's messages, of which the receiver may take each when it has come, or only when all have been begun.
void exchange(Round& round, int from, Send send, Recv recv, const Message& m, int n) {
  const int peer = 1 - rank();
  for (int i = 0; i < n; ++i) {
    std::vector<char> data(reach(m), rank() == from ? letter(i) : '-');
    if (rank() == from) {
      send_one(round, send, m, data.data(), peer);
    } else {
      recv_one(round, recv, m, data.data(), peer);
      expect(m, data, i);
    }
  }
}

enum class Combined { sendrecv, isendrecv, replace, ireplace };

// Both ranks send and receive in one call.
void send_and_receive(Round& round, Combined how, const Message& m, int n) {
  const int peer = 1 - rank();
  const MPI_Datatype type = type_of(m);
  const int count = count_of(m);
  for (int i = 0; i < n; ++i) {
    std::vector<char> out(reach(m), letter(i)), in(reach(m), '-');
    MPI_Request request = MPI_REQUEST_NULL;
    switch (how) {
      case Combined::sendrecv:
        insist(
            round,
            [&] {
              return MPI_Sendrecv(out.data(), count, type, peer, tag, in.data(), count, type, peer, tag, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE);
            },
            "a send and a receive");
        break;
      case Combined::isendrecv:
        complete(
            round,
            [&] {
              return MPI_Isendrecv(out.data(), count, type, peer, tag, in.data(), count, type, peer, tag,
                                   MPI_COMM_WORLD, &request);
            },
            request, "a nonblocking send and receive");
        break;
      case Combined::replace:
        std::fill(in.begin(), in.end(), letter(i));
        insist(
            round,
            [&] {
              return MPI_Sendrecv_replace(in.data(), m.bytes, MPI_CHAR, peer, tag, peer, tag, MPI_COMM_WORLD,
                                          MPI_STATUS_IGNORE);
            },
            "an exchange in place");
        check(in[0] == letter(i) && in[static_cast<std::size_t>(m.bytes) - 1] == letter(i), "what arrived");
        continue;
      case Combined::ireplace:
        std::fill(in.begin(), in.end(), letter(i));
        complete(
            round,
            [&] {
              return MPI_Isendrecv_replace(in.data(), m.bytes, MPI_CHAR, peer, tag, peer, tag, MPI_COMM_WORLD,
                                           &request);
            },
            request, "a nonblocking exchange in place");
        check(in[0] == letter(i) && in[static_cast<std::size_t>(m.bytes) - 1] == letter(i), "what arrived");
        continue;
    }
    expect(m, in, i);
  }
}

// Many at once: more than a channel holds, and the receiver comes to them late.
void burst(Round& round, int from, const Message& m, int n, bool synchronous) {
  const int peer = 1 - rank();
  Buffers buffers(n);
  std::vector<MPI_Request> requests(static_cast<std::size_t>(n), MPI_REQUEST_NULL);
  if (rank() == from) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
      buffers.out[i].assign(reach(m), letter(static_cast<int>(i)));
      const auto start = [&] {
        return (synchronous ? MPI_Issend : MPI_Isend)(buffers.out[i].data(), count_of(m), type_of(m), peer, tag,
                                                      MPI_COMM_WORLD, &requests[i]);
      };
      insist(round, start, "a send of many");
    }
  }
  MPI_Barrier(quiet);
  if (rank() != from) {
    int flag = 0;
    for (int i = 0; i < 20; ++i)
      insist(
          round, [&] { return MPI_Iprobe(peer, other_tag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); },
          "a probe for what does not come");
    check(!flag, "nothing of this tag was sent");
    for (std::size_t i = 0; i < requests.size(); ++i) {
      buffers.in[i].assign(reach(m), '-');
      const auto start = [&] {
        return MPI_Irecv(buffers.in[i].data(), count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, &requests[i]);
      };
      insist(round, start, "a receive of many");
    }
  }
  // A send that could not be begun is begun again: the messages are alike, so it is one of them that comes last.
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (tried(
            round, [&] { return MPI_Wait(&requests[i], MPI_STATUS_IGNORE); }, "a wait"))
      continue;
    if (requests[i] != MPI_REQUEST_NULL) {
      insist(
          round, [&] { return MPI_Wait(&requests[i], MPI_STATUS_IGNORE); }, "a wait");
    } else if (rank() == from) {
      equal(MPI_Send(buffers.out[i].data(), count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD), MPI_SUCCESS, "again");
    } else {
      equal(MPI_Recv(buffers.in[i].data(), count_of(m), type_of(m), peer, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            MPI_SUCCESS, "again");
    }
  }
  if (rank() == from) return;
  std::vector<int> came(26), sent(26);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    ++came[static_cast<std::size_t>(buffers.in[i][0] - 'a')];
    ++sent[static_cast<std::size_t>(letter(static_cast<int>(i)) - 'a')];
    const std::size_t last = m.strided ? reach(m) - 9 : reach(m) - 1;
    check(buffers.in[i][0] == buffers.in[i][last], "a whole message");
  }
  check(came == sent, "each message once");
}

// ---- what a process does for itself

void use_communicator(Round& round) {
  MPI_Comm comm = MPI_COMM_NULL;
  insist(
      round, [&] { return MPI_Comm_dup(MPI_COMM_SELF, &comm); }, "a duplicate");
  int one = rank() + 1, sum = 0;
  equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm), MPI_SUCCESS, "a sum over the duplicate");
  equal(sum, one, "a sum of one");
  insist(
      round, [&] { return MPI_Comm_free(&comm); }, "freeing a duplicate");
}

void use_window(Round& round, bool allocate) {
  MPI_Win win = MPI_WIN_NULL;
  std::vector<int> own(16);
  int* base = own.data();
  const auto make = [&] {
    return allocate ? MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_SELF, static_cast<void*>(&base), &win)
                    : MPI_Win_create(base, 64, 4, MPI_INFO_NULL, MPI_COMM_SELF, &win);
  };
  insist(round, make, "a window");
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  const int value = 7;
  insist(
      round, [&] { return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); }, "a lock");
  insist(
      round, [&] { return MPI_Put(&value, 1, MPI_INT, 0, 3, 1, MPI_INT, win); }, "a put");
  insist(
      round, [&] { return MPI_Win_unlock(0, win); }, "an unlock");
  equal(base[3], value, "what was put");
  insist(
      round, [&] { return MPI_Win_free(&win); }, "freeing a window");
}

void reduce(Round& round) {
  std::vector<int> all(1000, 1), sum(all.size());
  MPI_Request request = MPI_REQUEST_NULL;
  const auto start = [&] {
    return MPI_Iallreduce(all.data(), sum.data(), static_cast<int>(all.size()), MPI_INT, MPI_SUM, MPI_COMM_SELF,
                          &request);
  };
  complete(round, start, request, "a nonblocking reduction");
  check(sum == all, "a sum of one");
}

// ---- what both do, and run out in at the same time

void use_collectives(Round& round) {
  together(
      round, [] { return MPI_Barrier(MPI_COMM_WORLD); }, "a barrier");
  for (const int n : {1, 1 << 18}) {
    std::vector<int> ones(static_cast<std::size_t>(n), 1), sum(ones.size());
    together(
        round, [&] { return MPI_Allreduce(ones.data(), sum.data(), n, MPI_INT, MPI_SUM, MPI_COMM_WORLD); },
        "a reduction");
    equal(sum.front() + sum.back(), 4, "a sum of two");
  }
}

// Memory that does not come back: a receive of what stands behind a message that there is no memory for. Ends the job.
void wait_for_good() {
  std::vector<char> large(16 * 1024);
  const int n = static_cast<int>(large.size());
  const int go = 3;
  if (rank() == 0) {
    // Not before the other has no memory any more.
    for (int i = 0; i < 2; ++i) MPI_Recv(nullptr, 0, MPI_CHAR, 1, go, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) MPI_Send(large.data(), n, MPI_CHAR, 1, i, MPI_COMM_WORLD);
    MPI_Recv(large.data(), n, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(large.data(), n, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &last);
    MPI_Send(nullptr, 0, MPI_CHAR, 0, go, MPI_COMM_WORLD);  // a first message may need memory
    *test_shortage() = {.for_good = true, .on = true, .at = 1};
    MPI_Send(nullptr, 0, MPI_CHAR, 0, go, MPI_COMM_WORLD);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    test_shortage()->on = false;
  }
  check(false, "the receive has ended");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  equal(size(), 2, "ranks");
  MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
  for (MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const bool between_nodes = argc > 1 && std::string_view(argv[1]) == "nodes";
  if (argc > 1 && !between_nodes) wait_for_good();
  MPI_Type_vector(1, 8, 16, MPI_CHAR, &column);
  MPI_Type_create_resized(column, 0, 16, &column);
  MPI_Type_commit(&column);
  std::vector<char> room(1 << 24);
  MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));

  // Between nodes a long message is thousands of packets, and nothing is sent by other means from 2 KiB on.
  const std::vector<Message> messages =
      between_nodes ? std::vector<Message>{{8}, {3000, true}}
                    : std::vector<Message>{{8}, {16 * 1024}, {20 * 1024}, {1 << 20}, {20 * 1024, true}};
  const auto in_burst = [&](const Round& round) { return between_nodes ? 20 + round.more / 8 : 300 + 4 * round.more; };
  long failures = 0;
  for (const int victim : {0, 1})
    for (const Message& m : messages) {
      const auto both = [&](const char* name, auto scenario) { failures += play(name, victim, scenario); };
      both("a burst",
           [&](Round& round) { burst(round, 0, m, m.bytes > 16 * 1024 ? 2 + round.more : in_burst(round), false); });
      both("a synchronous burst",
           [&](Round& round) { burst(round, 0, m, between_nodes ? in_burst(round) : 2 + round.more, true); });
      for (const Send how : {Send::send, Send::isend, Send::ssend, Send::issend, Send::bsend, Send::persistent})
        both("sends", [&](Round& round) { exchange(round, 0, how, Recv::posted, m, 3); });
      for (const Recv how : {Recv::posted, Recv::any, Recv::persistent, Recv::probed})
        both("receives", [&](Round& round) { exchange(round, 0, Send::isend, how, m, 3); });
      for (const Combined how : {Combined::sendrecv, Combined::isendrecv, Combined::replace, Combined::ireplace})
        both("sends and receives in one", [&](Round& round) { send_and_receive(round, how, m, 3); });
      both("sends of a new thread",
           by_new_thread([&](Round& round) { exchange(round, 0, Send::isend, Recv::posted, m, 3); }));
      both("synchronous sends of a new thread, and receives of what is probed",
           by_new_thread([&](Round& round) { exchange(round, 0, Send::ssend, Recv::probed, m, 3); }));
      both("sends and receives in one of a new thread",
           by_new_thread([&](Round& round) { send_and_receive(round, Combined::isendrecv, m, 3); }));
      both("sends of a new thread beside another",
           by_new_thread_beside_another([&](Round& round) { exchange(round, 0, Send::isend, Recv::posted, m, 3); }));
    }
  for (const int victim : {0, 1}) {
    failures += play("a communicator", victim, use_communicator);
    failures += play("a window of the library's memory", victim, [](Round& round) { use_window(round, true); });
    failures += play("a window of the program's memory", victim, [](Round& round) { use_window(round, false); });
    failures += play("a nonblocking reduction", victim, reduce);
  }
  if (!between_nodes) failures += play("collectives", -1, use_collectives);
  check(failures > 20, "the library's allocations come to the test's allocator");
  MPI_Type_free(&column);
  MPI_Comm_free(&quiet);
  void* detached;
  int bytes;
  MPI_Buffer_detach(static_cast<void*>(&detached), &bytes);
}
