// A session: a use of MPI of its own, beside or instead of the world model (MPI 5.0, section 11.3).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/threads/mutex.hpp"
#include "launch/boot/process_set.hpp"
#include "objects/object/errhandler.hpp"
#include "objects/object/info.hpp"
#include "objects/object/object.hpp"

namespace heddle {

namespace p2p {
class SendBuffer;
}

struct Session final : Object {
  static constexpr Kind object_kind = Kind::session;
  Session() : Object(Kind::session) {}

  ErrhandlerSlot errhandler;
  InfoEntries hints;                        // the result of MPI_Session_get_info
  int asked_model = 0;                      // of communicators that come from it (messaging/engine/asked_models.hpp)
  std::shared_ptr<p2p::SendBuffer> buffer;  // of MPI_Session_attach_buffer
  // The launcher's sets, once the program has requested process sets.
  threads::Mutex asking_for_sets;
  std::optional<std::vector<boot::ProcessSet>> sets;
};

}  // namespace heddle
