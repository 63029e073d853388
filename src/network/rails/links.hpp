// The links of a job's rails: whoever pulls a cable ends the job with a sentence, and not with ranks that wait.
//
// TCP tries for a quarter of an hour to bring what it has taken to a peer, and says nothing to whoever waits there. The kernel knows at once that
// an interface has no link any more, and tells who listens. Other devices than interfaces (InfiniBand's) report failures to their senders
// themselves.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace heddle::lln {

// As long as the process lives: of those of `devices` that are interfaces with a link now, one that has been without it for two seconds
// is said to `fail`, once. Where there is no thread for it, or the kernel does not tell, nothing is said.
void watch_links(const std::vector<std::string>& devices, std::function<void(const char*)> fail);

}  // namespace heddle::lln
