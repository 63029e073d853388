// From errors of the operating system to the error classes of the standard (MPI 5.0, section 14.7).
#pragma once

#include "objects/object/error.hpp"

namespace heddle::io {

int error_class_of(int error_number);

// `what` is "open", `error_number` an errno.
Error fail_system(const char* what, const char* filename, int error_number);

}  // namespace heddle::io
