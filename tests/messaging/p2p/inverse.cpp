// Messages to a rank on another node whose receiver receives the last one first, or not yet, or from many threads. Short messages are sent
// eagerly as long as the receiver is in MPI and keeps them within its bound.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int per_message = 256;     // what keeping a message costs beside its payload
constexpr int widest = 1024 * 1024;  // window of credit: docs/guides/networks.md
constexpr int few = 300;             // more than there is credit for at first
constexpr int threads = 8;
constexpr int rounds = 10;
constexpr int window = 64;
enum Tag { data, last };

int peer() { return 1 - test::rank(); }

bool starts_with(const char* variable, std::string_view text) {
  const char* const value = std::getenv(variable);
  return value != nullptr && std::string_view(value).starts_with(text);
}
int bound() {
  const char* const text = std::getenv("HEDDLE_UNEXPECTED_BYTES");
  return text == nullptr ? 64 << 20 : std::atoi(text);
}

void receive_in_order(int messages, int tag, int doubles = 1) {
  std::vector<double> got(static_cast<std::size_t>(doubles));
  for (int i = 0; i < messages; ++i) {
    got.front() = -1;
    MPI_Recv(got.data(), doubles, MPI_DOUBLE, peer(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(static_cast<int>(got.front()), i, "messages are received in order");
  }
}
void send_in_order(int messages, int tag) {
  for (int i = 0; i < messages; ++i) {
    const double value = i;
    MPI_Send(&value, 1, MPI_DOUBLE, peer(), tag, MPI_COMM_WORLD);
  }
}

// Each send is complete before the next is started, and the receive that the receiver waits for is that of the last.
enum class Direction : std::uint8_t { forth, both };
void last_one_first(int messages, Direction direction, int thread = 0) {
  const int data = 2 * thread, last = data + 1;
  if (test::rank() == 0 || direction == Direction::both) {
    send_in_order(messages, data);
    MPI_Send(nullptr, 0, MPI_DOUBLE, peer(), last, MPI_COMM_WORLD);
  }
  if (test::rank() == 1 || direction == Direction::both) {
    MPI_Recv(nullptr, 0, MPI_DOUBLE, peer(), last, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_in_order(messages, data);
  }
}

// Each message has a tag of its own.
void all_in_inverse_order(int messages) {
  for (int i = 0; i < messages; ++i) MPI_Send(&i, 1, MPI_INT, peer(), i, MPI_COMM_WORLD);
  for (int i = messages - 1; i >= 0; --i) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, peer(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(got, i, "the message of a tag");
  }
}

template <class F>
void in_threads(F&& of_thread) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back([&of_thread, i] { of_thread(i); });
  for (std::thread& one : all) one.join();
}

// More than the receiver keeps go by rendezvous, and what comes behind them is received all the same. A receiver outside MPI is sent
// no more than a window.
void last_one_first_of_nonblocking(test::Board& board, int messages, int doubles, bool computes) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    const auto n = static_cast<std::size_t>(messages);
    const auto length = static_cast<std::size_t>(doubles);
    std::vector<double> values(n * length);
    std::vector<MPI_Request> requests(n);
    for (std::size_t i = 0; i < n; ++i) {
      double* const from = &values[i * length];
      *from = static_cast<double>(i);
      MPI_Isend(from, doubles, MPI_DOUBLE, 1, data, MPI_COMM_WORLD, &requests[i]);
    }
    if (computes) {
      int done = 0;
      for (int i = 0; i < 200; ++i) {
        int some = 0;
        MPI_Testsome(messages, requests.data(), &some, std::vector<int>(n).data(), MPI_STATUSES_IGNORE);
        done += some == MPI_UNDEFINED ? 0 : some;
      }
      check(done <= widest / per_message, "a receiver outside MPI was sent more than a window");
      board[0].store(1);
    }
    MPI_Request request;
    MPI_Isend(nullptr, 0, MPI_DOUBLE, 1, last, MPI_COMM_WORLD, &request);
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    while (computes && board[0].load() == 0) std::this_thread::yield();
    MPI_Recv(nullptr, 0, MPI_DOUBLE, 0, last, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_in_order(messages, data, doubles);
  }
}

// A message that waits for credit leaves although its sender makes no call until all of it has been received.
void sender_computes(const test::Board& board) {
  constexpr int messages = 5000;  // more than there is credit for, whatever the window is
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    std::vector<double> values(messages);
    std::vector<MPI_Request> requests(messages);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>(i);
      MPI_Isend(&values[i], 1, MPI_DOUBLE, 1, data, MPI_COMM_WORLD, &requests[i]);
    }
    board.await(1, 1);
    MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    receive_in_order(messages, data);
    board[1].store(1);
  }
}

// Threads that send windows without waiting for any of them.
void flood(int thread) {
  std::vector<double> values(std::size_t{rounds} * window);
  std::vector<MPI_Request> requests(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (test::rank() == 0) {
      values[i] = static_cast<double>(i);
      MPI_Isend(&values[i], 1, MPI_DOUBLE, 1, thread, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(&values[i], 1, MPI_DOUBLE, 0, thread, MPI_COMM_WORLD, &requests[i]);
      if (i % window == window - 1) MPI_Waitall(window, &requests[i + 1 - window], MPI_STATUSES_IGNORE);
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < values.size(); ++i) equal(static_cast<long long>(values[i]), static_cast<long long>(i));
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session mpi(&argc, &argv);
  test::Board board;
  const bool is_small = bound() < 64 << 20;
  const int many = is_small ? bound() / per_message / 2 : 10'000;
  for (const Direction direction : {Direction::forth, Direction::both}) {
    last_one_first(few, direction);
    last_one_first(many, direction);
  }
  all_in_inverse_order(few);
  if (!is_small) {
    in_threads([](int thread) { last_one_first(few, Direction::both, thread); });
    sender_computes(board);
  }
  // Where a thread of the library polls, a receiver is never outside MPI.
  if (!is_small && !starts_with("HEDDLE_MODEL", "offload") && starts_with("HEDDLE_PROGRESS", "off"))
    last_one_first_of_nonblocking(board, 10'000, 1, true);
  // Each message beyond the bound takes a round trip.
  constexpr int doubles = 150;
  if (is_small)
    last_one_first_of_nonblocking(board, (bound() + widest) / (per_message + 8 * doubles) + few, doubles, false);
  in_threads(flood);
}
