// A rank's operations go on while its only thread is elsewhere: it makes no MPI call at all until its peers are through
// with their part, and they can't be without it.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "mpi/board.hpp"
#include "mpi/check.hpp"

namespace {

using test::equal;
using test::rank;
using test::size;

constexpr int large = 1'000'000;

// A word for each rank, by which it tells others something without MPI.
class Word {
 public:
  void tell(int news) { board_[rank()].store(news); }
  void await(int of, int news) {
    while (board_[of].load() != news) usleep(100);
  }

 private:
  test::Board board_;
};

int partner() { return rank() ^ 1; }
bool paired() { return partner() < size(); }
bool away() { return rank() < partner(); }  // of a pair, the one that is elsewhere

std::vector<int> numbers(int n, int of) {
  std::vector<int> values(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = i * 3 + of;
  return values;
}

// Every second element of a vector, which no process can read of another in one piece.
MPI_Datatype with_gaps() {
  MPI_Datatype one, spread;
  MPI_Type_vector(1, 1, 2, MPI_INT, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(int), &spread);
  MPI_Type_free(&one);
  MPI_Type_commit(&spread);
  return spread;
}

// The receive was posted before the rank went away, or finds a message that had come by then.
void receives(Word& word, std::uint32_t news, MPI_Datatype type, int stride, bool early) {
  if (!paired()) return;
  if (away()) {
    std::vector<int> in(static_cast<std::size_t>(large) * static_cast<std::size_t>(stride), -1);
    MPI_Request request;
    if (!early) MPI_Probe(partner(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in.data(), large, type, partner(), 1, MPI_COMM_WORLD, &request);
    word.await(partner(), news);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < large; i += large / 7)
      equal(in[static_cast<std::size_t>(i) * static_cast<std::size_t>(stride)], i * stride * 3 + partner(),
            "a long message");
  } else {
    const std::vector<int> out = numbers(large * stride, rank());
    MPI_Ssend(out.data(), large, type, partner(), 1, MPI_COMM_WORLD);
    word.tell(news);
  }
}

void sends(Word& word, std::uint32_t news, MPI_Datatype type, int stride) {
  if (!paired()) return;
  if (away()) {
    const std::vector<int> out = numbers(large * stride, rank());
    MPI_Request request;
    MPI_Isend(out.data(), large, type, partner(), 2, MPI_COMM_WORLD, &request);
    word.await(partner(), news);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    std::vector<int> in(static_cast<std::size_t>(large) * static_cast<std::size_t>(stride), -1);
    MPI_Recv(in.data(), large, type, partner(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < large; i += large / 7)
      equal(in[static_cast<std::size_t>(i) * static_cast<std::size_t>(stride)], i * stride * 3 + partner(),
            "a long message");
    word.tell(news);
  }
}

// More short messages than the way to the partner has room for.
void sends_many(Word& word, std::uint32_t news) {
  constexpr int many = 2000;
  if (!paired()) return;
  if (away()) {
    const std::vector<int> out = numbers(many, rank());
    std::vector<MPI_Request> requests(many);
    for (std::size_t i = 0; i < many; ++i) MPI_Isend(&out[i], 1, MPI_INT, partner(), 3, MPI_COMM_WORLD, &requests[i]);
    word.await(partner(), news);
    MPI_Waitall(many, requests.data(), MPI_STATUSES_IGNORE);
  } else {
    for (int i = 0; i < many; ++i) {
      int in = -1;
      MPI_Recv(&in, 1, MPI_INT, partner(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      equal(in, 3 * i + partner(), "one of many messages");
    }
    word.tell(news);
  }
}

// Rank 0 only starts it; all others complete it, which takes rank 0 in the middle.
template <class Start, class Check>
void collective(Word& word, std::uint32_t news, Start&& start, Check&& check) {
  MPI_Request request;
  start(&request);
  if (rank() == 0) {
    for (int other = 1; other < size(); ++other) word.await(other, news);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    word.tell(news);
  }
  check();
}

void collectives(Word& word, std::uint32_t news) {
  collective(
      word, news, [](MPI_Request* request) { MPI_Ibarrier(MPI_COMM_WORLD, request); }, [] {});
  std::vector<int> out = numbers(100'000, rank()), sum(out.size(), -1);
  collective(
      word, news + 1,
      [&](MPI_Request* request) {
        MPI_Iallreduce(out.data(), sum.data(), static_cast<int>(out.size()), MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
      },
      [&] { equal(sum.back(), size() * out.back() - size() * rank() + size() * (size() - 1) / 2, "allreduce"); });
}

// Functions of the program run in its own threads, whichever thread makes progress. (Not so where a communication thread executes
// everything: submit=offload.)
std::atomic<int> foreign_count = 0;
pthread_t only_thread;

void add(void* in, void* inout, int* n, MPI_Datatype*) {
  if (!pthread_equal(pthread_self(), only_thread)) ++foreign_count;
  for (int i = 0; i < *n; ++i) static_cast<int*>(inout)[i] += static_cast<int*>(in)[i];
}

void users_operation() {
  const char* model = std::getenv("HEDDLE_MODEL");
  if (model != nullptr && std::strcmp(model, "offload") == 0) return;
  only_thread = pthread_self();
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  for (int round = 0; round < 5; ++round) {
    std::vector<int> out = numbers(20'000, rank()), sum(out.size(), -1);
    MPI_Request request;
    MPI_Iallreduce(out.data(), sum.data(), static_cast<int>(out.size()), MPI_INT, op, MPI_COMM_WORLD, &request);
    usleep(5000);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    equal(sum.back(), size() * out.back() - size() * rank() + size() * (size() - 1) / 2, "the program's operation");
  }
  equal(foreign_count.load(), 0, "calls of the program's operation by another thread");
  MPI_Op_free(&op);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    Word word;
    MPI_Datatype spread = with_gaps();
    receives(word, 1, MPI_INT, 1, true);
    receives(word, 2, MPI_INT, 1, false);
    receives(word, 3, spread, 2, true);
    sends(word, 4, MPI_INT, 1);
    sends(word, 5, spread, 2);
    sends_many(word, 6);
    collectives(word, 7);
    users_operation();
    MPI_Type_free(&spread);
  }
  MPI_Finalize();
}
