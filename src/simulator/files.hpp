// Files that were loaded, by their numbers in a report. An address is written as the number of its file and the offset in it, which debug
// information turns into a line of source or into a variable; as 0, 0 if it is in no file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace heddle::simulator {

class Files {
 public:
  void write_address(std::FILE* to, std::uintptr_t address);
  void write_names(std::FILE* to) const;

 private:
  struct Place {
    std::size_t file = 0;
    std::uintptr_t at = 0;
  };
  Place look_up(std::uintptr_t address);

  std::vector<std::string> names_{""};
  std::map<std::uintptr_t, Place> known_;
};

}  // namespace heddle::simulator
