// The server among a rank's sleeping threads (sync/server_roles.hpp), on the real machine.
#pragma once

#include "platform/native.hpp"
#include "safety/waiter.hpp"
#include "sync/server_roles.hpp"
#include "threads/condition.hpp"
#include "threads/mutex.hpp"

namespace heddle {

using Roles = sync::ServerRoles<platform::Native, sync::Waiter<platform::Native, threads::ThreadRef>, threads::Mutex,
                                threads::Condition>;

}  // namespace heddle
