// A sender that runs ahead of a receiver on another node: what its receiver has to keep stays within the bound, the rest goes by
// rendezvous, and everything holds that holds of messages: order, modes, probes, cancelling, freed requests, and whatever else the two
// ranks do meanwhile.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <random>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"
#include "mpi/tool/tool.hpp"

namespace {

using test::check;
using test::equal;

constexpr unsigned long long widest = 1024 * 1024;  // window of credit: docs/guides/networks.md
constexpr int per_message = 256;
constexpr int many = 10'000;
constexpr int some = 1000;
constexpr int few = 100;  // short messages, for which there is credit
enum Tag { data = 1, unused, special };

// Bytes of unexpected messages that a receiver keeps.
unsigned long long bound() {
  const char* const text = std::getenv("HEDDLE_UNEXPECTED_BYTES");
  return text == nullptr ? 64ULL << 20 : std::strtoull(text, nullptr, 10);
}

void poll_for(int tag) {
  int there;
  MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  equal(there, 0, "no rank has sent that");
}
// With progress, but no receive.
template <class F>
void poll_until(F&& holds) {
  while (!holds()) poll_for(unused);
}

// Longer where the bound is small, so that few reach it.
int size_of(int message) { return 4 + message * 37 % (bound() < 64ULL << 20 ? 1200 : 200); }

// Messages that a receiver keeps, at most.
int messages_kept() {
  unsigned long long bytes = 0;
  int messages = 0;
  for (; messages < many && bytes <= bound() + widest; ++messages)
    bytes += static_cast<unsigned long long>(per_message + size_of(messages));
  return messages;
}

void fill(std::vector<char>& bytes, int size, int message) {
  bytes.assign(static_cast<std::size_t>(size), static_cast<char>(message * 7));
  const auto* const number = reinterpret_cast<const char*>(&message);
  std::copy_n(number, std::min(bytes.size(), sizeof message), bytes.begin());
}
void expect(const std::vector<char>& bytes, int size, int message) {
  std::vector<char> right;
  fill(right, size, message);
  check(std::equal(right.begin(), right.end(), bytes.begin()), "the data of a message");
}

// Collectives, a new communicator and operations on a window, between ranks of which one has no credit for the other.
void do_other_things() {
  for (int i = 0; i < 20; ++i) {
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    equal(sum, test::size());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Comm other;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, other, &memory, &win);
  *memory = 0;
  MPI_Barrier(other);
  for (int i = 0; i < 20; ++i) {
    const int one = 1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(1, win);
  }
  MPI_Barrier(other);
  if (test::rank() == 1) equal(*memory, 20 * test::size(), "what all have added");
  MPI_Win_free(&win);
  MPI_Comm_free(&other);
}

// Rank 0 sends many messages that rank 1 does not receive, although it makes progress.
void run_ahead(test::Board& board, MPI_T_pvar_session session) {
  const test::Counter buffered(session, "vni_bytes_buffered");
  const test::Counter unexpected(session, "vni_messages_unexpected");
  const test::Counter uncredited(session, "vni_messages_uncredited");
  const int kept = messages_kept();
  const int sent = std::min(many, kept + some);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    std::vector<std::vector<char>> out(static_cast<std::size_t>(sent));
    std::vector<MPI_Request> requests(static_cast<std::size_t>(sent));
    for (int i = 0; i < sent; ++i) {
      auto& bytes = out[static_cast<std::size_t>(i)];
      fill(bytes, size_of(i), i);
      MPI_Isend(bytes.data(), size_of(i), MPI_CHAR, 1, data, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
    }
    poll_until([&] { return board[0].load() != 0; });
    if (bound() >= 64ULL << 20) {
      equal(static_cast<long long>(uncredited.read()), 0, "a receiver that keeps all had credit for all");
    } else {
      check(uncredited.read() >= static_cast<unsigned long long>(sent - kept),
            "there was credit for more than the bound");
    }
    do_other_things();
    MPI_Waitall(sent, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    poll_until([&] { return unexpected.read() >= static_cast<unsigned long long>(sent); });
    check(buffered.read() <= bound() + widest, "more is kept than the bound");
    check(buffered.read() >= 64 * 1024 / 8, "less is kept than there is credit for");
    board[0].store(1);
    do_other_things();
    std::vector<char> in(1300);
    for (int i = 0; i < sent; ++i) {
      MPI_Status status;
      MPI_Recv(in.data(), 1300, MPI_CHAR, 0, data, MPI_COMM_WORLD, &status);
      int got;
      MPI_Get_count(&status, MPI_CHAR, &got);
      equal(got, size_of(i), "messages are received in order");
      expect(in, got, i);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// A receiver that has caught up has returned the credit, whichever way it received: as many messages go eagerly as at first.
void credit_comes_back(MPI_T_pvar_session session) {
  const test::Counter uncredited(session, "vni_messages_uncredited");
  MPI_Barrier(MPI_COMM_WORLD);
  std::vector<char> bytes(1000);
  for (int i = 0; i < some; ++i) {
    if (test::rank() == 0) {
      MPI_Send(bytes.data(), 1000, MPI_CHAR, 1, data, MPI_COMM_WORLD);
      if (i % 20 == 19) MPI_Recv(nullptr, 0, MPI_CHAR, 1, special, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      if (i % 20 == 10) poll_for(unused);
      if (i % 3 == 0) {
        MPI_Message message;
        MPI_Mprobe(0, data, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(bytes.data(), 1000, MPI_CHAR, &message, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(bytes.data(), 1000, MPI_CHAR, i % 2 ? 0 : MPI_ANY_SOURCE, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
      if (i % 20 == 19) MPI_Send(nullptr, 0, MPI_CHAR, 0, special, MPI_COMM_WORLD);
    }
  }
  check(uncredited.read() <= some / 100, "credit has not come back");
  MPI_Barrier(MPI_COMM_WORLD);
}

// Programs that send a few short messages ahead may go on.
void few_are_sent_ahead(test::Board& board) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    for (int i = 0; i < few; ++i) MPI_Send(&i, 1, MPI_INT, 1, data, MPI_COMM_WORLD);
    board[1].store(1);
  } else {
    poll_until([&] { return board[1].load() != 0; });
    for (int i = 0; i < few; ++i) {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, 0, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      equal(got, i);
    }
  }
}

// Both ranks send messages of all lengths and modes to each other and receive them late, in the order in which they were sent.
void keep_order(unsigned seed) {
  constexpr std::array sizes{0, 4, 8, 100, 1400, 1500, 5000, 40'000};
  constexpr int messages = 3000;
  std::mt19937 random(seed);
  std::vector<int> size(messages);
  for (int& s : size) s = sizes[random() % sizes.size()];
  const int peer = 1 - test::rank();
  std::vector<char> room(std::size_t{4} << 20);
  MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
  std::vector<std::vector<char>> out(messages);
  std::vector<MPI_Request> sends;
  std::vector<char> in(40'000);
  int received = 0;
  const auto receive = [&](int until) {
    for (; received < until; ++received) {
      MPI_Status status;
      if (received % 4 == 0) {
        MPI_Message message;
        MPI_Mprobe(peer, data, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(in.data(), 40'000, MPI_CHAR, &message, MPI_STATUS_IGNORE);
      } else {
        MPI_Recv(in.data(), 40'000, MPI_CHAR, received % 4 == 1 ? MPI_ANY_SOURCE : peer,
                 received % 4 == 2 ? int{MPI_ANY_TAG} : int{data}, MPI_COMM_WORLD, &status);
      }
      int got;
      MPI_Get_count(&status, MPI_CHAR, &got);
      equal(got, size[static_cast<std::size_t>(received)], "the length of the next message");
      expect(in, got, received);
    }
  };
  for (int i = 0; i < messages; ++i) {
    const int bytes = size[static_cast<std::size_t>(i)];
    auto& from = out[static_cast<std::size_t>(i)];
    fill(from, bytes, i);
    MPI_Request request;
    switch (i % 5) {
      case 0:
        MPI_Issend(from.data(), bytes, MPI_CHAR, peer, data, MPI_COMM_WORLD, &request);
        break;
      case 1:
        if (bytes <= 1500) {
          MPI_Bsend(from.data(), bytes, MPI_CHAR, peer, data, MPI_COMM_WORLD);
          continue;
        }
        [[fallthrough]];
      default:
        MPI_Isend(from.data(), bytes, MPI_CHAR, peer, data, MPI_COMM_WORLD, &request);
    }
    if (i % 7 == 0) {
      MPI_Request_free(&request);
    } else {
      sends.push_back(request);
    }
    if (i % 500 == 499) receive(i - 300);
  }
  receive(messages);
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  void* ours;
  int bytes;
  MPI_Buffer_detach(&ours, &bytes);
}

// A send beyond the bound can be taken back; a probe sees how long it is; a partitioned one arrives. The window may have become wider before.
void without_credit(test::Board& board) {
  constexpr int length = 300;
  const int ahead = static_cast<int>((bound() + widest) / (per_message + length * sizeof(int))) + 1;
  MPI_Barrier(MPI_COMM_WORLD);
  constexpr int partitions = 8;
  std::array<int, partitions> parts{};
  MPI_Request partitioned;
  if (test::rank() == 0) {
    MPI_Psend_init(parts.data(), partitions, 1, MPI_INT, 1, special, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned);
  } else {
    MPI_Precv_init(parts.data(), partitions, 1, MPI_INT, 0, special, MPI_COMM_WORLD, MPI_INFO_NULL, &partitioned);
  }
  if (test::rank() == 0) {
    std::vector<MPI_Request> requests(static_cast<std::size_t>(ahead));
    const std::array<int, length> zeros{};
    for (MPI_Request& request : requests) MPI_Isend(zeros.data(), length, MPI_INT, 1, data, MPI_COMM_WORLD, &request);
    std::array<MPI_Request, 3> back;
    MPI_Isend(parts.data(), partitions, MPI_INT, 1, special, MPI_COMM_WORLD, &back[0]);
    MPI_Issend(parts.data(), partitions, MPI_INT, 1, special, MPI_COMM_WORLD, &back[1]);
    MPI_Isend(parts.data(), partitions / 2, MPI_INT, 1, special, MPI_COMM_WORLD, &back[2]);
    // A standard send whose request has left for the receiver may go on from a copy, and is received then.
    bool goes_on = false;
    for (int i : {0, 1}) {
      MPI_Status status;
      int cancelled;
      MPI_Cancel(&back[static_cast<std::size_t>(i)]);
      MPI_Wait(&back[static_cast<std::size_t>(i)], &status);
      MPI_Test_cancelled(&status, &cancelled);
      if (i == 0)
        goes_on = cancelled == 0;
      else
        check(cancelled != 0, "a synchronous send that is not received is cancelled");
    }
    board[3].store(goes_on ? 2 : 1);
    MPI_Start(&partitioned);
    for (int i = 0; i < partitions; ++i) {
      parts[static_cast<std::size_t>(i)] = i;
      MPI_Pready(i, partitioned);
    }
    MPI_Wait(&partitioned, MPI_STATUS_IGNORE);
    MPI_Wait(&back[2], MPI_STATUS_IGNORE);
    MPI_Waitall(ahead, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    poll_until([&] { return board[3].load() != 0; });
    MPI_Start(&partitioned);
    MPI_Wait(&partitioned, MPI_STATUS_IGNORE);
    for (int i = 0; i < partitions; ++i) equal(parts[static_cast<std::size_t>(i)], i, "a partition");
    if (board[3].load() == 2)
      MPI_Recv(parts.data(), partitions, MPI_INT, 0, special, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Status status;
    int ints;
    MPI_Probe(0, special, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &ints);
    equal(ints, partitions / 2, "the message that was not cancelled");
    MPI_Recv(parts.data(), partitions, MPI_INT, 0, special, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::array<int, length> in{};
    for (int i = 0; i < ahead; ++i) MPI_Recv(in.data(), length, MPI_INT, 0, data, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&partitioned);
}

// A sender whose messages all find their receive does not run ahead, however many are under way: it gets more credit.
void who_is_received_gets_more(MPI_T_pvar_session session) {
  constexpr int under_way = 1000;  // several windows
  const test::Counter uncredited(session, "vni_messages_uncredited");
  std::vector<int> values(under_way);
  std::vector<MPI_Request> requests(under_way);
  const auto round = [&](int number) {
    for (int i = 0; i < under_way; ++i) {
      int& value = values[static_cast<std::size_t>(i)];
      MPI_Request* const request = &requests[static_cast<std::size_t>(i)];
      value = test::rank() == 0 ? number + i : -1;
      if (test::rank() == 0 && i == 0) MPI_Recv(nullptr, 0, MPI_CHAR, 1, special, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (test::rank() == 0) {
        MPI_Isend(&value, 1, MPI_INT, 1, data, MPI_COMM_WORLD, request);
      } else {
        MPI_Irecv(&value, 1, MPI_INT, 0, data, MPI_COMM_WORLD, request);
      }
    }
    if (test::rank() == 1) MPI_Send(nullptr, 0, MPI_CHAR, 0, special, MPI_COMM_WORLD);
    MPI_Waitall(under_way, requests.data(), MPI_STATUSES_IGNORE);
    for (int i = 0; i < under_way; ++i) equal(values[static_cast<std::size_t>(i)], number + i, "a message under way");
  };
  for (int i = 0; i < 10; ++i) round(i);
  const unsigned long long before = uncredited.read();
  for (int i = 0; i < 10; ++i) round(i);
  check(uncredited.read() - before <= under_way / 100, "messages that are received have no credit");
}

// The same of messages of which one takes more than half of the window, or all of it, where the network takes such ones.
void who_is_received_gets_more_for_long_ones(MPI_T_pvar_session session) {
  constexpr int rounds = 50;
  const test::Counter uncredited(session, "vni_messages_uncredited");
  const int other = 1 - test::rank();
  for (const int size : {32'000, 40'000, 65'536}) {
    std::vector<char> in(static_cast<std::size_t>(size));
    std::vector<char> out;
    const auto exchange = [&](int number) {
      fill(out, size, number);
      MPI_Request request;
      MPI_Irecv(in.data(), size, MPI_CHAR, other, data, MPI_COMM_WORLD, &request);
      MPI_Sendrecv(nullptr, 0, MPI_CHAR, other, special, nullptr, 0, MPI_CHAR, other, special, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      MPI_Send(out.data(), size, MPI_CHAR, other, data, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(in, size, number);
    };
    for (int i = 0; i < rounds; ++i) exchange(i);
    const unsigned long long before = uncredited.read();
    for (int i = 0; i < rounds; ++i) exchange(rounds + i);
    equal(static_cast<long long>(uncredited.read() - before), 0,
          "long messages that find their receives have no credit");
  }
}

}  // namespace

int main(int argc, char** argv) {
  test::Session mpi(&argc, &argv);
  const unsigned seed = test::seed(argc, argv);
  test::Board board;
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session));
  run_ahead(board, session);
  credit_comes_back(session);
  few_are_sent_ahead(board);
  keep_order(seed);
  who_is_received_gets_more(session);
  who_is_received_gets_more_for_long_ones(session);
  if (bound() < 64ULL << 20) without_credit(board);
  test::ok(MPI_T_pvar_session_free(&session));
}
