// With more ranks than cores, long messages that leave before their receiver has asked for them. Their sender is done with one
// whose receive has not begun; but only with so many. A message that is too long for its receive is cut, one that the sender is
// too busy to pack is fetched, a synchronous one stays so; and messages of all lengths in both directions, received in any order,
// are whole. Arguments: [seed].
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;
using Bytes = std::vector<unsigned char>;

constexpr int shortest = 16 * 1024 + 1, longest = 256 * 1024;
constexpr int lengths[] = {shortest, 28 * 1024, 60 * 1024, 64 * 1024, 120'000, 200'000, longest};
constexpr int most_unread = 16;  // of a rank's messages in a VNI (messaging/message/choose.hpp)
constexpr int one_lane = 64;     // tags with such distances have one VNI, whatever the number of lanes

unsigned char value(int i, int salt) { return static_cast<unsigned char>(i * 7 + i / 4096 + salt); }

Bytes message(int bytes, int salt) {
  Bytes data(static_cast<std::size_t>(bytes));
  for (int i = 0; i < bytes; ++i) data[static_cast<std::size_t>(i)] = value(i, salt);
  return data;
}

void expect(const Bytes& data, int bytes, int salt) {
  for (int i = 0; i < bytes; ++i) equal(data[static_cast<std::size_t>(i)], value(i, salt), "data");
}

void receive(int tag, int bytes, int salt) {
  Bytes data(static_cast<std::size_t>(bytes), 0xee);
  MPI_Status status;
  MPI_Recv(data.data(), bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &status);
  int count;
  MPI_Get_count(&status, MPI_BYTE, &count);
  equal(count, bytes, "bytes");
  expect(data, bytes, salt);
}

// The receiver wants the later message first, so the blocking send of the earlier one must not wait for it.
void is_done_before_it_is_received() {
  for (int round = 0; round < 20; ++round) {
    for (const int bytes : lengths) {
      if (test::rank() == 0) {
        const Bytes data = message(bytes, round);
        MPI_Send(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Send(nullptr, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      } else if (test::rank() == 1) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        receive(1, bytes, round);
      }
      MPI_Barrier(MPI_COMM_WORLD);  // so that no others are unread
    }
  }
}

void only_so_many_are_unread() {
  constexpr int bytes = 64 * 1024, messages = 3 * most_unread;
  if (test::rank() == 0) {
    std::vector<Bytes> data;
    std::vector<MPI_Request> requests(messages);
    for (int i = 0; i < messages; ++i) data.push_back(message(bytes, i));
    for (std::size_t i = 0; i < messages; ++i)
      MPI_Isend(data[i].data(), bytes, MPI_BYTE, 1, static_cast<int>(i) * one_lane, MPI_COMM_WORLD, &requests[i]);
    int done = 0;
    for (int look = 0; look < 1000; ++look) {
      int some;
      std::vector<int> indices(messages);
      MPI_Testsome(messages, requests.data(), &some, indices.data(), MPI_STATUSES_IGNORE);
      done += some;
    }
    equal(done, most_unread, "sends that are done");
    MPI_Send(nullptr, 0, MPI_BYTE, 1, messages * one_lane, MPI_COMM_WORLD);
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  } else if (test::rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, messages * one_lane, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = messages; i-- > 0;) receive(i * one_lane, bytes, i);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void too_long_for_its_receive(bool posted) {
  for (const int bytes : lengths) {
    for (const int room : {0, 1, 4096, 50'000, bytes - 1}) {
      if (room >= bytes) continue;
      if (test::rank() == 0) {
        const Bytes data = message(bytes, room);
        if (posted) MPI_Recv(nullptr, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Send(data.data(), bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      } else if (test::rank() == 1) {
        Bytes data(static_cast<std::size_t>(bytes), 0xee);
        MPI_Request request = MPI_REQUEST_NULL;
        if (posted) {
          MPI_Irecv(data.data(), room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
          MPI_Send(nullptr, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
          equal(test::class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE, "cut");
        } else {
          const int error = MPI_Recv(data.data(), room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          equal(test::class_of(error), MPI_ERR_TRUNCATE, "cut");
        }
        expect(data, room, room);
        for (std::size_t i = static_cast<std::size_t>(room); i < data.size(); ++i)
          equal(data[i], 0xee, "beyond the end");
        receive(2, bytes, room);
      }
    }
  }
}

// Where there is a kernel to help, the receiver has the message while the sender computes; everywhere it has it in the end.
void from_a_busy_sender() {
  for (const int bytes : lengths) {
    if (test::rank() == 0) {
      const Bytes data = message(bytes, 5);
      MPI_Request request;
      MPI_Isend(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (test::rank() == 1) {
      receive(1, bytes, 5);
    }
  }
}

void is_synchronous_if_asked() {
  for (const int bytes : lengths) {
    if (test::rank() == 0) {
      const Bytes data = message(bytes, 6);
      MPI_Request request;
      MPI_Issend(data.data(), bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
      int done = 0;
      for (int look = 0; look < 300 && done == 0; ++look) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      equal(done, 0, "done before it is received");
      MPI_Send(nullptr, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (test::rank() == 1) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      receive(1, bytes, 6);
    }
  }
}

// Each sends to each, now few, now more than may be unread, of all lengths, and receives in an order of its own.
void in_any_order(unsigned seed) {
  std::mt19937 common(seed), own(seed + static_cast<unsigned>(test::rank()) + 1);
  const int ranks = test::size(), me = test::rank();
  for (int round = 0; round < 25; ++round) {
    const int each = 1 + static_cast<int>(common() % (2 * most_unread / static_cast<unsigned>(ranks)));
    // Element of message i from rank a to rank b.
    std::vector<int> bytes(static_cast<std::size_t>(ranks * ranks * each));
    for (int& n : bytes) n = 1 + static_cast<int>(common() % (common() % 4 == 0 ? 2u * longest : 70'000u));
    const auto at = [&](int a, int b, int i) { return static_cast<std::size_t>((a * ranks + b) * each + i); };
    std::vector<Bytes> out, in;
    std::vector<std::pair<int, int>> expected;
    std::vector<MPI_Request> requests;
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == me) continue;
      for (int i = 0; i < each; ++i) {
        out.push_back(message(bytes[at(me, peer, i)], round + i));
        MPI_Isend(out.back().data(), bytes[at(me, peer, i)], MPI_BYTE, peer, i, MPI_COMM_WORLD,
                  &requests.emplace_back());
        expected.emplace_back(peer, i);
      }
    }
    std::shuffle(expected.begin(), expected.end(), own);
    for (const auto& [peer, i] : expected) {
      in.emplace_back(static_cast<std::size_t>(bytes[at(peer, me, i)]), static_cast<unsigned char>(0xee));
      MPI_Irecv(in.back().data(), bytes[at(peer, me, i)], MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests.emplace_back());
      if (own() % 8 == 0) MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (std::size_t n = 0; n < expected.size(); ++n) {
      const auto& [peer, i] = expected[n];
      expect(in[n], bytes[at(peer, me, i)], round + i);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  is_done_before_it_is_received();
  only_so_many_are_unread();
  too_long_for_its_receive(false);
  too_long_for_its_receive(true);
  from_a_busy_sender();
  is_synchronous_if_asked();
  in_any_order(test::seed(argc, argv));
}
