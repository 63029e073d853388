// A rank's copies of the program and of its private libraries, in memory and ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/host/program.hpp"
#include "launch/host/variables.hpp"

namespace heddle::host {

struct Image {
  const Part* part;
  std::uintptr_t base;  // the base of the file's addresses
};

// By the name of a library: the one under which the loader knows its copy.
using CopyNames = std::map<std::string, std::string, std::less<>>;

class Images {
 public:
  // Puts the copies into memory, beside those that the calling thread's rank has, and gives the rank its variables. Adds their names.
  Result<void> load(const Program& program, Variables& variables, CopyNames& names);

  // Thread-local variables of the program for a thread that begins.
  void prepare_thread() const;

  // Calls the constructors of all images except the program's, whose startup code may do that itself.
  void construct_libraries(int argc, char** argv, char** environment) const;
  void construct_program(int argc, char** argv, char** environment) const;
  // Destructors in the reverse order.
  void destruct() const;

  bool contain(const void* address) const { return image_with(address) != nullptr; }
  // Null: none of these.
  const Image* image_with(const void* address) const;
  void* entry() const;
  void* handle() const { return handle_; }

 private:
  void place_variables(Variables& variables) const;

  const Program* program_ = nullptr;
  void* handle_ = nullptr;
  std::vector<Image> images_;  // in the order of Program::parts
};

}  // namespace heddle::host
