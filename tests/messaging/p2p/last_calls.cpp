// After some calls a rank may stop calling MPI as far as a communicator, a session, a window or a file goes (MPI 5.0, sections 11.2, 11.3,
// 11.10.4, 12.2.5, 14.2.2), or a buffer (3.6.1): what it has begun reaches its peers all the same. Here rank 0 has received a long message,
// of which its sender is told behind as many short messages as the channel takes, and then makes such a call.
#include <sched.h>

#include <chrono>
#include <functional>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

using namespace test;

namespace {

constexpr int ints = 100'000;
constexpr int most = 100'000;  // short messages: no channel has room for so many
constexpr std::chrono::seconds limit{15};

struct Case {
  const char* name;
  // Makes a communicator and returns what ends it.
  std::function<std::function<void()>(MPI_Comm& comm)> begin;
};

// Ends the job if the other rank, which has everything that it needs, does not come so far.
void await_without_mpi(const Board& board, int word, int value, const char* name) {
  const auto begin = std::chrono::steady_clock::now();
  while (board[word].load() < value && std::chrono::steady_clock::now() - begin < limit) sched_yield();
  check(board[word].load() >= value, name);
}

// As many messages as leave at once, and one that waits.
int fill_channel(MPI_Comm comm) {
  for (int sent = 1;; ++sent) {
    check(sent < most, "the channel is full");
    MPI_Request request;
    int left = 0;
    MPI_Isend(nullptr, 0, MPI_CHAR, 1, 1, comm, &request);
    MPI_Test(&request, &left, MPI_STATUS_IGNORE);
    if (left != 0) continue;
    MPI_Request_free(&request);
    return sent;
  }
}

void receiver(const Board& board, const Case& one, int round) {
  MPI_Comm comm;
  const std::function<void()> end = one.begin(comm);
  await_without_mpi(board, 0, round, one.name);  // the long message is under way, and its sender does not poll
  board[1] = fill_channel(comm);
  std::vector<int> in(ints);
  MPI_Recv(in.data(), ints, MPI_INT, 1, 0, comm, MPI_STATUS_IGNORE);
  equal(in.back(), round, one.name);
  board[2] = round;
  end();
  await_without_mpi(board, 3, round, one.name);
}

void sender(const Board& board, const Case& one, int round) {
  MPI_Comm comm;
  const std::function<void()> end = one.begin(comm);
  const std::vector<int> out(ints, round);
  MPI_Request request;
  MPI_Isend(out.data(), ints, MPI_INT, 0, 0, comm, &request);
  board[0] = round;
  board.await(2, round);
  for (int i = board[1].load(); i > 0; --i) MPI_Recv(nullptr, 0, MPI_CHAR, 0, 1, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  end();
  board[3] = round;
}

std::function<void()> disconnect(MPI_Comm& comm) {
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  return [comm]() mutable { MPI_Comm_disconnect(&comm); };
}

std::function<void()> finalize_session(MPI_Comm& comm) {
  MPI_Session session;
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "last calls", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return [comm, session]() mutable {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  };
}

std::function<void()> free_window(MPI_Comm& comm) {
  MPI_Win win;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Win_create(nullptr, 0, 1, MPI_INFO_NULL, comm, &win);
  return [comm, win]() mutable {
    MPI_Comm_free(&comm);
    MPI_Win_free(&win);
  };
}

std::function<void()> close_file(MPI_Comm& comm) {
  MPI_File file;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_File_open(comm, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  return [comm, file]() mutable {
    MPI_Comm_free(&comm);
    MPI_File_close(&file);
  };
}

// Sends through a buffer while the channel is full, then detaches it.
void detach_buffer(const Board& board, int round) {
  constexpr int bytes = 100;
  if (rank() == 0) {
    std::vector<char> room(bytes + MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
    board[1] = fill_channel(MPI_COMM_WORLD);
    const std::vector<char> out(bytes, 'b');
    MPI_Bsend(out.data(), bytes, MPI_CHAR, 1, 2, MPI_COMM_WORLD);
    board[2] = round;
    void* address;
    int size;
    MPI_Buffer_detach(&address, &size);
    await_without_mpi(board, 3, round, "MPI_Buffer_detach");
  } else {
    board.await(2, round);
    for (int i = board[1].load(); i > 0; --i) MPI_Recv(nullptr, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<char> in(bytes);
    MPI_Recv(in.data(), bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(in.back(), 'b', "MPI_Buffer_detach");
    board[3] = round;
  }
}

const std::vector<Case> cases = {
    {"MPI_Comm_disconnect", disconnect},
    {"MPI_Session_finalize", finalize_session},
    {"MPI_Win_free", free_window},
    {"MPI_File_close", close_file},
};

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const Board board;
  int round = 0;
  for (const Case& one : cases) {
    ++round;
    (rank() == 0 ? receiver : sender)(board, one, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  detach_buffer(board, round + 1);
}
