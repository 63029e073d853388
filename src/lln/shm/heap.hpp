// Memory of the job's segment, handed out to whoever needs memory that several ranks see.
//
// Every rank maps the segment at an address of its own, so what is shared is an Offset. Blocks come in powers of two
// from a page up, zero-filled when first used; free ones wait in a list per size. The segment is sparse: memory that
// nobody touches costs nothing, and a job that ends leaves nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heddle::lln::shm {

using Offset = std::uint64_t;  // from the heap's start; 0 is nowhere
inline constexpr Offset nowhere = 0;

class Heap {
 public:
  Heap() = default;
  // `base` is where this rank sees the heap; its content is zero before the first rank comes. The `first` bytes at
  // reserved() are not handed out: what lies there needs no pointer to be found.
  Heap(std::byte* base, std::size_t bytes, std::size_t first)
      : base_(base), bytes_(bytes), first_free_(page + (first + page - 1) / page * page) {}

  Offset reserved() const { return page; }

  // At least `bytes`, page aligned, `nowhere` if the segment is full. A block that was used before is not cleared.
  Offset allocate(std::size_t bytes);
  void release(Offset block, std::size_t bytes);

  template <class T>
  T* at(Offset offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }
  Offset offset_of(const void* p) const { return static_cast<Offset>(static_cast<const std::byte*>(p) - base_); }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr int size_classes = 32;  // of page << class

  struct Control;
  Control& control() const { return *reinterpret_cast<Control*>(base_); }

  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t first_free_ = page;
};

}  // namespace heddle::lln::shm
