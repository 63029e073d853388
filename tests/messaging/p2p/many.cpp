// Many messages between two nodes, of each rank as many as the first argument says, short ones and now and then a longer or a long one, on
// two communicators: none is lost, doubled or out of order. So many rails as the second argument says have their part of the bytes. The
// third one, if there is one, is a seed.
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <numeric>
#include <random>
#include <vector>

#include "mpi/check.hpp"
#include "mpi/tool/tool.hpp"

namespace {

constexpr int under_way = 200;  // receives, and as many sends
constexpr std::array<std::size_t, 3> lengths{8, 3000, 40'000};

// The description of message `number` of a rank on a communicator: the same for who sends and who receives it.
struct Message {
  Message(unsigned seed, int comm, long number) : number_(number) {
    std::minstd_rand random(seed + static_cast<unsigned>(number) * 2 + static_cast<unsigned>(comm));
    random.discard(2);
    const auto kind = random() % 1000;
    bytes = lengths[kind < 5 ? 2 : kind < 20 ? 1 : 0];
    tag = static_cast<int>(random() % 3);
  }
  void fill(char* data) const {
    for (std::size_t at = 0; at < bytes; at += sizeof number_) {
      const long word = number_ + static_cast<long>(at);
      std::memcpy(data + at, &word, sizeof word);
    }
  }
  bool is_in(const char* data) const {
    for (std::size_t at = 0; at < bytes; at += sizeof number_) {
      long word;
      std::memcpy(&word, data + at, sizeof word);
      if (word != number_ + static_cast<long>(at)) return false;
    }
    return true;
  }
  std::size_t bytes;
  int tag;

 private:
  long number_;
};

// The messages of one direction on one communicator.
class Stream {
 public:
  Stream(MPI_Comm comm, int which, bool receives, unsigned seed)
      : comm_(comm), which_(which), receives_(receives), seed_(seed), buffers_(under_way), requests_(under_way) {
    for (auto& buffer : buffers_) buffer.resize(lengths.back());
  }
  // Begins as many as there is room for, and ends those that are done. True if all are.
  bool step(long messages) {
    for (; begun_ < messages && begun_ - ended_ < under_way; ++begun_) begin();
    for (int done = 1; ended_ < begun_; ++ended_) {
      MPI_Status status;
      MPI_Test(&request(ended_), &done, &status);
      if (!done) break;
      if (receives_) check(status);
    }
    return ended_ == messages;
  }

 private:
  MPI_Request& request(long number) { return requests_[static_cast<std::size_t>(number % under_way)]; }
  char* data(long number) { return buffers_[static_cast<std::size_t>(number % under_way)].data(); }
  void begin() {
    const Message message(seed_, which_, begun_);
    const int peer = 1 - test::rank();
    if (receives_) {
      // Whatever the tag: the order is that of the communicator.
      MPI_Irecv(data(begun_), static_cast<int>(lengths.back()), MPI_BYTE, peer, MPI_ANY_TAG, comm_, &request(begun_));
    } else {
      message.fill(data(begun_));
      MPI_Isend(data(begun_), static_cast<int>(message.bytes), MPI_BYTE, peer, message.tag, comm_, &request(begun_));
    }
  }
  void check(const MPI_Status& status) {
    const Message message(seed_, which_, ended_);
    int bytes;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    test::equal(bytes, static_cast<long long>(message.bytes), "bytes of a message");
    test::equal(status.MPI_TAG, message.tag, "tag");
    test::check(message.is_in(data(ended_)), "data of a message");
  }

  const MPI_Comm comm_;
  const int which_;
  const bool receives_;
  const unsigned seed_;
  std::vector<std::vector<char>> buffers_;
  std::vector<MPI_Request> requests_;
  long begun_ = 0;
  long ended_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const test::Session mpi(&argc, &argv);
  test::check(argc > 2, "how many messages, and over how many rails");
  const long messages = std::strtol(argv[1], nullptr, 10) / 2;
  const std::size_t expected = std::strtoul(argv[2], nullptr, 10);
  const unsigned seed = test::seed(argc - 2, argv + 2);
  const test::Tool tool;
  MPI_T_pvar_session session;
  test::ok(MPI_T_pvar_session_create(&session), "MPI_T_pvar_session_create");
  {
    std::deque<test::Counter> rails;
    for (const char* rail : {"vni_bytes_sent_over_rail_0", "vni_bytes_sent_over_rail_1", "vni_bytes_sent_over_rail_2"})
      rails.emplace_back(session, rail);
    MPI_Comm second;
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    std::vector<Stream> streams;
    for (const bool receives : {true, false}) {
      streams.emplace_back(MPI_COMM_WORLD, 0, receives, seed);
      streams.emplace_back(second, 1, receives, seed);
    }
    for (bool all = false; !all;) {
      all = true;
      for (Stream& stream : streams) all &= stream.step(messages);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&second);
    std::vector<unsigned long long> bytes;
    for (const test::Counter& rail : rails) bytes.push_back(rail.read());
    const unsigned long long sum = std::accumulate(bytes.begin(), bytes.end(), 0ULL);
    std::printf("rank %d: %ld messages, %llu bytes: %llu + %llu + %llu\n", test::rank(), 2 * messages, sum, bytes[0],
                bytes[1], bytes[2]);
    for (std::size_t rail = 0; rail < expected; ++rail)
      test::check(bytes[rail] > sum / (4 * expected), "each rail has its part");
  }
  test::ok(MPI_T_pvar_session_free(&session), "MPI_T_pvar_session_free");
}
