// A range of a file in memory, shared with all openers of the file: a store writes its own bytes and no others, for the
// price of a copy. Short runs that lie close together are written this way, since a system call for each costs 1 to 20
// us.
//
// Only on file systems whose mappings and system calls see the same pages, on this machine: a network file system
// writes back whole pages, and would undo writes of another node between the runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/io/device.hpp"

namespace heddle::io {

class Mapping {
 public:
  Mapping() = default;
  // [offset, offset + bytes), which the file already has. All its pages are present and writable when this returns, so
  // that no store fails later, unless another process truncates the file meanwhile. Where that is impossible the object
  // is empty.
  Mapping(const Device& device, std::int64_t offset, std::int64_t bytes);
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  explicit operator bool() const { return pages_ != nullptr; }
  std::byte* at(std::int64_t offset) const { return pages_ + (offset - begin_); }

 private:
  std::byte* pages_ = nullptr;
  std::int64_t begin_ = 0;  // of the first page
  std::size_t length_ = 0;
};

}  // namespace heddle::io
