// From the plan of a job to its running ranks.
#pragma once

#include <string>
#include <vector>

#include "mpiexec/options.hpp"
#include "mpiexec/placement.hpp"
#include "mpiexec/segment.hpp"
#include "mpiexec/supervisor.hpp"

namespace heddle::mpiexec {

int total_ranks(const Options& options);

// Starts every rank under `supervisor`, or as many as can be started; then the supervisor ends them.
void launch(const Options& options, const Placement& placement, const Segment& segment, Supervisor& supervisor);

}  // namespace heddle::mpiexec
