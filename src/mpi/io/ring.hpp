// Reads and writes by the kernel's io_uring (io_uring(7)): they are submitted by a system call, and a thread of ours
// that blocks in the kernel receives their completions. The kernel's interface itself is used, of which this needs
// three calls; there is no library to be missing.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "mpi/io/device.hpp"

struct io_uring_cqe;
struct io_uring_params;
struct io_uring_sqe;

namespace heddle::io {

// One contiguous part of a file, and pieces of memory. It may be destroyed when its end has been reported.
struct Transfer {
  bool write = false;
  int descriptor = -1;
  std::int64_t offset = 0;
  std::vector<iovec> pieces{};
  Moved moved{};  // so far

  virtual void end() = 0;

  // The rest.
  iovec* next = nullptr;
  std::size_t left = 0;

 protected:
  ~Transfer() = default;
};

class Ring {
 public:
  // Null: the kernel refuses it (it is too old, forbids it, or has no memory to lock), or there is no thread.
  static std::unique_ptr<Ring> make();
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  // Begins it. False: the ring is full, and nothing has begun. Its end is told by the ring's thread.
  bool submit(Transfer& transfer);

 private:
  static constexpr unsigned entries = 64;

  explicit Ring(int descriptor) : descriptor_(descriptor) {}
  bool map(const io_uring_params& parameters);
  void work();
  bool push(Transfer* transfer);
  bool go_on(Transfer& transfer, int result);

  const int descriptor_;
  std::byte* rings_ = nullptr;  // both queues
  std::size_t rings_bytes_ = 0;
  io_uring_sqe* requests_ = nullptr;
  std::size_t requests_bytes_ = 0;
  // Within rings_.
  std::uint32_t* submit_tail_ = nullptr;
  std::uint32_t* submit_slots_ = nullptr;
  std::uint32_t submit_mask_ = 0;
  std::uint32_t* end_head_ = nullptr;
  std::uint32_t* end_tail_ = nullptr;
  std::uint32_t end_mask_ = 0;
  io_uring_cqe* ends_ = nullptr;

  std::mutex mutex_;      // of submission; held for a system call that does not wait
  unsigned running_ = 0;  // under mutex_
  std::thread thread_;
};

}  // namespace heddle::io
