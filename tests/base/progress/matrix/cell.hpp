// The two halves of a cell of the progress matrix: a call in which one thread of rank 0 blocks, and what another thread of rank 0
// leaves behind, to be moved while it does. Rank 1 is the partner of both. Each half has its own communicators.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

namespace matrix {

inline constexpr int rank_that_blocks = 0;
inline constexpr int partner = 1;

// True if the kernel copies between processes, or long messages go through shared memory.
enum class Copy { by_kernel, staged };

// A call that blocks on rank 0 until rank 1 releases it. prepare() is called by both ranks, a barrier follows; then block() on
// rank 0, and release() on rank 1 once the deferred work has had its effect. A call that waits for a message of rank 0 itself is
// released by the other thread of rank 0, in release_beside(), which makes no call that waits for the blocked thread.
struct Blocking {
  virtual ~Blocking() = default;
  virtual const char* name() const = 0;
  virtual void prepare(int rank) { (void)rank; }
  virtual void block() = 0;
  virtual void release() {}
  virtual void release_beside() {}
};

// The operation that a thread of rank 0 begins and leaves. announce() is called by both ranks, a barrier follows, then accept() on rank 0, which
// may wait until what rank 1 has announced is there. leave() makes nonblocking calls only; effect() on rank 1 returns when it has
// seen what can only be seen if rank 0 goes on moving what was left; finish() on rank 0 ends the operations after that.
struct Work {
  virtual ~Work() = default;
  virtual const char* name() const = 0;
  virtual void announce(int rank) { (void)rank; }
  virtual void accept() {}
  virtual void leave() = 0;
  virtual void effect() = 0;
  virtual void finish() = 0;
  // How many long messages this rank receives meanwhile that only the kernel could copy in one piece.
  virtual int long_messages(int rank) const { return (void)rank, 0; }
};

// All of them, made and destroyed by both ranks together.
std::vector<std::unique_ptr<Blocking>> all_blocking();
std::vector<std::unique_ptr<Blocking>> all_to_itself();
std::vector<std::unique_ptr<Work>> all_work(Copy copy);

}  // namespace matrix
