#include "objects/object/errhandler.hpp"

#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle {

bool Errhandler::fits(Kind kind) const {
  struct {
    Kind kind;
    bool operator()(Fatal) const { return true; }
    bool operator()(Abort) const { return true; }
    bool operator()(Return) const { return true; }
    bool operator()(MPI_Comm_errhandler_function*) const { return kind == Kind::comm; }
    bool operator()(MPI_Win_errhandler_function*) const { return kind == Kind::win; }
    bool operator()(MPI_File_errhandler_function*) const { return kind == Kind::file; }
    bool operator()(MPI_Session_errhandler_function*) const { return kind == Kind::session; }
  } fitting{kind};
  return std::visit(fitting, action);
}

ErrhandlerSlot::~ErrhandlerSlot() {
  if (errhandler_) release(*errhandler_);
}

void ErrhandlerSlot::set(Errhandler& errhandler) {
  retain(errhandler);
  Errhandler* old = nullptr;
  {
    std::lock_guard guard(mutex_);
    old = std::exchange(errhandler_, &errhandler);
  }
  if (old) release(*old);
}

Errhandler* ErrhandlerSlot::get() const {
  std::lock_guard guard(mutex_);
  if (errhandler_) retain(*errhandler_);
  return errhandler_;
}

Errhandler* object(MPI_Errhandler handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value >= arena::first_user_handle) return live_object<Errhandler>(value);
  const ObjectTables& tables = *current_rank().tables;
  if (handle == MPI_ERRORS_ARE_FATAL) return tables.errors_are_fatal;
  if (handle == MPI_ERRORS_ABORT) return tables.errors_abort;
  if (handle == MPI_ERRORS_RETURN) return tables.errors_return;
  return nullptr;
}

}  // namespace heddle
