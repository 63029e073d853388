// How engines are made: presets from compiled parts (presets.cpp), free compositions from parts behind virtual calls
// (compositions.cpp).
#pragma once

#include <memory>

#include "p2p/engine.hpp"

namespace heddle::p2p {

// An engine of any sound combination of parts.
std::unique_ptr<Engine> compose(Rank& rank, const safety::Model& model);

}  // namespace heddle::p2p
