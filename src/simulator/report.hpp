// The costs of a run, as JSON for `heddle simulate`.
#pragma once

namespace heddle::simulator {

struct Simulation;

void write_report(const Simulation& simulation);

}  // namespace heddle::simulator
