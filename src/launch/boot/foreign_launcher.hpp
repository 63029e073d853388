// Joins the jobs of foreign launchers. A process of theirs that cannot join must not start alone, or each of them would
// be a singleton and compute the same.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "launch/boot/wireup.hpp"

namespace heddle::boot {

// Set to 1, it makes a program start alone under such a launcher.
inline constexpr char singleton_variable[] = "HEDDLE_SINGLETON";

// Seconds after which a job of such a launcher reports where its threads are, and ends. mpiexec uses it as the default
// of its -timeout.
inline constexpr char timeout_variable[] = "HEDDLE_TIMEOUT";

// The wire-up of the launcher that has started this process. Null: there is none, it has started one process, or the user
// wants this one to be alone. A failure: the job cannot be joined.
Result<std::unique_ptr<Wireup>> find_launcher();

}  // namespace heddle::boot
