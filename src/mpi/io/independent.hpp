// An access by one process alone: each run of the file by one system call, by data sieving (sieve.hpp), or, for a
// write, through a mapping of the file (mapping.hpp).
#pragma once

#include "mpi/io/device.hpp"
#include "mpi/io/hints.hpp"
#include "mpi/io/open_file.hpp"
#include "mpi/io/ring.hpp"
#include "mpi/io/runs.hpp"

namespace heddle::io {

// `bytes` of the view's stream from `position` on, which are the packed stream of `memory`. The representation is
// native, or `memory` holds converted data.
struct Access {
  OpenFile& file;
  const View& view;
  const Hints& hints;
  bool write;
  std::int64_t position;
  Buffer memory;
  std::size_t bytes;
};

// The first byte of the file that it touches, and the last one; its bytes are not 0.
std::int64_t first_of(const Access& access);
std::int64_t last_of(const Access& access);

// True if it is one contiguous part of a file that needs no lock, and then the kernel's task.
bool is_one_part(const Access& access, Transfer& transfer);

// Blocks. Any thread, also one of the library's own.
Moved move_alone(const Access& access);

}  // namespace heddle::io
