// A rank's copies of the program and of its private libraries, in memory and ready to run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "host/program.hpp"
#include "host/variables.hpp"

namespace heddle::host {

struct Image {
  const Part* part;
  std::uintptr_t base;  // what the addresses in the file are relative to
};

class Images {
 public:
  // Puts the copies into memory and gives the calling thread's rank its variables. False: `problem` says why not.
  bool load(const Program& program, Variables& variables, std::string& problem);

  // Thread-local variables of the program for a thread that begins.
  void prepare_thread() const;

  // Calls the constructors of all images but the program's, whose startup code may do that itself.
  void construct_libraries(int argc, char** argv, char** environment) const;
  void construct_program(int argc, char** argv, char** environment) const;
  // Destructors in the reverse order.
  void destruct() const;

  bool contain(const void* address) const;
  void* entry() const;
  void* handle() const { return handle_; }

 private:
  void place_variables(Variables& variables) const;

  const Program* program_ = nullptr;
  void* handle_ = nullptr;
  std::vector<Image> images_;  // in the order of Program::parts
};

}  // namespace heddle::host
