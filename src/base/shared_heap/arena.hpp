// Blocks of whole pages in one range of addresses: the smallest free run that is large enough, else pages that were
// never used, and the free run in front of those. Neighbours that are free are one run.
//
// The data of a run are kept beside the range, at its first and its last page, so that a program that writes beyond a
// block destroys nothing of this, and a child of fork has a state of its own. None of it comes from malloc, which
// stands above this.
//
// Not for several threads at once: malloc.cpp has a lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::shared_heap {

class Arena {
 public:
  static constexpr std::size_t page = 4096;
  struct Run {
    std::byte* start;
    std::size_t bytes;
  };

  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Manages so many bytes at `start`, whole pages, of which the first few are reserved for another user. False: there is no
  // memory for its own records.
  bool begin(std::byte* start, std::size_t bytes, std::size_t reserved);

  bool contains(const void* p) const {
    return static_cast<const std::byte*>(p) >= start_ && static_cast<const std::byte*>(p) < start_ + pages_ * page;
  }
  // Null: it is full. `alignment` is a power of two; of a page it is always. `fresh`: the block was never used, and so
  // is zero.
  void* allocate(std::size_t bytes, std::size_t alignment, bool& fresh);
  // The usable bytes of an allocated block, at least the requested number.
  std::size_t size_of(const void* block) const;
  // Resizes it in place. False: the memory behind it is not free.
  bool resize(void* block, std::size_t bytes);
  // The free run that it is a part of then.
  Run release(void* block);

 private:
  using Page = std::uint32_t;  // by number
  static constexpr Page none = 0;
  static constexpr int lists = 32;  // of free runs of 2^n pages and more

  // At the first and the last page of a run; `next` and `previous` at the first of a free one.
  struct Tag {
    Page pages;
    bool free;
    Page next;
    Page previous;
  };

  static int list_of(Page pages) { return 31 - __builtin_clz(pages); }
  Page page_of(const void* p) const {
    return static_cast<Page>(static_cast<std::size_t>(static_cast<const std::byte*>(p) - start_) / page);
  }
  void mark(Page first, Page pages, bool free);
  void put(Page first, Page pages);
  void take(Page first);
  // A run of at least so many pages, off its list; `none`.
  Page find(Page pages);
  Page give_back(Page first, Page pages);

  std::byte* start_ = nullptr;
  std::size_t pages_ = 0;
  Page first_ = 0;
  Page unused_ = 0;  // this page and those behind it were never handed out
  Tag* tags_ = nullptr;
  Page free_[lists] = {};
};

}  // namespace heddle::shared_heap
