// A file that a group of processes has open (MPI 5.0, section 14.2).
#pragma once

#include <string>

#include "objects/object/errhandler.hpp"
#include "objects/object/info.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct Comm;
namespace io {
struct OpenFile;
}

struct File final : Object {
  static constexpr Kind object_kind = Kind::file;
  File() : Object(Kind::file) {}

  Comm* comm = nullptr;          // the file's own, with the processes that opened it
  io::OpenFile* open = nullptr;  // the state of the folder io; null once it is closed
  int amode = 0;
  std::string name;
  ErrhandlerSlot errhandler;
};

}  // namespace heddle
