// Names and texts of the standard's error classes (MPI 5.0, section 9.4, and 15.3.10 for the tool interface).
#pragma once

namespace heddle {

struct ErrorClass {
  const char* name;  // "MPI_ERR_RANK"
  const char* text;  // its meaning, in one sentence without a full stop
};

// Null if `code` is not a class of the standard.
const ErrorClass* standard_error_class(int code);

}  // namespace heddle
