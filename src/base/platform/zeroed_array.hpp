// An array of which a page is memory once it has been touched: for arrays indexed by rank, of which a rank uses a few
// elements.
//
// All bytes are zero at first, so T is a type that is valid then: of numbers, pointers and atomics of these, all zero
// when new.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

// The leak sanitizer's, and null without it: it searches for pointers only in memory that it has been told of, which
// mapped memory is not.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" [[gnu::weak, gnu::visibility("default")]] void __lsan_register_root_region(const void* begin,
                                                                                      std::size_t bytes);
extern "C" [[gnu::weak, gnu::visibility("default")]] void __lsan_unregister_root_region(const void* begin,
                                                                                        std::size_t bytes);
// NOLINTEND(bugprone-reserved-identifier)

namespace heddle::platform {

template <class T>
class ZeroedArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  // Throws std::bad_alloc.
  explicit ZeroedArray(std::size_t size) : bytes_(size * sizeof(T[1])) {
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    if (__lsan_register_root_region != nullptr) __lsan_register_root_region(memory, bytes_);
    elements_ = static_cast<T*>(memory);
  }
  ~ZeroedArray() {
    if (__lsan_unregister_root_region != nullptr) __lsan_unregister_root_region(elements_, bytes_);
    munmap(elements_, bytes_);
  }
  ZeroedArray(const ZeroedArray&) = delete;
  ZeroedArray& operator=(const ZeroedArray&) = delete;

  T& operator[](std::size_t i) const { return elements_[i]; }

 private:
  std::size_t bytes_;
  T* elements_;
};

}  // namespace heddle::platform
