// The memory of MPI_Alloc_mem. Large blocks lie in the node's shared memory, if there are ranks of other processes
// there: those copy long messages from and to such a block themselves, once (boot::PeerMemory::see), and access a
// window of it by load and store.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "base/node/heap.hpp"
#include "base/threads/mutex.hpp"

namespace heddle {

struct Rank;

class AllocatedMemory {
 public:
  // Null: no memory. `alignment` is a power of two.
  void* allocate(Rank& rank, std::size_t bytes, std::size_t alignment);
  void release(Rank& rank, void* memory);

 private:
  struct Block {
    node::Offset offset;
    std::size_t bytes;
  };

  void* share(Rank& rank, std::size_t bytes);

  threads::Mutex mutex_;
  std::map<void*, Block> shared_;
};

}  // namespace heddle
