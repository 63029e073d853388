// The server among a rank's sleeping threads (base/sync/server_roles.hpp), on the real machine.
#pragma once

#include "base/platform/native.hpp"
#include "base/safety/waiter.hpp"
#include "base/sync/server_roles.hpp"
#include "base/threads/condition.hpp"
#include "base/threads/mutex.hpp"

namespace heddle {

using Roles = sync::ServerRoles<platform::Native, sync::Waiter<platform::Native, threads::ThreadRef>, threads::Mutex,
                                threads::Condition>;

}  // namespace heddle
