// Long messages whose copying both sides may share: every pairing of runs and layouts, sizes around the borders of chunks,
// receives that are too short, and a partner that is late or does not come back before the other side has done it all: of which a
// staged copy does what does not fit into its ring. The argument, if there is one, becomes HEDDLE_SPLIT_COPY.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

// Bytes, all of them multiples of `block`.
constexpr int block = 4;
constexpr int sizes[] = {4100,  16384,  32764,  32768,  32772,          65536,
                         65540, 131072, 262148, 524288, (1 << 20) + 12, 5000000};

// A message of so many bytes in memory: one run, or blocks with gaps as wide.
class Data {
 public:
  Data(int bytes, bool strided)
      : bytes_(bytes),
        stride_(strided ? 2 * block : block),
        memory_(static_cast<std::size_t>(bytes / block * stride_), gap) {
    MPI_Type_vector(bytes / block, block, stride_, MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  ~Data() { MPI_Type_free(&type_); }
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;

  void fill(int salt) {
    for (int i = 0; i < bytes_; ++i) at(i) = value(i, salt);
  }
  // The first `bytes` are of a message that was filled so, and nothing else has been touched.
  void expect(int bytes, int salt) {
    for (int i = 0; i < bytes_; ++i) equal(at(i), i < bytes ? value(i, salt) : gap, "byte of the message");
    if (stride_ == block) return;
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (i % static_cast<std::size_t>(stride_) >= block) equal(memory_[i], gap, "byte between blocks");
  }
  void* memory() { return memory_.data(); }
  MPI_Datatype type() const { return type_; }

 private:
  static constexpr unsigned char gap = 0xEE;
  static unsigned char value(int i, int salt) { return static_cast<unsigned char>((i * 7 + i / 251 + salt) % 0xEE); }
  unsigned char& at(int i) { return memory_.data()[i / block * stride_ + i % block]; }

  int bytes_;
  int stride_;
  std::vector<unsigned char> memory_;
  MPI_Datatype type_;
};

enum class Late { none, sender, receiver, sender_after_start, receiver_after_start };

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

void exchange(int bytes, bool from_strided, bool to_strided, Late late, int salt) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) {
    Data data(bytes, from_strided);
    data.fill(salt);
    if (late == Late::sender) pause();
    MPI_Request request;
    MPI_Isend(data.memory(), 1, data.type(), 1, 3, MPI_COMM_WORLD, &request);
    if (late == Late::sender_after_start) pause();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    data.expect(bytes, salt);
  } else if (test::rank() == 1) {
    Data data(bytes, to_strided);
    if (late == Late::receiver) pause();
    MPI_Status status;
    MPI_Request request;
    if (late == Late::receiver_after_start) MPI_Probe(0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(data.memory(), 1, data.type(), 0, 3, MPI_COMM_WORLD, &request);
    if (late == Late::receiver_after_start) pause();
    MPI_Wait(&request, &status);
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    equal(count, bytes, "bytes received");
    data.expect(bytes, salt);
  }
}

// Excess bytes are not written, to the byte.
void truncated(int bytes, int room, bool from_strided, bool to_strided) {
  if (test::rank() == 0) {
    Data data(bytes, from_strided);
    data.fill(1);
    MPI_Send(data.memory(), 1, data.type(), 1, 4, MPI_COMM_WORLD);
  } else if (test::rank() == 1) {
    Data data(room, to_strided);
    int error_class = MPI_SUCCESS;
    MPI_Error_class(MPI_Recv(data.memory(), 1, data.type(), 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE), &error_class);
    equal(error_class, MPI_ERR_TRUNCATE, "a receive without room for all");
    data.expect(room, 1);
  }
}

// Several at once in both directions: each transfer is shared with any waiting thread.
void crossing(int bytes) {
  constexpr int many = 6;
  if (test::rank() > 1) return;
  const int peer = 1 - test::rank();
  std::vector<std::unique_ptr<Data>> data;
  std::vector<MPI_Request> requests(2 * many);
  for (int i = 0; i < many; ++i) {
    Data& in = *data.emplace_back(std::make_unique<Data>(bytes, i % 3 == 1));
    MPI_Irecv(in.memory(), 1, in.type(), peer, i, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < many; ++i) {
    Data& out = *data.emplace_back(std::make_unique<Data>(bytes, i % 3 == 2));
    out.fill(10 * test::rank() + i);
    MPI_Isend(out.memory(), 1, out.type(), peer, i, MPI_COMM_WORLD, &requests[static_cast<std::size_t>(many + i)]);
  }
  MPI_Waitall(2 * many, requests.data(), MPI_STATUSES_IGNORE);
  for (int i = 0; i < many; ++i) data[static_cast<std::size_t>(i)]->expect(bytes, 10 * peer + i);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1) setenv("HEDDLE_SPLIT_COPY", argv[1], 1);
  const test::Session session(&argc, &argv);
  int salt = 0;
  for (const int bytes : sizes)
    for (const bool from_strided : {false, true})
      for (const bool to_strided : {false, true})
        for (const Late late :
             {Late::none, Late::sender, Late::receiver, Late::sender_after_start, Late::receiver_after_start})
          exchange(bytes, from_strided, to_strided, late, ++salt);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const bool from_strided : {false, true})
    for (const bool to_strided : {false, true}) {
      truncated(1000000, 40000, from_strided, to_strided);
      truncated(40000, 20000, from_strided, to_strided);
    }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  for (const int bytes : {32768, 300000}) crossing(bytes);
}
