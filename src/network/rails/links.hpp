// The links of a job's rails: a pulled cable ends the job with a message instead of leaving ranks waiting.
//
// TCP retries for a quarter of an hour and reports nothing to waiting threads meanwhile. The kernel knows at once that
// an interface has lost its link, and notifies listeners. Devices that are no interfaces (InfiniBand's) report failures
// to their senders themselves.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace heddle::lln {

// For the life of the process: calls `fail` once for an interface of `devices` that had a link and has been without it
// for two seconds. Without a thread for it, or without the kernel's events, it does nothing.
void watch_links(const std::vector<std::string>& devices, std::function<void(const char*)> fail);

}  // namespace heddle::lln
