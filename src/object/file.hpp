// A file that a group of processes has open (MPI 5.0, section 14.2).
#pragma once

#include <string>

#include "object/errhandler.hpp"
#include "object/info.hpp"
#include "object/object.hpp"

namespace heddle {

struct Comm;

struct File final : Object {
  static constexpr Kind object_kind = Kind::file;
  File() : Object(Kind::file) {}

  Comm* comm = nullptr;  // the file's own, with the processes that opened it
  int descriptor = -1;
  int amode = 0;
  std::string name;
  ErrhandlerSlot errhandler;
  InfoEntries hints;  // that mean something here: none yet
};

}  // namespace heddle
