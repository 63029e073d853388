// The part of an endpoint that other ranks see: they attach their channels and fluxes to it.
#pragma once

#include "base/node/heap.hpp"
#include "base/platform/native.hpp"
#include "base/sync/join_list.hpp"

namespace heddle::lln::shm {

struct alignas(platform::cache_line) Box {
  sync::JoinList<platform::Native, node::Offset> inbound;  // channels to this rank
  sync::JoinList<platform::Native, node::Offset> fluxes;
};

}  // namespace heddle::lln::shm
