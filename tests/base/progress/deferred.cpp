// Sends that are left to an idle core: they leave while the program is elsewhere, in order with whatever else goes to the same
// peer, and end like any other. Each part is repeated until some of its sends have been deferred.
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/tool/tool.hpp"

namespace {

using test::equal;
using test::rank;
using test::size;

// Ints of a message, on both sides of the borders between a slot, a copied message and one that announces itself.
constexpr int lengths[] = {1, 20, 100, 1000, 30, 600, 40'000, 2};
constexpr int longest = 40'000;
// That leaves with its data by any way, also to another node.
constexpr int medium = 300;

int partner() { return rank() ^ 1; }
bool paired() { return partner() < size(); }
bool sends() { return rank() < partner(); }  // of a pair

std::vector<int> numbers(int n, int first) {
  std::vector<int> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = first + i;
  return values;
}

void expect_numbers(const std::vector<int>& in, int n, int first) {
  equal(in[0], first, "the first number");
  equal(in[static_cast<std::size_t>(n) - 1], first + n - 1, "the last number");
}

void receive(int n, int first, int tag) {
  // Kept, so that the receiver sleeps again soon where new memory takes its time.
  thread_local std::vector<int> in(longest);
  in[0] = in[static_cast<std::size_t>(n) - 1] = -1;
  MPI_Status status;
  MPI_Recv(in.data(), longest, MPI_INT, partner(), tag, MPI_COMM_WORLD, &status);
  int count;
  MPI_Get_count(&status, MPI_INT, &count);
  equal(count, n, "length of the next message in order");
  expect_numbers(in, n, first);
}

// The core of this rank idles meanwhile.
void rest() { usleep(30); }

// The sender is not in the library when its messages arrive. One send after a pause calls no thread; those that follow soon do.
void leaves() {
  constexpr int rounds = 5, messages = 6;
  const std::vector<int> out = numbers(medium, 0);
  for (int i = 0; i < rounds; ++i) {
    MPI_Request requests[messages];
    for (MPI_Request& request : requests) {
      if (!sends()) {
        receive(medium, 0, 1);
        continue;
      }
      rest();
      MPI_Isend(out.data(), medium, MPI_INT, partner(), 1, MPI_COMM_WORLD, &request);
    }
    if (!sends()) continue;
    usleep(500);
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  }
}

// Nonblocking and blocking sends of all lengths in one order, with one tag.
void keep_order(int tag) {
  constexpr int messages = 64;
  std::vector<std::vector<int>> out;
  std::vector<MPI_Request> requests;
  for (int i = 0; i < messages; ++i) {
    const int n = lengths[i % 8];
    if (!sends()) {
      receive(n, i, tag);
      continue;
    }
    out.push_back(numbers(n, i));
    if (i % 4 == 0) rest();
    if (i % 3 == 2 && n != longest) {
      MPI_Send(out.back().data(), n, MPI_INT, partner(), tag, MPI_COMM_WORLD);
    } else {
      MPI_Isend(out.back().data(), n, MPI_INT, partner(), tag, MPI_COMM_WORLD, &requests.emplace_back());
    }
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

void ordered() { keep_order(2); }

void ordered_by_threads() {
  std::vector<std::thread> team;
  for (int thread = 0; thread < 3; ++thread) team.emplace_back(keep_order, 10 + thread);
  for (std::thread& thread : team) thread.join();
}

// More than the way to the partner has room for, before the partner receives the first.
void full() {
  constexpr int many = 1500;
  if (!sends()) {
    usleep(20'000);
    for (int i = 0; i < many; ++i) receive(lengths[i % 6], i, 3);
    return;
  }
  std::vector<std::vector<int>> out;
  std::vector<MPI_Request> requests(many);
  for (int i = 0; i < many; ++i) {
    out.push_back(numbers(lengths[i % 6], i));
    if (i < 8) rest();
    MPI_Isend(out.back().data(), lengths[i % 6], MPI_INT, partner(), 3, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  }
  MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
}

// The buffer is the program's again as soon as the send is done, and not before: by waiting, by testing alone.
void reused() {
  constexpr int rounds = 40;
  std::vector<int> out(medium);
  for (int i = 0; i < rounds; ++i) {
    if (!sends()) {
      receive(medium, i, 4);
      continue;
    }
    out = numbers(medium, i);
    rest();
    MPI_Request request;
    MPI_Isend(out.data(), medium, MPI_INT, partner(), 4, MPI_COMM_WORLD, &request);
    if (i % 2 == 0) {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
      for (int done = 0; done == 0;) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    std::fill(out.begin(), out.end(), -1);
  }
}

// All calls that begin a send and return.
void kinds() {
  constexpr int n = medium;
  const std::vector<int> out = numbers(n, 5);
  std::vector<int> in(n), both = numbers(n, rank());
  MPI_Request requests[3];
  if (sends()) {
    rest();
    MPI_Issend(out.data(), n, MPI_INT, partner(), 5, MPI_COMM_WORLD, &requests[0]);
    rest();
    MPI_Ibsend(out.data(), n, MPI_INT, partner(), 5, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(out.data(), n, MPI_INT, partner(), 5, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 5; ++i) {
      rest();
      MPI_Start(&requests[2]);
      MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[2]);
  } else {
    for (int i = 0; i < 7; ++i) receive(n, 5, 5);
  }
  for (int i = 0; i < 5; ++i) {
    rest();
    MPI_Isendrecv(out.data(), n, MPI_INT, partner(), 6, in.data(), n, MPI_INT, partner(), 6, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    expect_numbers(in, n, 5);
    rest();
    MPI_Isendrecv_replace(both.data(), n, MPI_INT, partner(), 6, partner(), 6, MPI_COMM_WORLD, requests);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    expect_numbers(both, n, i % 2 == 0 ? partner() : rank());
  }
}

// A send without a waiting thread leaves all the same; one that is cancelled before an idle core has sent it is not received, and is sent
// once more. `last` is kept until it has left.
std::vector<int> last = numbers(medium, 7);

void given_up() {
  for (int i = 0; i < 10; ++i) {
    if (!sends()) {
      receive(medium, 7, 7);
      receive(medium, 7, 7);
      continue;
    }
    MPI_Request freed, cancelled;
    rest();
    MPI_Isend(last.data(), medium, MPI_INT, partner(), 7, MPI_COMM_WORLD, &freed);
    MPI_Request_free(&freed);
    rest();
    MPI_Isend(last.data(), medium, MPI_INT, partner(), 7, MPI_COMM_WORLD, &cancelled);
    MPI_Cancel(&cancelled);
    MPI_Status status;
    MPI_Wait(&cancelled, &status);
    int was_cancelled;
    MPI_Test_cancelled(&status, &was_cancelled);
    if (was_cancelled) MPI_Send(last.data(), medium, MPI_INT, partner(), 7, MPI_COMM_WORLD);
  }
}

// The kernel's state of a thread of this process.
class Watched {
 public:
  explicit Watched(pid_t thread) : state_(open_of(thread, "stat")), turns_(open_of(thread, "schedstat")) {}
  ~Watched() {
    close(state_);
    close(turns_);
  }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  bool is_blocked() const { return read(state_).find(") S ") != std::string::npos; }
  // For 5 ms, so not for a lock that it gets at once.
  bool stays_blocked() const {
    const std::string before = turns();
    usleep(5'000);
    return is_blocked() && turns() == before;
  }
  // Changes whenever it gets a core. Quick to read: between two looks of an idle core.
  std::string turns() const { return read(turns_); }

 private:
  static int open_of(pid_t thread, const char* file) {
    const std::string path = "/proc/self/task/" + std::to_string(thread) + "/" + file;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    test::check(fd >= 0, path.c_str());
    return fd;
  }
  static std::string read(int fd) {
    char text[512];
    const ssize_t n = pread(fd, text, sizeof text, 0);
    return {text, n > 0 ? static_cast<std::size_t>(n) : 0};
  }

  int state_, turns_;
};

// Sends that were made while another thread slept, and those of them that were left to an idle core.
struct Beside {
  int sends = 0;
  int deferred = 0;
};

// Another thread sleeps until something moves: it must not depend on a core that any thread may take.
void block_beside(const test::Counter& deferred, Beside& all) {
  constexpr int messages = 20;
  std::vector<int> in(longest);
  if (!sends()) {
    for (int i = 0; i < messages; ++i) receive(medium, i, 9);
    MPI_Send(nullptr, 0, MPI_INT, partner(), 10, MPI_COMM_WORLD);
    return;
  }
  std::atomic<pid_t> receiver{0};
  std::thread blocked([&] {
    receiver.store(gettid());
    MPI_Recv(nullptr, 0, MPI_INT, partner(), 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  });
  while (receiver.load() == 0) usleep(1'000);
  {
    const Watched thread(receiver.load());
    while (!thread.stays_blocked()) {
    }
    std::vector<std::vector<int>> out;
    MPI_Request requests[messages];
    for (int i = 0; i < messages; ++i) {
      out.push_back(numbers(medium, i));
      const unsigned long long before = deferred.read();
      const std::string turns = thread.turns();
      const bool slept = thread.is_blocked();
      rest();
      const bool sleeps = slept && thread.turns() == turns;
      MPI_Isend(out.back().data(), medium, MPI_INT, partner(), 9, MPI_COMM_WORLD, &requests[i]);
      if (!sleeps) continue;  // what the partner says of the sends before wakes it for a moment, between nodes
      ++all.sends;
      all.deferred += deferred.read() != before;
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  }
  blocked.join();
}

// Finalizing sends what has been left.
void leave_behind() {
  if (!paired()) return;
  if (!sends()) return receive(medium, 7, 8);
  MPI_Request request;
  rest();
  MPI_Isend(last.data(), medium, MPI_INT, partner(), 8, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
}

class Parts {
 public:
  Parts() {
    test::ok(MPI_T_pvar_session_create(&session_));
    deferred_ = new test::Counter(session_, "vni_messages_deferred");
  }
  ~Parts() {
    delete deferred_;
    test::ok(MPI_T_pvar_session_free(&session_));
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  const test::Counter& deferred() const { return *deferred_; }

  void perform(void (*part)(), const char* missed) {
    const unsigned long long before = deferred_->read();
    repeat(
        [&] {
          part();
          return deferred_->read() != before;
        },
        missed);
  }

  // Until `part` has met what it is for on one rank: what the machine does besides may keep its cores from idling for a while.
  template <class Part>
  static void repeat(Part part, const char* missed) {
    constexpr double longest = 25;  // seconds; all parts together stay within the limit of a test
    const double end = MPI_Wtime() + longest;
    for (;;) {
      const int mine[2] = {paired() && part(), MPI_Wtime() > end};
      int any[2];
      MPI_Allreduce(mine, any, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (any[0] != 0 || size() == 1) return;
      test::check(any[1] == 0, missed);
    }
  }

 private:
  const test::Tool tool_;
  MPI_T_pvar_session session_;
  test::Counter* deferred_;
};

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  prctl(PR_SET_TIMERSLACK, 1);  // rest() takes what it says: sends that come seldom are not deferred
  {
    Parts parts;
    parts.perform(leaves, "no send was deferred");
    parts.perform(ordered, "no send was deferred between others");
    parts.perform(ordered_by_threads, "no send was deferred between those of other threads");
    parts.perform(full, "no send was deferred to a channel that is full");
    parts.perform(reused, "no send was deferred whose buffer is used again");
    parts.perform(kinds, "no send was deferred that is no MPI_Isend");
    parts.perform(given_up, "no send was deferred that is given up");
    Beside beside;
    constexpr int enough = 60;
    parts.repeat([&] { return block_beside(parts.deferred(), beside), beside.sends >= enough; },
                 "few sends were made while another thread slept");
    // It may be woken at the very moment of a send.
    test::check(beside.deferred <= beside.sends / 20, "sends were left to an idle core while a thread slept");
  }
  leave_behind();
}
