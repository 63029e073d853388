// Launchers of somebody else's: how their jobs are joined. A process of theirs that cannot join must not start alone,
// or each of them would be a world of its own, and compute the same.
#pragma once

#include <memory>

#include "launch/boot/problem.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

// What makes a program start alone under such a launcher: set to 1.
inline constexpr char singleton_variable[] = "HEDDLE_SINGLETON";

// Seconds after which a job of such a launcher says where its threads are, and ends. mpiexec takes it for its -timeout.
inline constexpr char timeout_variable[] = "HEDDLE_TIMEOUT";

// The wire-up of the launcher that has started this process. Null: `alone`, there is none, it has started one process,
// or the user wants this one to be alone; else the job cannot be joined, and `problem` says why and what to do.
std::unique_ptr<Wireup> find_launcher(bool& alone, Problem& problem);

}  // namespace heddle::boot
