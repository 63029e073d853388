// Communicators from groups alone, with no parent whose context could carry the first messages (MPI 5.0, section
// 11.3.3).
//
// The members use a context that each computes by itself, from the string tag and the group. Its counter has the top
// bit set, which no counter of fresh_context ever reaches, so it is unique; the other bits are a hash. Were two groups
// with the same first member to hash alike, and used at the same time, their messages could still only be confused
// between the same two processes; 37 bits of hash are enough for that.
#pragma once

#include <string_view>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/group.hpp"

namespace heddle {

Error check_stringtag(const char* stringtag);

// A local communicator of the group: nothing was agreed, and it may only be used to send the first messages, point to
// point. Its members make the same one at the same time. Free it with retire.
Comm* make_bootstrap_comm(Rank& rank, const Group& group, std::string_view stringtag);

// Collective over the group, of which this process is a member. The safety model is that of member 0
// (messaging/engine/asked_models.hpp).
Error create_from_group(Rank& rank, const Group& group, std::string_view stringtag, Errhandler& errhandler,
                        int asked_model, Comm*& child);

}  // namespace heddle
