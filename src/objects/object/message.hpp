// A matched message (MPI 5.0, section 3.8.2): taken out of the queue by MPI_Mprobe, not yet received.
#pragma once

#include "objects/object/object.hpp"

namespace heddle {

struct Comm;
namespace engine {
class Vni;
}
namespace message {
struct Unexpected;
}

struct Message final : Object {
  static constexpr Kind object_kind = Kind::message;
  explicit Message(Comm& c) : Object(Kind::message), comm(&c) {}

  Comm* comm;
  int source = 0;
  int tag = 0;
  // the VNI where it was found, also when another one carries the communicator now (revoked)
  engine::Vni* vni = nullptr;
  message::Unexpected* content = nullptr;
};

}  // namespace heddle
