// Requests come from the calling thread's own cache and go back to the cache of whoever gives them back: no lock and
// no shared line on the way of a message. A cache trades with the arena in batches, and empties itself when its
// thread ends.
#pragma once

#include "object/request.hpp"

namespace heddle::p2p {

// A request in its initial state with a handle that no earlier request had.
Request& take_request();
// The end of one that is done: its kind's own state, then the request. Its handle is dead from here on, whatever the
// error, which is that of the kind's destroy.
Error give_back_done(Request& request);

}  // namespace heddle::p2p
