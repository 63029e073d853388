// The end of a failed call: the error handler (MPI 5.0, section 9.3).
#pragma once

#include "base/functions.hpp"
#include "objects/object/error.hpp"
#include "objects/object/object.hpp"

namespace heddle {

// Calls the error handler that is responsible for `error` in `function` and returns what the call shall return.
// Responsible is error_detail().comm if set, else that of `owner` (a Comm, Win, File or Session; or an Errhandler,
// which is for the object that the function makes: sections 7.4.2, 7.6.2 and 11.3.1), else MPI_COMM_SELF's (before
// MPI_COMM_SELF exists: the initial error handler, section 11.2). The fatal ones print rank, function, sentence and
// communicator and end the job.
int raise(Function function, Object* owner, Error error);

// The same for an error code of any origin; also used by MPI_Comm_call_errhandler. Returns the code, or the replacement
// by the program's handler.
int handle_error(Function function, Object* owner, int code, const char* sentence);

}  // namespace heddle
