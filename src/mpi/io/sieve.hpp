// Data sieving (Thakur, Gropp and Lusk, "Data Sieving and Collective I/O in ROMIO", 1999): for runs that lie close to
// each other, the gaps are read too, with one call for many. A write then writes back the changed range, which undoes
// concurrent writes of others to the gaps unless all writers lock: it is done only where the program asks for it
// (romio_ds_write). Without that a write goes through a mapping of the file (mapping.hpp), where that is possible.
#pragma once

#include "mpi/io/independent.hpp"

namespace heddle::io {

// A system call for each run costs as much as moving so many bytes more between the page cache and memory.
inline constexpr std::int64_t max_read_stride = 4096;
// ... or a quarter of the pages that a mapping of the file makes present.
inline constexpr std::int64_t max_store_stride = 1024;

// True if the runs lie close enough, and the hints allow it.
bool is_for_sieving(const Access& access);

Moved sieve_read(const Access& access);
// With the range locked.
Moved sieve_write(const Access& access);

}  // namespace heddle::io
