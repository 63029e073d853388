// A session: a use of MPI of its own, beside or instead of the world model (MPI 5.0, section 11.3).
#pragma once

#include "object/errhandler.hpp"
#include "object/info.hpp"
#include "object/object.hpp"

namespace heddle {

struct Session final : Object {
  static constexpr Kind object_kind = Kind::session;
  Session() : Object(Kind::session) {}

  ErrhandlerSlot errhandler;
  InfoEntries hints;        // what MPI_Session_get_info tells
  void* buffers = nullptr;  // p2p/buffer.hpp: the attached buffer of MPI_Session_attach_buffer
};

}  // namespace heddle
