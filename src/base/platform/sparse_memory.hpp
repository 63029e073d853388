// Memory of which a process maps only the parts that it uses: a file in memory that other processes share, or memory of
// its own.
//
// Addresses are contiguous, mapped or not, so an offset is found by an addition. A process that gets an offset from
// another one calls reach() before the first access.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/platform/address_range.hpp"
#include "base/platform/zeroed_array.hpp"

namespace heddle::platform {

class SparseMemory {
 public:
  // A part is mapped as a whole.
  static constexpr std::size_t part_bytes = std::size_t{4} << 20;

  // Memory of this process, zero at first. Null, with errno: no memory.
  static std::shared_ptr<SparseMemory> make(std::size_t bytes);
  // For a file, which this object closes. Programs may close descriptors that they do not know; then the file is opened
  // again by `path`, if it has one.
  static std::shared_ptr<SparseMemory> make(std::size_t bytes, int file, std::string path);
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;
  // Mapped parts stay so: calls such as MPI_Abort use them after all else has ended.
  ~SparseMemory();

  std::byte* start() const { return range_.start(); }
  std::size_t bytes() const { return bytes_; }

  // Maps the unmapped parts of [from, from + n). False, with errno: it cannot be mapped. Any thread.
  bool reach(const void* from, std::size_t n) {
    const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(from) - start());
    if (n == 0 || at >= bytes_ || n > bytes_ - at) [[unlikely]]
      return n == 0;
    const std::size_t last = (at + n - 1) / part_bytes;
    for (std::size_t part = at / part_bytes; part <= last; ++part)
      if (mapped_[part].load(std::memory_order_acquire) == 0) [[unlikely]]
        return map_missing(part, last);
    return true;
  }

 private:
  SparseMemory(std::size_t bytes, int file, std::string path);

  bool map_missing(std::size_t first, std::size_t last);
  bool has_file();

  AddressRange range_;
  std::size_t bytes_;
  int file_;  // AddressRange::no_file: private memory
  std::string path_;
  std::uint64_t identity_[2];                      // of the file: device and inode
  std::mutex mutex_;                               // guards the mapping
  ZeroedArray<std::atomic<std::uint8_t>> mapped_;  // by part: 1 once it is mapped
};

}  // namespace heddle::platform
