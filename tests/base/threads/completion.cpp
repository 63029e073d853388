// The families of wait and test, used by many threads at once: each thread completes its own requests in another way,
// and learns of every one of them exactly once.
#include <algorithm>

#include "base/threads/team.hpp"

namespace {

using namespace test;

constexpr int window = 16;

int size_of(int i) {
  constexpr int mixed[] = {8, 0, 1000, 20000, 40, 150000, 104, 3};
  return mixed[i % 8];
}

// A window of messages to the right and of receives from the left, in an array that also has holes.
struct Window {
  std::vector<std::vector<unsigned char>> out, in;
  std::vector<MPI_Request> requests;  // of each message: receive, hole, send
  std::vector<bool> seen;
  int left_over = 2 * window;
  int thread, round;

  Window(int t, int r, MPI_Comm comm) : thread(t), round(r) {
    for (int i = 0; i < window; ++i) {
      in.emplace_back(static_cast<std::size_t>(size_of(i)));
      out.push_back(message(mix(rank(), t, r, i), size_of(i)));
      const int tag = t * window + i;
      MPI_Irecv(in.back().data(), size_of(i), MPI_BYTE, left(), tag, comm, &requests.emplace_back());
      requests.push_back(MPI_REQUEST_NULL);
      MPI_Isend(out.back().data(), size_of(i), MPI_BYTE, right(), tag, comm, &requests.emplace_back());
    }
    seen.resize(requests.size());
  }
  int n() const { return static_cast<int>(requests.size()); }
  bool complete() const { return left_over == 0; }

  void completed(int index, const MPI_Status& status) {
    check(index >= 0 && index < n(), "the index is one of the array");
    const auto place = static_cast<std::size_t>(index);
    check(index % 3 != 1 && !seen[place], "each request completes once");
    check(requests[place] == MPI_REQUEST_NULL, "its handle becomes null");
    seen[place] = true;
    --left_over;
    if (index % 3 != 0) return;
    const int i = index / 3;
    equal(status.MPI_SOURCE, left(), "source");
    equal(status.MPI_TAG, thread * window + i, "tag");
    equal(count_of(status, MPI_BYTE), size_of(i), "size");
    expect_message(in[static_cast<std::size_t>(i)], mix(left(), thread, round, i), "content");
  }
  void all_completed(const std::vector<MPI_Status>& statuses) {
    for (int index = 0; index < n(); ++index)
      if (index % 3 != 1) completed(index, statuses[static_cast<std::size_t>(index)]);
  }
};

void waitany(Window& w) {
  while (!w.complete()) {
    int index;
    MPI_Status status;
    MPI_Waitany(w.n(), w.requests.data(), &index, &status);
    w.completed(index, status);
  }
  int index = 0;
  MPI_Waitany(w.n(), w.requests.data(), &index, MPI_STATUS_IGNORE);
  equal(index, MPI_UNDEFINED, "waitany when nothing is left");
}

void waitsome(Window& w) {
  std::vector<int> indices(w.requests.size());
  std::vector<MPI_Status> statuses(w.requests.size());
  int count = 0;
  while (!w.complete()) {
    MPI_Waitsome(w.n(), w.requests.data(), &count, indices.data(), statuses.data());
    check(count > 0, "waitsome completes at least one");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) w.completed(indices[i], statuses[i]);
  }
  MPI_Waitsome(w.n(), w.requests.data(), &count, indices.data(), statuses.data());
  equal(count, MPI_UNDEFINED, "waitsome when nothing is left");
}

void testany(Window& w) {
  while (!w.complete()) {
    int index, flag;
    MPI_Status status;
    MPI_Testany(w.n(), w.requests.data(), &index, &flag, &status);
    if (flag) w.completed(index, status);
  }
}

void testsome(Window& w) {
  std::vector<int> indices(w.requests.size());
  std::vector<MPI_Status> statuses(w.requests.size());
  while (!w.complete()) {
    int count;
    MPI_Testsome(w.n(), w.requests.data(), &count, indices.data(), statuses.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) w.completed(indices[i], statuses[i]);
  }
}

void testall(Window& w) {
  std::vector<MPI_Status> statuses(w.requests.size());
  for (int flag = 0; !flag;) MPI_Testall(w.n(), w.requests.data(), &flag, statuses.data());
  w.all_completed(statuses);
}

void waitall(Window& w) {
  std::vector<MPI_Status> statuses(w.requests.size());
  MPI_Waitall(w.n(), w.requests.data(), statuses.data());
  w.all_completed(statuses);
}

// In an order that has nothing to do with that of their starting.
void wait_or_test(Window& w, bool blocking) {
  for (int i = 0; i < w.n(); ++i) {
    const int index = (i * 7 + w.thread) % w.n();
    MPI_Request& request = w.requests[static_cast<std::size_t>(index)];
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Status status;
    if (blocking) MPI_Wait(&request, &status);
    for (int flag = blocking; !flag;) MPI_Test(&request, &flag, &status);
    w.completed(index, status);
  }
}

// Looks at requests without completing them, then completes what is known to be done.
void get_status(Window& w) {
  for (int index = 0; index < w.n(); ++index) {
    MPI_Request& request = w.requests[static_cast<std::size_t>(index)];
    if (request == MPI_REQUEST_NULL) continue;
    MPI_Status looked_at, status;
    for (int flag = 0; !flag;) MPI_Request_get_status(request, &flag, &looked_at);
    check(request != MPI_REQUEST_NULL, "looking at a request does not complete it");
    int flag;
    MPI_Test(&request, &flag, &status);
    check(flag != 0, "what was seen to be done is done");
    w.completed(index, status);
  }
}

// Waits for one of two messages, of which the neighbour sends the second only when it hears that the first is here.
void late_partner(int t, MPI_Comm comm) {
  int in[2] = {-1, -1}, out[2] = {t, t + 1}, index;
  MPI_Request receives[2];
  MPI_Irecv(&in[0], 1, MPI_INT, left(), 4000 + t, comm, &receives[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, left(), 5000 + t, comm, &receives[1]);
  MPI_Send(&out[1], 1, MPI_INT, right(), 5000 + t, comm);
  MPI_Waitany(2, receives, &index, MPI_STATUS_IGNORE);
  equal(index, 1, "the one that can complete");
  MPI_Sendrecv(nullptr, 0, MPI_INT, left(), 6000 + t, nullptr, 0, MPI_INT, right(), 6000 + t, comm, MPI_STATUS_IGNORE);
  MPI_Send(&out[0], 1, MPI_INT, right(), 4000 + t, comm);
  MPI_Waitany(2, receives, &index, MPI_STATUS_IGNORE);
  equal(index, 0, "the other one");
  equal(in[0], t, "the late message");
  equal(in[1], t + 1, "the early message");
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  constexpr int ways = 9;
  constexpr int rounds = 3;
  in_threads(team_size(ways), [](int t) {
    for (int round = 0; round < rounds; ++round) {
      Window w(t, round, MPI_COMM_WORLD);
      switch ((t + round) % ways) {
        case 0:
          waitany(w);
          break;
        case 1:
          waitsome(w);
          break;
        case 2:
          testany(w);
          break;
        case 3:
          testsome(w);
          break;
        case 4:
          testall(w);
          break;
        case 5:
          waitall(w);
          break;
        case 6:
        case 7:
          wait_or_test(w, (t + round) % ways == 6);
          break;
        default:
          get_status(w);
      }
      check(w.complete(), "all requests were reported");
      late_partner(t, MPI_COMM_WORLD);
    }
  });
}
