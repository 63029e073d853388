// /proc/self/exe as a rank that is a thread reads it: the program that it runs, not the host.
#pragma once

#include <string>

namespace heddle::host {

// The program of all ranks of this host. Called once, before the first of them starts.
void set_own_path(const std::string& program);

}  // namespace heddle::host
