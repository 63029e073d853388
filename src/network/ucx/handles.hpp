// Owners of resources of UCX and of the kernel.
#pragma once

#include <ucp/api/ucp.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace heddle::lln::ucx {

struct Cleanup {
  void operator()(ucp_context_h context) const { ucp_cleanup(context); }
  void operator()(ucp_worker_h worker) const { ucp_worker_destroy(worker); }
};
using Context = std::unique_ptr<std::remove_pointer_t<ucp_context_h>, Cleanup>;
using Worker = std::unique_ptr<std::remove_pointer_t<ucp_worker_h>, Cleanup>;

// Throws std::runtime_error on failure.
inline void check(ucs_status_t status, const char* call) {
  if (status != UCS_OK)
    throw std::runtime_error(std::string(call) + " of UCX: " + ucs_status_string(status) +
                             ". Check UCX_TLS and UCX_NET_DEVICES; UCX_LOG_LEVEL=info prints details");
}

// With Heddle's defaults where the user has set nothing. Throws std::runtime_error. `device`: replaces UCX_NET_DEVICES;
// empty: that variable counts. `survives`: peers may fail, and the process goes on.
Context make_context(const char* device, bool survives);
// Bytes of the longest message that fits in the receiver's buffer, and is copied from it by any protocol. 0: there is
// none.
std::size_t longest_at_once(ucp_context_h context);
// True if a message may only be posted where UCX can copy it to its peer's connection at once, in a process that
// survives peers: before version 1.14 a message that waits for a connection in setup ends the process when the peer
// fails.
bool must_post_at_once(ucp_context_h context);
// Its thread handles no signal of the program.
Worker make_worker(ucp_context_h context);

}  // namespace heddle::lln::ucx
