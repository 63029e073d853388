// What only a collective can check about its arguments: buffers that are significant here, arrays, MPI_IN_PLACE,
// buffers that may not be the same. All else has been checked by the binding.
#pragma once

#include "coll/algorithms.hpp"
#include "object/error.hpp"

namespace heddle::coll {

inline bool is_in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

// A buffer that is read or written here: it has a datatype, is not MPI_IN_PLACE, and is not null unless it is empty or
// the datatype's displacements are addresses.
Error check_buffer(const char* name, const void* buffer, MPI_Count count, const Datatype* type);
// `n` blocks of a buffer called `name` ("send" or "recv"): also their counts, displacements and datatypes.
Error check_blocks(const char* name, const Blocks& blocks, int n);
// Counts of reduce-scatter.
Error check_slices(const Slices& slices, int n);
// What is copied within this process: not onto itself, not into less.
Error check_copy(const Piece& from, const Piece& to);
Error check_distinct(const void* sendbuf, const void* recvbuf, std::size_t bytes);
Error fail_in_place(const char* name, const char* why);
Error check_no_in_place(const char* name, const void* buffer);

}  // namespace heddle::coll
