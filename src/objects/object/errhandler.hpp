// An error handler (MPI 5.0, section 9.3): one of the three predefined ones, or a function of the user's for the
// errors of one kind of object.
#pragma once

#include <mpi.h>

#include <mutex>
#include <variant>

#include "base/threads/mutex.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct Errhandler final : Object {
  static constexpr Kind object_kind = Kind::errhandler;
  Errhandler() : Object(Kind::errhandler) {}

  struct Fatal {};   // ends the job
  struct Abort {};   // ends the processes of the communicator, window, file or session; here: the job too
  struct Return {};  // the call returns the error
  std::variant<Fatal, Abort, Return, MPI_Comm_errhandler_function*, MPI_Win_errhandler_function*,
               MPI_File_errhandler_function*, MPI_Session_errhandler_function*>
      action = Fatal{};

  // True if it may be attached to an object of this kind. The predefined ones fit all.
  bool fits(Kind kind) const;
};

// The error handler of an object: holds a reference. Several threads may read and set it at the same time, as each of
// them may be in a call that fails.
class ErrhandlerSlot {
 public:
  ErrhandlerSlot() = default;
  ~ErrhandlerSlot();
  ErrhandlerSlot(const ErrhandlerSlot&) = delete;
  ErrhandlerSlot& operator=(const ErrhandlerSlot&) = delete;

  void set(Errhandler& errhandler);
  Errhandler* get() const;  // with a new reference; null if none was ever set

 private:
  mutable threads::Mutex mutex_;
  Errhandler* errhandler_ = nullptr;
};

}  // namespace heddle
