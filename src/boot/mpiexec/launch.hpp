// From the plan of a job to its running ranks.
#pragma once

#include <string>
#include <vector>

#include "boot/mpiexec/options.hpp"
#include "boot/mpiexec/placement.hpp"
#include "boot/mpiexec/segment.hpp"
#include "boot/mpiexec/supervisor.hpp"

namespace heddle::boot {

int total_ranks(const Options& options);

// Starts every rank under `supervisor`, or as many as can be started; then the supervisor ends them.
void launch(const Options& options, const Placement& placement, const Segment& segment, Supervisor& supervisor);

}  // namespace heddle::boot
