// Buffered sends: which buffer a message takes (the communicator's, its session's, the process'), what each attach,
// flush and detach does, and that what is buffered arrives however the buffer goes.
#include <chrono>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

int right() { return (test::rank() + 1) % test::size(); }
int left() { return (test::rank() + test::size() - 1) % test::size(); }

constexpr int longs = 5000;  // a message too long to leave without its receiver
constexpr int longs_bytes = longs * static_cast<int>(sizeof(long));

void send(MPI_Comm comm, long value) {
  const std::vector<long> out(longs, value);
  check(MPI_Bsend(out.data(), longs, MPI_LONG, right(), 1, comm) == MPI_SUCCESS, "room in the buffer");
}
void receive(MPI_Comm comm, long value) {
  std::vector<long> in(longs, -1);
  MPI_Recv(in.data(), longs, MPI_LONG, left(), 1, comm, MPI_STATUS_IGNORE);
  equal(in[0], value, "first");
  equal(in[longs - 1], value, "last");
}

// The calls of one owner of a buffer.
struct Calls {
  const char* name;
  int (*attach)(void*, int);
  int (*detach)(void*, int*);
  int (*flush)();
  int (*iflush)(MPI_Request*);
};

MPI_Comm comm = MPI_COMM_NULL;
MPI_Session session = MPI_SESSION_NULL;
MPI_Comm comm_of_session = MPI_COMM_NULL;

const Calls process{"process", MPI_Buffer_attach, MPI_Buffer_detach, MPI_Buffer_flush, MPI_Buffer_iflush};
const Calls communicator{"communicator", [](void* b, int n) { return MPI_Comm_attach_buffer(comm, b, n); },
                         [](void* b, int* n) { return MPI_Comm_detach_buffer(comm, b, n); },
                         [] { return MPI_Comm_flush_buffer(comm); },
                         [](MPI_Request* r) { return MPI_Comm_iflush_buffer(comm, r); }};
const Calls of_session{"session", [](void* b, int n) { return MPI_Session_attach_buffer(session, b, n); },
                       [](void* b, int* n) { return MPI_Session_detach_buffer(session, b, n); },
                       [] { return MPI_Session_flush_buffer(session); },
                       [](MPI_Request* r) { return MPI_Session_iflush_buffer(session, r); }};

void family(const Calls& calls, MPI_Comm over) {
  constexpr int bytes = 2 * (longs_bytes + MPI_BSEND_OVERHEAD);
  std::vector<char> memory(bytes);
  equal(class_of(calls.flush()), MPI_ERR_BUFFER, calls.name);
  for (void* base : {static_cast<void*>(memory.data()), static_cast<void*>(MPI_BUFFER_AUTOMATIC)}) {
    equal(calls.attach(base, bytes), MPI_SUCCESS, calls.name);
    equal(class_of(calls.attach(base, bytes)), MPI_ERR_BUFFER, "a second one");
    for (int round = 0; round < 3; ++round) {
      send(over, round);
      send(over, round + 10);
      receive(over, round);
      receive(over, round + 10);
      equal(calls.flush(), MPI_SUCCESS, calls.name);
    }
    send(over, 7);
    MPI_Request request;
    calls.iflush(&request);
    int flag;
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    receive(over, 7);
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    send(over, 8);
    calls.iflush(&request);  // outlives the buffer
    receive(over, 8);
    void* address = nullptr;
    int size = -1;
    equal(calls.detach(&address, &size), MPI_SUCCESS, calls.name);
    check(address == base, "detach gives the buffer back");
    equal(size, base == MPI_BUFFER_AUTOMATIC ? 0 : bytes, "and its size");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

// A communicator of a session, and what is made from it, finds the session's buffer.
void descendants() {
  MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0);
  MPI_Comm dup, split, created;
  MPI_Group group, half;
  MPI_Comm_dup(comm_of_session, &dup);
  MPI_Comm_split(dup, 0, test::rank(), &split);
  MPI_Comm_group(split, &group);
  const int all[1][3] = {{0, test::size() - 1, 1}};
  MPI_Group_range_incl(group, 1, const_cast<int(*)[3]>(all), &half);
  MPI_Comm_create_from_group(half, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &created);
  for (MPI_Comm c : {dup, split, created}) {
    send(c, 5);
    receive(c, 5);
  }
  equal(class_of(MPI_Bsend(all, 1, MPI_INT, 0, 0, MPI_COMM_SELF)), MPI_ERR_BUFFER, "not of the session");
  for (MPI_Comm* c : {&dup, &split, &created}) MPI_Comm_free(c);
  MPI_Group_free(&group);
  MPI_Group_free(&half);
}

// The nearest buffer alone counts: a small one of the communicator is full although the process' has room.
void nearest() {
  char small[8 + MPI_BSEND_OVERHEAD];
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  MPI_Comm_attach_buffer(comm, small, sizeof small);
  const std::vector<long> out(longs);
  equal(class_of(MPI_Bsend(out.data(), longs, MPI_LONG, right(), 1, comm)), MPI_ERR_BUFFER, "no room");
  void* address;
  int size;
  MPI_Comm_detach_buffer(comm, &address, &size);
  send(comm, 3);
  receive(comm, 3);
  MPI_Buffer_detach(&address, &size);
}

// The use of MPI_BSEND_OVERHEAD: the messages' sizes and so much for each is enough, whatever the sizes, and no less.
void exactly_enough() {
  constexpr int messages = 40, least = 80001;  // longer than what goes eagerly anywhere
  std::size_t room = 0;
  for (int i = 0; i < messages; ++i) room += static_cast<std::size_t>(least + i + MPI_BSEND_OVERHEAD);
  std::vector<char> memory(room + 1);
  std::vector<char> data(least + messages, 'x');
  for (const int missing : {0, messages * MPI_BSEND_OVERHEAD}) {
    MPI_Comm_attach_buffer(comm, memory.data() + 1, static_cast<int>(room) - missing);
    int fit = 0;
    while (fit < messages && MPI_Bsend(data.data(), least + fit, MPI_CHAR, right(), fit, comm) == MPI_SUCCESS) ++fit;
    check((fit == messages) == (missing == 0), "as many messages as there is room for");
    MPI_Barrier(comm);  // no rank receives before all have tried
    int theirs = 0;
    MPI_Sendrecv(&fit, 1, MPI_INT, right(), messages, &theirs, 1, MPI_INT, left(), messages, comm, MPI_STATUS_IGNORE);
    for (int i = 0; i < theirs; ++i) MPI_Recv(data.data(), least + i, MPI_CHAR, left(), i, comm, MPI_STATUS_IGNORE);
    void* address;
    int size;
    MPI_Comm_detach_buffer(comm, &address, &size);
  }
}

// A flush waits for what was sent before it: not for what comes later, and without keeping other threads from sending.
// The receiver wants the later message first.
void flush_beside_sends() {
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  const auto take = [](int tag, long value) {
    std::vector<long> in(longs, -1);
    MPI_Recv(in.data(), longs, MPI_LONG, left(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    equal(in[longs - 1], value, "data");
  };
  const auto give = [](int tag, long value) {
    const std::vector<long> out(longs, value);
    MPI_Bsend(out.data(), longs, MPI_LONG, right(), tag, MPI_COMM_WORLD);
  };
  MPI_Request request;
  give(1, 1);
  MPI_Buffer_iflush(&request);
  give(2, 2);
  take(1, 1);
  MPI_Wait(&request, MPI_STATUS_IGNORE);  // message 2 is still in the buffer
  take(2, 2);
  MPI_Buffer_flush();

  give(1, 3);
  std::jthread flusher([] { MPI_Buffer_flush(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that it most probably waits by now
  give(2, 4);
  take(2, 4);
  take(1, 3);
  flusher.join();
  void* address;
  int size;
  MPI_Buffer_detach(&address, &size);
}

}  // namespace

int main(int argc, char** argv) {
  test::Session world(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group group;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm_of_session);
  MPI_Group_free(&group);
  for (MPI_Comm c : {comm, MPI_COMM_SELF}) MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  family(process, MPI_COMM_WORLD);
  family(communicator, comm);
  family(of_session, comm_of_session);
  descendants();
  nearest();
  exactly_enough();
  flush_beside_sends();
  // Buffers that are not detached: freeing, ending the session and finalizing send what they hold.
  MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0);
  MPI_Comm_attach_buffer(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, 0);
  MPI_Request requests[3];
  std::vector<long> in[3];
  const MPI_Comm comms[] = {comm, comm_of_session, MPI_COMM_WORLD};
  for (int i = 0; i < 3; ++i) {
    in[i].assign(longs, -1);
    MPI_Irecv(in[i].data(), longs, MPI_LONG, left(), 1, comms[i], &requests[i]);
  }
  for (int i = 0; i < 3; ++i) send(comms[i], i);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&comm_of_session);
  MPI_Session_finalize(&session);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < 3; ++i) equal(in[i][longs - 1], i, "data");
}
