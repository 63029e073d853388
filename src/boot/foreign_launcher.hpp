// Launchers that Heddle can't join: each of their processes would be alone in a world of its own, and compute the same.
#pragma once

#include <cstddef>

namespace heddle::boot {

// What makes a program start alone under such a launcher: set to 1.
inline constexpr char singleton_variable[] = "HEDDLE_SINGLETON";

// True if the environment is that of a launcher which started several processes, or may have; `text` then says so. False
// under our own mpiexec, and if the user has said that it is all right.
bool refuses_singleton(char* text, std::size_t bytes);

}  // namespace heddle::boot
