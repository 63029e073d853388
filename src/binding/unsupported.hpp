// Functions of the standard that have no implementation yet.
#pragma once

#include "binding/functions.hpp"
#include "object/object.hpp"

namespace heddle::binding {

// Raises MPI_ERR_UNSUPPORTED_OPERATION on `owner`, the object that the call is about (object/raise.hpp), and returns what
// the call shall return. Where the error handler returns, a line on stderr says so too, once for each function. `version`:
// the one that it is planned for (api/planned.toml).
[[gnu::cold, gnu::noinline]] int unsupported(Function function, Object* owner, const char* version);

}  // namespace heddle::binding
