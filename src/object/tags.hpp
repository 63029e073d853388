// Who uses which tags. A tag is an int, and every context has all of them; planes are contexts of their own.
//
//     user plane        0 .. tag_upper_bound   the program's (MPI_TAG_UB)
//     collective plane  0 .. 2^31-1            collectives, from the communicator's collective_sequence
//                       -2^31 .. -2^30-1       creations that the program gave a tag: MPI_Comm_create_group and
//                                              MPI_Intercomm_create
//
// So the threads of a process may create communicators from the same parent with different tags at the same time,
// while another is in a collective on it.
#pragma once

#include <limits>

namespace heddle {

inline constexpr int tag_upper_bound = (1 << 30) - 1;

constexpr int creation_tag(int user_tag) { return std::numeric_limits<int>::min() + user_tag; }

}  // namespace heddle
