// The use of tags. A tag is an int, and every context has all of them; planes are contexts of their own.
//
//     user plane        0 .. tag_upper_bound   the program's (MPI_TAG_UB)
//     collective plane  0 .. 2^31-1            collectives: blocking, nonblocking, persistent (mpi/coll/schedule.cpp)
//                       -1                     the report of the ranks to rank 0 (HEDDLE_REPORT)
//                       -2^31 .. -2^30-1       creations that the program gave a tag: MPI_Comm_create_group and
//                                              MPI_Intercomm_create
//     partitioned plane 0 .. tag_upper_bound   introductions, by the program's tags
//                       2^30 .. 2^31-1         data: one for each partition, counted by the sending process
//
// So the threads of a process may create communicators from the same parent with different tags at the same time, while
// another is in a collective on it.
#pragma once

#include <cstdint>
#include <limits>

namespace heddle {

inline constexpr int tag_upper_bound = (1 << 30) - 1;

inline constexpr int report_tag = -1;

constexpr int creation_tag(int user_tag) { return std::numeric_limits<int>::min() + user_tag; }

// Counts round: a process may have 2^30 partitions at a time.
constexpr int partition_tag(std::uint32_t n) { return static_cast<int>(0x40000000u | (n & 0x3fffffffu)); }

}  // namespace heddle
