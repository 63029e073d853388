// The parts of a VNI that its protocols share.
#pragma once

#include "base/instruments/cells.hpp"
#include "messaging/message/completion.hpp"
#include "messaging/message/context.hpp"
#include "messaging/message/matching.hpp"
#include "messaging/message/mode.hpp"
#include "messaging/message/outgoing.hpp"
#include "messaging/message/unexpected_store.hpp"
#include "network/route.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

struct Parts {
  const Context& context;
  lln::Route& route;
  Completion& completion;
  Matcher& matcher;
  UnexpectedStore& unexpected;
  Outgoing& outgoing;
  instruments::Counters& counters;
};

inline bool is_synchronous(const Request& send) { return send.mode == static_cast<std::uint32_t>(Mode::synchronous); }

}  // namespace heddle::message
