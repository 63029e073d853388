// The variables HEDDLE_...: the value of the environment, unless a tool has set them through MPI_T since
// (mpi/tool/cvar.hpp).
//
// All readers of such a variable read it here, so a tool's change counts wherever the variable is read after it.
#pragma once

#include <string>

namespace heddle {

// "" if it is not set. For values made of words, capitals and blanks make no difference (launch/boot/variables.hpp).
std::string setting(const char* name);

// Like the environment, settings are the rank's.
void change_setting(const char* name, std::string value);

}  // namespace heddle
