// A resource that the system refuses to an operation in progress: descriptors, threads, a network's resources.
//
// It is caught wherever a lack of memory is: the operation is undone, is tried again for a while, or ends with an
// error. At the end of an MPI call its sentence becomes that error's. An exception, since a lack of memory is one.
#pragma once

#include <cstdio>
#include <new>

namespace heddle {

class Unavailable final : public std::bad_alloc {
 public:
  // `what` is missing, `why`, and the cure.
  Unavailable(const char* what, const char* why, const char* cure) {
    std::snprintf(text_, sizeof text_, "%.80s: %.200s. %.160s", what, why, cure);
  }
  const char* what() const noexcept override { return text_; }

 private:
  char text_[480];
};

}  // namespace heddle
