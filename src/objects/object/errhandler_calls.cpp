// Error handlers, classes, codes and strings (MPI 5.0, sections 9.3 to 9.5).
#include <cstring>
#include <string>

#include "objects/binding/impl.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/errhandler.hpp"
#include "objects/object/error_class.hpp"
#include "objects/object/file.hpp"
#include "objects/object/raise.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/session.hpp"
#include "objects/object/tables.hpp"
#include "objects/object/win.hpp"

namespace heddle::mpi {

namespace {

template <class Call>
Error create(Call* call, MPI_Errhandler* out) {
  if (!call) return fail(MPI_ERR_ARG, "the error handler function is null");
  Errhandler* errhandler = make_object<Errhandler>();
  errhandler->action = call;
  *out = handle_of<MPI_Errhandler>(*errhandler);
  return success;
}

// MPI_FILE_NULL has an error handler too, which is what new files get.
ErrhandlerSlot& slot_of(File* file) { return file ? file->errhandler : current_rank().tables->file_errhandler; }

Error set(ErrhandlerSlot& slot, Kind kind, const char* kind_name, Errhandler& errhandler) {
  if (!errhandler.fits(kind)) return fail(MPI_ERR_ERRHANDLER, "errhandler is not one for %s", kind_name);
  slot.set(errhandler);
  return success;
}

// The reference becomes the user's. The handle is the same each time, valid as long as a reference exists.
Error get(const ErrhandlerSlot& slot, MPI_Errhandler* out) {
  *out = handle_of<MPI_Errhandler>(*slot.get());
  return success;
}

Error call(Function function, Object* owner, int errorcode) {
  handle_error(function, owner, errorcode, "called by the program");
  return success;
}

}  // namespace

Error Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(comm_errhandler_fn, errhandler);
}
Error Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(win_errhandler_fn, errhandler);
}
Error File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(file_errhandler_fn, errhandler);
}
Error Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn, MPI_Errhandler* errhandler) {
  return create(session_errhandler_fn, errhandler);
}

Error Comm_set_errhandler(Comm& comm, Errhandler& errhandler) {
  return set(comm.errhandler, Kind::comm, "communicators", errhandler);
}
Error Session_set_errhandler(Session& session, Errhandler& errhandler) {
  return set(session.errhandler, Kind::session, "sessions", errhandler);
}
Error Win_set_errhandler(Win& win, Errhandler& errhandler) {
  return set(win.errhandler, Kind::win, "windows", errhandler);
}
Error File_set_errhandler(File* file, Errhandler& errhandler) {
  return set(slot_of(file), Kind::file, "files", errhandler);
}

Error Comm_get_errhandler(Comm& comm, MPI_Errhandler* errhandler) { return get(comm.errhandler, errhandler); }
Error Session_get_errhandler(Session& session, MPI_Errhandler* errhandler) {
  return get(session.errhandler, errhandler);
}
Error Win_get_errhandler(Win& win, MPI_Errhandler* errhandler) { return get(win.errhandler, errhandler); }
Error File_get_errhandler(File* file, MPI_Errhandler* errhandler) { return get(slot_of(file), errhandler); }

Error Comm_call_errhandler(Comm& comm, int errorcode) { return call(Function::Comm_call_errhandler, &comm, errorcode); }
Error Session_call_errhandler(Session& session, int errorcode) {
  return call(Function::Session_call_errhandler, &session, errorcode);
}
Error Win_call_errhandler(Win& win, int errorcode) { return call(Function::Win_call_errhandler, &win, errorcode); }
Error File_call_errhandler(File* fh, int errorcode) { return call(Function::File_call_errhandler, fh, errorcode); }

// Objects that it is attached to keep it.
Error Errhandler_free(MPI_Errhandler* errhandler) {
  release(*object(*errhandler));
  *errhandler = MPI_ERRHANDLER_NULL;
  return success;
}

Error Error_class(int errorcode, int* errorclass) {
  if (!current_rank().tables->errors.find_class(errorcode, *errorclass))
    return fail(MPI_ERR_ARG, "errorcode is %d, which is not an error code", errorcode);
  return success;
}

Error Error_string(int errorcode, char* string, int* resultlen) {
  std::string text;
  if (!current_rank().tables->errors.find_text(errorcode, text))
    return fail(MPI_ERR_ARG, "errorcode is %d, which is not an error code", errorcode);
  // The calling thread's last error. Texts that the program has set stay unchanged.
  const ErrorDetail& detail = error_detail();
  if (detail.returned == errorcode && detail.returned_text[0] != '\0' && standard_error_class(errorcode) != nullptr)
    text = (text + "; " + detail.returned_text).substr(0, MPI_MAX_ERROR_STRING - 1);
  std::memcpy(string, text.c_str(), text.size() + 1);
  *resultlen = static_cast<int>(text.size());
  return success;
}

Error Add_error_class(int* errorclass) {
  *errorclass = current_rank().tables->errors.add_class();
  return success;
}

Error Add_error_code(int errorclass, int* errorcode) {
  return current_rank().tables->errors.add_code(errorclass, *errorcode);
}

Error Add_error_string(int errorcode, const char* string) {
  return current_rank().tables->errors.add_string(errorcode, string);
}

Error Remove_error_class(int errorclass) { return current_rank().tables->errors.remove_class(errorclass); }
Error Remove_error_code(int errorcode) { return current_rank().tables->errors.remove_code(errorcode); }
Error Remove_error_string(int errorcode) { return current_rank().tables->errors.remove_string(errorcode); }

}  // namespace heddle::mpi
