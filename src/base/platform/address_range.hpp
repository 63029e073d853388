// A range of addresses of which parts are mapped when they are needed.
//
// The range is not reserved: addresses that are mapped count for ulimit -v, for mlockall and for VmSize whether they are used or not, and debuggers
// and leak checkers read all that is readable. A range lies far from where the kernel places mappings that it chooses itself, so that it stays free;
// should another part of the program map something there, map() of that part fails and nothing is overwritten. Where no such place is free (tools
// such as valgrind and ThreadSanitizer lay out the address space themselves), the range is reserved without access.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace heddle::platform {

class AddressRange {
 public:
  static constexpr int no_file = -1;

  // Finds a place for so many bytes. False, with errno: there is none.
  bool find(std::size_t bytes);
  // Null before find().
  std::byte* start() const { return start_; }
  // Maps whole pages from start() + at on, which are not mapped yet: of a file, shared with its other users, or without
  // a file private memory. False, with errno.
  bool map(std::size_t at, std::size_t bytes, int file = no_file, off_t offset = 0) const;

 private:
  std::byte* start_ = nullptr;
  bool reserved_ = false;
};

}  // namespace heddle::platform
