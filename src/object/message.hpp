// A matched message (MPI 5.0, section 3.8.2): taken out of the queue by MPI_Mprobe, not yet received.
#pragma once

#include "object/object.hpp"

namespace heddle {

struct Comm;
namespace p2p {
struct Unexpected;
}

struct Message final : Object {
  static constexpr Kind object_kind = Kind::message;
  Message(Comm& c, int from, int with_tag, p2p::Unexpected& m)
      : Object(Kind::message), comm(&c), source(from), tag(with_tag), content(&m) {}

  Comm* comm;
  int source;
  int tag;
  p2p::Unexpected* content;
};

}  // namespace heddle
