// The entries of MPI_INFO_ENV and MPI_Info_create_env for this process (MPI 5.0, section 11.2.1).
#pragma once

#include "objects/object/info.hpp"

namespace heddle {

struct Rank;

// `argv` may be null: the program's own command line.
InfoEntries describe_environment(const Rank& rank, const char* const* argv = nullptr, int argc = 0);

}  // namespace heddle
