// What a message from another node may say. Its bytes are looked at here first, whoever has sent them: what is too short, or names what
// only ranks of one node share, or can be no answer, is refused before anything is done about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "base/node/heap.hpp"
#include "messaging/message/transfer.hpp"
#include "network/header.hpp"

namespace heddle::message {

// What its receiver says of a send.
struct Answer {
  enum class What : std::uint8_t { wanted, finished, withdrawn };
  What what;
  Cts cts;  // of one that is wanted; of the others only `request`
};

// Of a kind that is matched, in a job of so many ranks: whether it is whole.
inline bool is_whole(const lln::Header& header, int ranks, const std::byte* payload, std::size_t bytes) {
  if (header.source < 0 || header.source >= ranks) return false;
  if (header.kind == lln::MessageKind::rts) {
    Rts rts;
    if (bytes != sizeof rts) return false;
    std::memcpy(&rts, payload, sizeof rts);
    return rts.request != 0 && rts.address == 0 && rts.claim == node::nowhere && rts.stage == node::nowhere;
  }
  if (header.kind == lln::MessageKind::eager_ack) {
    Acknowledged acknowledged;
    if (bytes < sizeof acknowledged) return false;
    std::memcpy(&acknowledged, payload, sizeof acknowledged);
    return acknowledged.request != 0 && acknowledged.claim == node::nowhere;
  }
  return header.kind == lln::MessageKind::eager;
}

// The name of a send, which is all that such a message says. 0: it is none.
inline std::uint64_t name_in(const std::byte* payload, std::size_t bytes) {
  std::uint64_t name = 0;
  if (bytes == sizeof name) std::memcpy(&name, payload, sizeof name);
  return name;
}

// Nothing: it is none.
inline std::optional<Answer> answer_in(const lln::Header& header, const std::byte* payload, std::size_t bytes) {
  Answer answer{Answer::What::wanted, {}};
  if (header.kind == lln::MessageKind::cts) {
    if (bytes != sizeof answer.cts) return std::nullopt;
    std::memcpy(&answer.cts, payload, sizeof answer.cts);
    const Protocol protocol = answer.cts.protocol;
    if ((protocol != Protocol::stream && protocol != Protocol::direct) || answer.cts.bytes == 0) return std::nullopt;
  } else {
    answer.what = header.kind == lln::MessageKind::fin ? Answer::What::finished : Answer::What::withdrawn;
    answer.cts.request = name_in(payload, bytes);
  }
  if (answer.cts.request == 0) return std::nullopt;
  return answer;
}

}  // namespace heddle::message
