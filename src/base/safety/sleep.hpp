// The answer to "do threads that wait for long go to sleep?", by their safety model and HEDDLE_WAIT. For reports;
// waiting threads use patience.hpp.
#pragma once

#include "base/safety/wait_policy.hpp"

namespace heddle::safety {

// However long they wait.
bool never_sleep(const WaitPolicy& policy, const Model& model);

}  // namespace heddle::safety
