// Info hints of communicators (MPI 5.0, section 7.4.4; base/info_keys.hpp). Other keys, and assertions that are neither
// true nor false, are dropped when they are set, so that MPI_Comm_get_info tells only what is in force.
#pragma once

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/info.hpp"

namespace heddle {

// Those of `info`, which may be null.
InfoEntries known_hints(const Info* info);

// The safety model of a new communicator (messaging/engine/asked_models.hpp): by its info, or else by the session that its group
// comes from; 0: the rank's own. All members must request the same. MPI_ERR_INFO_VALUE, on all alike, if there is no
// such model.
Error choose_model(Rank& rank, const Group& group, const Info* info, int& number);
inline constexpr KnownKey model_key = "heddle_model";

// The assertions (objects/object/comm.hpp) in these hints of a process.
Context promised(const InfoEntries& hints);

}  // namespace heddle
