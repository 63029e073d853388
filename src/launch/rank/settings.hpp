// The variables HEDDLE_...: what the environment says, unless a tool has set them through MPI_T since (mpi/tool/cvar.hpp).
//
// Everything that reads such a variable reads it here, so a tool's change counts wherever the variable is read after it.
#pragma once

#include <string>

namespace heddle {

// "" if it is not set. Where the value is made of words, capitals and blanks make no difference (launch/boot/variables.hpp).
std::string setting(const char* name);

// Like the environment, settings are the rank's.
void change_setting(const char* name, std::string value);

}  // namespace heddle
