// How engines and VNIs are made: those of presets from compiled parts (presets.cpp), of free compositions from parts behind
// virtual calls (compositions.cpp).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "messaging/engine/engine.hpp"

namespace heddle::engine {

struct AskedModel;

// A preset's name, a composition, or a preset with some parts replaced ("lockq-mcs,vnis=8"). False if it is none; `why`
// goes on after the text.
bool parse_model(std::string_view text, safety::Model& model, std::string& why);
// How many VNIs a rank has for it.
int vnis_for(const Rank& rank, const safety::Model& model);

// An engine, or a VNI, of any sound combination of parts.
std::unique_ptr<Engine> compose(Rank& rank, const safety::Model& model);
std::unique_ptr<Vni> compose_vni(Rank& rank, const AskedModel& model, int index);

// The VNI of that index, of the model that was asked for.
std::unique_ptr<Vni> make_asked_vni(Rank& rank, int index);

}  // namespace heddle::engine
