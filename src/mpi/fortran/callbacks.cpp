// User operations, error handlers, generalized requests and data representations whose functions are Fortran procedures.
#include <new>

#include "mpi/fortran/arguments.hpp"
#include "mpi/fortran/calls.hpp"
#include "mpi/fortran/complain.hpp"
#include "mpi/fortran/predefined.hpp"
#include "mpi/fortran/trampolines.hpp"

namespace heddle::fortran::calls {
namespace {

constexpr char too_many[] =
    "too many Fortran procedures for operations or error handlers: at most 256 different ones are supported. "
    "Make each operation or error handler once and reuse it";

void operate(Procedure user, void* in, void* inout, Fint length, MPI_Datatype datatype) {
  Fint type = number(datatype);
  call(user, static_cast<char*>(in), static_cast<char*>(inout), &length, &type);
}

struct Operation {
  using Function = MPI_User_function;
  template <std::size_t place>
  static void function(void* in, void* inout, int* length, MPI_Datatype* datatype) {
    operate(Trampolines<Operation>::procedure(place), in, inout, *length, *datatype);
  }
};

struct LargeOperation {
  using Function = MPI_User_function_c;
  template <std::size_t place>
  static void function(void* in, void* inout, MPI_Count* length, MPI_Datatype* datatype) {
    Fint type = number(*datatype);
    call(Trampolines<LargeOperation>::procedure(place), static_cast<char*>(in), static_cast<char*>(inout), length,
         &type);
  }
};

// The function of an error handler for objects of one kind.
template <class Handle, class C>
struct Handler {
  using Function = C;
  template <std::size_t place>
  static void function(Handle* object, int* code, ...) {
    Fint object_number = number(*object);
    Fint error = *code;
    call(Trampolines<Handler>::procedure(place), &object_number, &error);
  }
};

template <class Handle, class C>
void create_errhandler(int (*create)(C*, MPI_Errhandler*), Procedure procedure, Fint* errhandler, Fint* ierror) {
  C* function = Trampolines<Handler<Handle, C>>::to(procedure);
  if (!function) return give(ierror, complain(MPI_ERR_NO_MEM, too_many));
  give(ierror, create(function, HandleOut<MPI_Errhandler>(errhandler)));
}

// ---- generalized requests ------------------------------------------------------------------------------------------

struct Generalized {
  Procedure query, release, cancel;
  MPI_Aint extra_state;
};

int query(void* state, MPI_Status* status) {
  auto& request = *static_cast<Generalized*>(state);
  Fint values[status_size], ierror = MPI_SUCCESS;
  MPI_Aint extra_state = request.extra_state;
  to_fortran(*status, values);
  call(request.query, &extra_state, static_cast<Fint*>(values), &ierror);
  to_c(values, *status);
  return to_int(ierror);
}

int release(void* state) {
  auto* request = static_cast<Generalized*>(state);
  Fint ierror = MPI_SUCCESS;
  MPI_Aint extra_state = request->extra_state;
  call(request->release, &extra_state, &ierror);
  delete request;
  return to_int(ierror);
}

int cancel(void* state, int complete) {
  auto& request = *static_cast<Generalized*>(state);
  Fint ierror = MPI_SUCCESS, complete_logical = complete ? logical_true : logical_false;
  MPI_Aint extra_state = request.extra_state;
  call(request.cancel, &extra_state, &complete_logical, &ierror);
  return to_int(ierror);
}

// ---- data representations ------------------------------------------------------------------------------------------

struct Datarep {
  Procedure read, write, extent;
  MPI_Aint extra_state;
};

template <class Count>
int convert(Procedure procedure, const Datarep& datarep, void* user, MPI_Datatype datatype, Count count, void* file,
            MPI_Offset position) {
  Fint type = number(datatype), ierror = MPI_SUCCESS;
  MPI_Aint extra_state = datarep.extra_state;
  call(procedure, static_cast<char*>(user), &type, &count, static_cast<char*>(file), &position, &extra_state, &ierror);
  return to_int(ierror);
}

int read_rep(void* user, MPI_Datatype datatype, int count, void* file, MPI_Offset position, void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  return convert<Fint>(datarep.read, datarep, user, datatype, count, file, position);
}

int write_rep(void* user, MPI_Datatype datatype, int count, void* file, MPI_Offset position, void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  return convert<Fint>(datarep.write, datarep, user, datatype, count, file, position);
}

int read_rep_c(void* user, MPI_Datatype datatype, MPI_Count count, void* file, MPI_Offset position, void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  return convert(datarep.read, datarep, user, datatype, count, file, position);
}

int write_rep_c(void* user, MPI_Datatype datatype, MPI_Count count, void* file, MPI_Offset position, void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  return convert(datarep.write, datarep, user, datatype, count, file, position);
}

int extent_rep(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  const auto& datarep = *static_cast<Datarep*>(state);
  Fint type = number(datatype), ierror = MPI_SUCCESS;
  MPI_Aint extra_state = datarep.extra_state;
  call(datarep.extent, &type, extent, &extra_state, &ierror);
  return to_int(ierror);
}

// A representation lasts as long as MPI, and so do its data.
template <class Function>
int register_rep(int (*enter)(const char*, Function*, Function*, MPI_Datarep_extent_function*, void*), Function* read,
                 Function* write, const char* name, const Datarep& datarep, std::size_t length) {
  auto* kept = new Datarep(datarep);
  const int code = enter(String(name, length), is_null_conversion(datarep.read) ? nullptr : read,
                         is_null_conversion(datarep.write) ? nullptr : write, extent_rep, kept);
  if (code != MPI_SUCCESS) delete kept;
  return code;
}

}  // namespace

void op_create(Procedure user, const Fint* commute, Fint* op, Fint* ierror) {
  MPI_User_function* function = Trampolines<Operation>::to(user);
  if (!function) return give(ierror, complain(MPI_ERR_NO_MEM, too_many));
  give(ierror, MPI_Op_create(function, truth(commute), HandleOut<MPI_Op>(op)));
}

void op_create_c(Procedure user, const Fint* commute, Fint* op, Fint* ierror) {
  MPI_User_function_c* function = Trampolines<LargeOperation>::to(user);
  if (!function) return give(ierror, complain(MPI_ERR_NO_MEM, too_many));
  give(ierror, MPI_Op_create_c(function, truth(commute), HandleOut<MPI_Op>(op)));
}

void comm_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror) {
  create_errhandler<MPI_Comm>(MPI_Comm_create_errhandler, function, errhandler, ierror);
}

void file_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror) {
  create_errhandler<MPI_File>(MPI_File_create_errhandler, function, errhandler, ierror);
}

void session_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror) {
  create_errhandler<MPI_Session>(MPI_Session_create_errhandler, function, errhandler, ierror);
}

void win_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror) {
  create_errhandler<MPI_Win>(MPI_Win_create_errhandler, function, errhandler, ierror);
}

void grequest_start(Procedure query_fn, Procedure free_fn, Procedure cancel_fn, const MPI_Aint* extra_state,
                    Fint* request, Fint* ierror) {
  auto* kept = new Generalized{query_fn, free_fn, cancel_fn, *extra_state};
  const int code = MPI_Grequest_start(query, release, cancel, kept, HandleOut<MPI_Request>(request));
  if (code != MPI_SUCCESS) delete kept;
  give(ierror, code);
}

void register_datarep(const char* name, Procedure read, Procedure write, Procedure extent, const MPI_Aint* extra_state,
                      Fint* ierror, std::size_t length) {
  give(ierror,
       register_rep(MPI_Register_datarep, read_rep, write_rep, name, {read, write, extent, *extra_state}, length));
}

void register_datarep_c(const char* name, Procedure read, Procedure write, Procedure extent,
                        const MPI_Aint* extra_state, Fint* ierror, std::size_t length) {
  give(ierror, register_rep(MPI_Register_datarep_c, read_rep_c, write_rep_c, name, {read, write, extent, *extra_state},
                            length));
}

}  // namespace heddle::fortran::calls
