// Buffers whose datatype was drawn from a seed: where in memory the bytes of a message lie is known here without asking
// MPI, so that both what a receive writes and what it must leave alone can be checked.
#pragma once

#include <memory>

#include "base/threads/random/where.hpp"

namespace random_program {

class Buffer {
 public:
  // Room for a message of `bytes`, laid out as `random` wants it.
  Buffer(int bytes, test::Random& random);
  // Contiguous room for up to `most` bytes.
  explicit Buffer(int most);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() { return memory_.data(); }
  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

  void fill(std::uint64_t key, int bytes);
  // The message lies here, and nothing else has been touched.
  void expect(std::uint64_t key, int bytes) const;

 private:
  struct Run {
    int at, length;
  };
  void contiguous(int bytes);
  void vector(int block, int blocks, int gap);
  void scattered(int bytes, test::Random& random);
  void spaced(int block, int blocks, int gap);

  static constexpr unsigned char untouched = 0xee;
  MPI_Datatype type_ = MPI_BYTE;
  int count_ = 0;
  std::vector<Run> runs_;  // of the message, in its order
  std::vector<unsigned char> memory_;
};

}  // namespace random_program
