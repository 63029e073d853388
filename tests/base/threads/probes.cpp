// Probes race for messages: every message is found by exactly one matched probe and received whole, and a probe that is
// not matched promises what the next receive gets.
#include <deque>
#include <mutex>

#include "base/threads/received_once.hpp"

namespace {

using namespace test;

const int threads = even_team_size(6);
constexpr int messages = 24;

int size_of(int number) {
  constexpr int mixed[] = {12, 500, 17000, 30, 104, 41, 140000, 2000};
  return mixed[number % 8];
}

// Finds a message by blocking or by asking again and again.
MPI_Message find(bool blocking, int source, int tag, MPI_Comm comm, MPI_Status& status) {
  MPI_Message found = MPI_MESSAGE_NULL;
  if (blocking) {
    MPI_Mprobe(source, tag, comm, &found, &status);
  } else {
    for (int flag = 0; !flag;) MPI_Improbe(source, tag, comm, &flag, &found, &status);
  }
  check(found != MPI_MESSAGE_NULL && found != MPI_MESSAGE_NO_PROC, "a matched probe finds a message");
  return found;
}

std::vector<unsigned char> receive(bool blocking, MPI_Message& found, const MPI_Status& probed, MPI_Status& status) {
  std::vector<unsigned char> in(static_cast<std::size_t>(count_of(probed, MPI_BYTE)));
  if (blocking) {
    MPI_Mrecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, &found, &status);
  } else {
    MPI_Request request;
    MPI_Imrecv(in.data(), static_cast<int>(in.size()), MPI_BYTE, &found, &request);
    MPI_Wait(&request, &status);
  }
  check(found == MPI_MESSAGE_NULL, "a message is received once");
  equal(status.MPI_TAG, probed.MPI_TAG, "the tag that the probe saw");
  return in;
}

// Every thread takes whatever comes, each in its own way. A thread finds what one thread sent in that thread's order.
void race_for_any(MPI_Comm comm) {
  ReceivedOnce received_once(threads, messages);
  in_threads(threads, [&](int t) {
    std::deque<std::vector<unsigned char>> out;
    std::vector<MPI_Request> sends;
    std::vector<int> last(static_cast<std::size_t>(size() * threads), -1);
    for (int i = 0; i < messages; ++i) {
      out.push_back(stamped({rank(), t, i}, size_of(i)));
      MPI_Isend(out.back().data(), static_cast<int>(out.back().size()), MPI_BYTE, (rank() + i) % size(), t, comm,
                &sends.emplace_back());
      MPI_Status probed, status;
      MPI_Message found = find(t % 2 == 0, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, probed);
      const std::vector<unsigned char> in = receive(t % 3 == 0, found, probed, status);
      const Stamp stamp = read_stamped(in, status);
      equal(status.MPI_TAG, stamp.thread, "tag");
      received_once.got(stamp);
      int& before = last[static_cast<std::size_t>(stamp.rank * threads + stamp.thread)];
      check(before < stamp.number, "matched probes keep the order");
      before = stamp.number;
    }
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
  });
  equal(received_once.total(), threads * messages, "messages that arrived");
  MPI_Barrier(MPI_COMM_WORLD);
}

// Threads with a tag each probe and then receive; others on the same communicator receive without probing.
void promises(MPI_Comm comm) {
  in_threads(threads, [&](int t) {
    for (int i = 0; i < messages; ++i) {
      const std::vector<unsigned char> out = stamped({rank(), t, i}, size_of(i));
      MPI_Request request;
      MPI_Isend(out.data(), static_cast<int>(out.size()), MPI_BYTE, right(), t, comm, &request);
      MPI_Status probed, status;
      std::vector<unsigned char> in(140000);
      if (t % 3 == 0) MPI_Probe(MPI_ANY_SOURCE, t, comm, &probed);
      if (t % 3 == 1) {
        for (int flag = 0; !flag;) MPI_Iprobe(left(), t, comm, &flag, &probed);
      }
      if (t % 3 != 2) {
        equal(probed.MPI_SOURCE, left(), "source that the probe saw");
        in.resize(static_cast<std::size_t>(count_of(probed, MPI_BYTE)));
      }
      MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, MPI_ANY_SOURCE, t, comm, &status);
      in.resize(static_cast<std::size_t>(count_of(status, MPI_BYTE)));
      equal(read_stamped(in, status).number, i, "the message that the probe saw");
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  });
  MPI_Barrier(MPI_COMM_WORLD);
}

// Half of the threads find messages and put them on a heap, from which the other half receives them later, in any
// order.
void found_by_others(MPI_Comm comm) {
  struct Found {
    MPI_Message message;
    MPI_Status status;
  };
  std::vector<Found> heap;
  Mutex mutex;
  ReceivedOnce received_once(threads, messages);
  in_threads(threads, [&](int t) {
    std::deque<std::vector<unsigned char>> out;
    std::vector<MPI_Request> sends;
    for (int i = 0; i < messages; ++i) {
      out.push_back(stamped({rank(), t, i}, size_of(i)));
      MPI_Isend(out.back().data(), static_cast<int>(out.back().size()), MPI_BYTE, (rank() + i) % size(), 3, comm,
                &sends.emplace_back());
    }
    for (int left = 2 * messages; left > 0;) {
      Found found;
      if (t % 2 == 0) {
        found.message = find(t % 4 == 0, MPI_ANY_SOURCE, 3, comm, found.status);
        const std::lock_guard guard(mutex);
        heap.push_back(found);
      } else {
        {
          std::unique_lock guard(mutex);
          if (heap.empty()) {
            guard.unlock();
            yield();
            continue;
          }
          found = heap.back();
          heap.pop_back();
        }
        MPI_Status status;
        received_once.got(read_stamped(receive(t % 3 == 0, found.message, found.status, status), status));
      }
      --left;
    }
    MPI_Waitall(messages, sends.data(), MPI_STATUSES_IGNORE);
  });
  equal(received_once.total(), threads * messages, "messages that arrived");
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  race_for_any(MPI_COMM_WORLD);
  promises(MPI_COMM_WORLD);
  found_by_others(MPI_COMM_WORLD);
}
