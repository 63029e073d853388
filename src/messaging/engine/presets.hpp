// Creates engines and VNIs: those of presets from compiled parts (presets.cpp), those of free compositions from parts behind virtual
// calls (compositions.cpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "messaging/engine/engine.hpp"

namespace heddle::wake {
class Wake;
}

namespace heddle::engine {

struct AskedModel;

// Parses a preset's name, a composition, or a preset with some parts replaced ("lockq-mcs,vnis=8"). A failure's text is the rest of a
// sentence that begins with `text`.
Result<safety::Model> parse_model(std::string_view text);
// The number of VNIs of a rank with this model.
int vnis_for(const Rank& rank, const safety::Model& model);

// An engine, or a VNI, of any valid combination of parts.
std::unique_ptr<Engine> compose(Rank& rank, const safety::Model& model);
std::unique_ptr<Vni> compose_vni(Rank& rank, wake::Wake& wake, const AskedModel& model, int index);

// Creates the VNI of that index, with the parts of the requested model that it belongs to.
std::unique_ptr<Vni> make_asked_vni(Rank& rank, wake::Wake& wake, int index);

}  // namespace heddle::engine
