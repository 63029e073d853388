// Cancelled sends: the wait returns whatever the receiver does, and either the message is received whole or nothing of it,
// as the status says. In every mode, at sizes on both sides of every protocol's border; withdrawn before the receiver has
// looked, while it is posting receives, and after it has matched.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

constexpr int sizes[] = {0, 8, 100, 5000, 16384, 20000, 300000};
enum Mode { standard, synchronous, strided, modes };

MPI_Datatype every_second;  // of two bytes

struct Message {
  Message(Mode mode, int bytes, int salt)
      : mode(mode), bytes(bytes), data(static_cast<std::size_t>(2 * bytes + 1), static_cast<unsigned char>(salt)) {}
  void send(MPI_Comm comm, int peer, int tag, MPI_Request* request) {
    if (mode == strided) {
      MPI_Isend(data.data(), bytes, every_second, peer, tag, comm, request);
    } else if (mode == synchronous) {
      MPI_Issend(data.data(), bytes, MPI_BYTE, peer, tag, comm, request);
    } else {
      MPI_Isend(data.data(), bytes, MPI_BYTE, peer, tag, comm, request);
    }
  }
  // Cancels and waits; nothing reads the buffer from here on.
  bool cancel(MPI_Request* request) {
    MPI_Status status;
    int cancelled;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (cancelled) std::fill(data.begin(), data.end(), static_cast<unsigned char>(0xdd));
    return cancelled != 0;
  }
  Mode mode;
  int bytes;
  std::vector<unsigned char> data;
};

void tell(MPI_Comm comm, int peer, int value) { MPI_Send(&value, 1, MPI_INT, peer, 99, comm); }
int hear(MPI_Comm comm, int peer) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, peer, 99, comm, MPI_STATUS_IGNORE);
  return value;
}

void expect_from(MPI_Comm comm, int peer, int tag, int bytes, int salt, bool probed) {
  std::vector<unsigned char> in(static_cast<std::size_t>(bytes) + 1, 0xee);
  MPI_Status status;
  int count;
  if (probed) {
    MPI_Message message;
    MPI_Mprobe(peer, tag, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in.data(), bytes, MPI_BYTE, &message, &status);
  } else {
    MPI_Recv(in.data(), bytes, MPI_BYTE, peer, tag, comm, &status);
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  equal(count, bytes, "bytes");
  for (int i = 0; i < bytes; ++i) equal(in[static_cast<std::size_t>(i)], salt, "data");
}

// The receiver does nothing until the wait has returned. It then gets the second message, and the first one only if that was
// not cancelled.
void before_the_receiver_looks(Mode mode, int bytes, bool probed) {
  Message first(mode, bytes, 1), second(mode, bytes, 2);
  MPI_Request request;
  if (test::rank() == 0) {
    first.send(MPI_COMM_WORLD, 1, 1, &request);
    const bool cancelled = first.cancel(&request);
    if (mode == synchronous) check(cancelled, "a synchronous send that is not received cannot end otherwise");
    tell(MPI_COMM_WORLD, 1, cancelled);
    second.send(MPI_COMM_WORLD, 1, 1, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    (void)hear(MPI_COMM_WORLD, 1);
  } else if (test::rank() == 1) {
    const bool cancelled = hear(MPI_COMM_WORLD, 0) != 0;
    if (!cancelled) expect_from(MPI_COMM_WORLD, 0, 1, bytes, 1, probed);
    expect_from(MPI_COMM_WORLD, 0, 1, bytes, 2, probed);
    int flag;
    MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "nothing else has come");
    tell(MPI_COMM_WORLD, 0, 0);
  }
}

// The receiver has it among its unexpected messages, or has posted its receive, or is just doing so.
void beside_the_receiver(int round, Mode mode, int bytes, bool wild) {
  Message first(mode, bytes, 1), second(mode, bytes, 2);
  MPI_Request request;
  if (test::rank() == 0) {
    first.send(MPI_COMM_WORLD, 1, 1, &request);
    tell(MPI_COMM_WORLD, 1, 0);  // it is among the unexpected ones when this is heard
    for (int i = 0; i < round; ++i) std::this_thread::yield();
    const bool cancelled = first.cancel(&request);
    second.send(MPI_COMM_WORLD, 1, 1, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell(MPI_COMM_WORLD, 1, cancelled);
    (void)hear(MPI_COMM_WORLD, 1);  // what comes next would match a receive that is about to be cancelled
  } else if (test::rank() == 1) {
    if (round % 2 != 0) (void)hear(MPI_COMM_WORLD, 0);
    std::vector<unsigned char> in[2];
    MPI_Request receives[2];
    const int source = wild ? MPI_ANY_SOURCE : 0;
    for (int i = 0; i < 2; ++i) {
      in[i].assign(static_cast<std::size_t>(bytes) + 1, 0xee);
      MPI_Irecv(in[i].data(), bytes, MPI_BYTE, source, 1, MPI_COMM_WORLD, &receives[i]);
    }
    MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
    if (round % 2 == 0) (void)hear(MPI_COMM_WORLD, 0);
    const bool cancelled = hear(MPI_COMM_WORLD, 0) != 0;
    for (int i = 0; i < bytes; ++i) equal(in[0][static_cast<std::size_t>(i)], cancelled ? 2 : 1, "the first receive");
    if (cancelled) {
      MPI_Status status;
      int flag;
      MPI_Cancel(&receives[1]);
      MPI_Wait(&receives[1], &status);
      MPI_Test_cancelled(&status, &flag);
      check(flag, "there is no second message");
    } else {
      MPI_Wait(&receives[1], MPI_STATUS_IGNORE);
      for (int i = 0; i < bytes; ++i) equal(in[1][static_cast<std::size_t>(i)], 2, "the second receive");
    }
    tell(MPI_COMM_WORLD, 0, 0);
  }
}

// One rank waits for the other without a call, which would make progress.
class Shared {
 public:
  void go(int turn) { board_[0].store(turn); }
  void await(int turn) const { board_.await(0, turn); }

 private:
  test::Board board_;
};

// A flood that fills the channel, while the receiver is outside the library: what waits at the sender is cancelled there.
void in_the_backlog(Shared& shared, int turn, int bytes) {
  constexpr int n = 1500;
  if (test::rank() == 0) {
    std::vector<Message> messages;
    std::vector<MPI_Request> requests(n);
    for (int i = 0; i < n; ++i) messages.emplace_back(standard, bytes, i % 200);
    for (int i = 0; i < n; ++i)
      messages[static_cast<std::size_t>(i)].send(MPI_COMM_WORLD, 1, i, &requests[static_cast<std::size_t>(i)]);
    std::vector<int> cancelled;
    for (std::size_t i = 0; i < n; ++i) cancelled.push_back(messages[i].cancel(&requests[i]));
    // The receiver's communication thread takes them all, wherever the program is.
    const char* const model = std::getenv("HEDDLE_MODEL");
    if (model == nullptr || std::strcmp(model, "offload") != 0)
      check(cancelled.back() != 0, "the last one has not left");
    shared.go(turn);
    MPI_Send(cancelled.data(), n, MPI_INT, 1, n, MPI_COMM_WORLD);
  } else if (test::rank() == 1) {
    std::vector<int> cancelled(n);
    shared.await(turn);
    MPI_Recv(cancelled.data(), n, MPI_INT, 0, n, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i)
      if (!cancelled[static_cast<std::size_t>(i)]) expect_from(MPI_COMM_WORLD, 0, i, bytes, i % 200, false);
  }
}

void to_oneself(Mode mode, int bytes) {
  Message message(mode, bytes, 3);
  MPI_Request request;
  message.send(MPI_COMM_SELF, 0, 0, &request);
  const bool cancelled = message.cancel(&request);
  if (mode == synchronous) check(cancelled, "a synchronous send to oneself");
  int flag;
  MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  equal(flag, !cancelled, "there if it was not cancelled");
  if (!cancelled) expect_from(MPI_COMM_SELF, 0, 0, bytes, 3, false);
}

// Persistent sends: cancelled in one round, received in the next. And one that is cancelled and freed.
void persistent_and_freed(int bytes) {
  std::vector<unsigned char> data(static_cast<std::size_t>(bytes) + 1, 5);
  if (test::rank() == 0) {
    MPI_Request request;
    MPI_Ssend_init(data.data(), bytes, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; ++round) {
      MPI_Start(&request);
      if (round == 1) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        continue;
      }
      MPI_Status status;
      int cancelled;
      MPI_Cancel(&request);
      MPI_Wait(&request, &status);
      MPI_Test_cancelled(&status, &cancelled);
      if (round == 0) check(cancelled, "no receive yet");
      tell(MPI_COMM_WORLD, 1, cancelled);
    }
    MPI_Request_free(&request);
    MPI_Issend(data.data(), bytes, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    tell(MPI_COMM_WORLD, 1, 0);
    (void)hear(MPI_COMM_WORLD, 1);
  } else if (test::rank() == 1) {
    (void)hear(MPI_COMM_WORLD, 0);
    expect_from(MPI_COMM_WORLD, 0, 7, bytes, 5, false);
    check(hear(MPI_COMM_WORLD, 0) != 0, "no receive any more");
    (void)hear(MPI_COMM_WORLD, 0);
    int flag;
    MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    check(!flag, "nothing is left");
    tell(MPI_COMM_WORLD, 0, 0);
  }
}

// Threads cancel and receive at the same time; each tag is received or cancelled, and never both.
void many_threads() {
  constexpr int threads = 3, messages = 60, bytes = 6000;
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([t] {
      for (int i = 0; i < messages; ++i) {
        const int tag =
            1000 + t * messages + i;  // the next message must not match a receive that is about to be cancelled
        if (test::rank() == 0) {
          Message message(i % 2 == 0 ? synchronous : standard, bytes, i);
          MPI_Request request;
          message.send(MPI_COMM_WORLD, 1, tag, &request);
          const int cancelled = message.cancel(&request);
          MPI_Send(&cancelled, 1, MPI_INT, 1, 2000 + t, MPI_COMM_WORLD);
        } else if (test::rank() == 1) {
          std::vector<unsigned char> in(bytes, 0xee);
          MPI_Request receive;
          int cancelled, flag;
          MPI_Irecv(in.data(), bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &receive);
          MPI_Recv(&cancelled, 1, MPI_INT, 0, 2000 + t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          if (cancelled) MPI_Cancel(&receive);
          MPI_Status status;
          MPI_Wait(&receive, &status);
          MPI_Test_cancelled(&status, &flag);
          equal(flag, cancelled, "cancelled on both sides or on none");
          if (!cancelled) equal(in[0], i, "data");
        }
      }
    });
  for (std::thread& thread : team) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Type_create_resized(MPI_BYTE, 0, 2, &every_second);
  MPI_Type_commit(&every_second);
  for (int mode = 0; mode < modes; ++mode)
    for (int bytes : sizes) {
      for (bool probed : {false, true}) before_the_receiver_looks(static_cast<Mode>(mode), bytes, probed);
      to_oneself(static_cast<Mode>(mode), bytes);
      for (int round = 0; round < 8; ++round)
        for (bool wild : {false, true}) beside_the_receiver(round, static_cast<Mode>(mode), bytes, wild);
    }
  {
    Shared shared;
    int turn = 0;
    for (int bytes : {8, 2000, 10000}) in_the_backlog(shared, ++turn, bytes);
  }
  for (int bytes : {8, 20000}) persistent_and_freed(bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  many_threads();
  MPI_Type_free(&every_second);
}
