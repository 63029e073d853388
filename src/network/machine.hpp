// The machine of a process, as far as its loopback interface and its local sockets lead: one boot of a kernel, one
// network namespace.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <fstream>
#include <functional>
#include <string>

namespace heddle::lln {

inline std::uint64_t this_machine() {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  struct stat space {};
  (void)stat("/proc/self/ns/net", &space);
  return std::hash<std::string>{}(boot)*31 + space.st_ino;
}

}  // namespace heddle::lln
