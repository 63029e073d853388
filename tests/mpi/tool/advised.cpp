// Programs with a weakness that the report gives advice about, and the same programs with the advice applied
// (advised.py runs and compares them).
//
//     advised hello                         nothing but a barrier
//     advised exchange one-communicator     four threads a rank exchange messages
//     advised exchange communicator-each    the same, each on a duplicate
//     advised batches late-receives         receives are posted when the messages have come
//     advised batches early-receives        before they are sent
//     advised pauses MILLISECONDS           messages that come seldom; two threads wait for one each
#include <barrier>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

constexpr int exchanges = 20'000;
constexpr int batches = 40, batch = 32;
constexpr int pauses = 60;

int peer() { return (test::rank() + 1) % test::size(); }
int before() { return (test::rank() + test::size() - 1) % test::size(); }

// The length of messages that take a while to be copied, so that threads meet also where there are few cores.
void exchange(MPI_Comm comm, int tag, int times) {
  constexpr int length = 3000;
  std::vector<int> out(length), in(length);
  for (int i = 0; i < times; ++i) {
    out.back() = i;
    MPI_Request requests[2];
    MPI_Irecv(in.data(), length, MPI_INT, before(), tag, comm, &requests[0]);
    MPI_Isend(out.data(), length, MPI_INT, peer(), tag, comm, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    test::equal(in.back(), i, "exchange");
  }
}

void exchange_in_threads(bool one_communicator) {
  constexpr int threads = 4;
  std::vector<MPI_Comm> comms(threads);
  for (MPI_Comm& comm : comms) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "shared");
  }
  std::barrier together(threads);
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      together.arrive_and_wait();
      exchange(comms[static_cast<std::size_t>(one_communicator ? 0 : t)], t, exchanges);
    });
  for (auto& thread : team) thread.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

// The barrier holds the receiver back until the messages have come, or the senders until the receives are posted.
void exchange_in_batches(bool late) {
  int in[batch];
  int out[batch] = {};
  MPI_Request requests[2 * batch];
  for (int round = 0; round < batches; ++round) {
    MPI_Request* next = requests;
    const auto post = [&] {
      for (int& value : in) MPI_Irecv(&value, 1, MPI_INT, before(), 0, MPI_COMM_WORLD, next++);
    };
    if (!late) post();
    if (!late) MPI_Barrier(MPI_COMM_WORLD);
    for (int& value : out) MPI_Isend(&(value = round), 1, MPI_INT, peer(), 0, MPI_COMM_WORLD, next++);
    if (late) {
      MPI_Barrier(MPI_COMM_WORLD);
      int flag;  // of a message that there is not: it finds those that there are
      MPI_Iprobe(before(), 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      test::check(!flag, "a message with another tag");
      post();
    }
    MPI_Waitall(2 * batch, requests, MPI_STATUSES_IGNORE);
    for (int value : in) test::equal(value, round, "batch");
  }
}

void receive_seldom(std::chrono::milliseconds pause) {
  const auto wait_for_messages = [](int tag) {
    for (int i = 0; i < pauses; ++i) {
      int in = -1;
      MPI_Recv(&in, 1, MPI_INT, before(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      test::equal(in, i, "message");
    }
  };
  std::thread first(wait_for_messages, 0);
  std::thread second(wait_for_messages, 1);
  for (int i = 0; i < pauses; ++i) {
    std::this_thread::sleep_for(pause);
    for (int tag : {0, 1}) MPI_Send(&i, 1, MPI_INT, peer(), tag, MPI_COMM_WORLD);
  }
  first.join();
  second.join();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : "";
  const std::string variant = argc > 2 ? argv[2] : "";
  test::Session session(&argc, &argv);
  if (program == "exchange")
    exchange_in_threads(variant == "one-communicator");
  else if (program == "batches")
    exchange_in_batches(variant == "late-receives");
  else if (program == "pauses")
    receive_seldom(std::chrono::milliseconds(std::stoi(variant)));
  else
    test::check(program == "hello", "the name of a program");
  MPI_Barrier(MPI_COMM_WORLD);
}
