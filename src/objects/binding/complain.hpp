// The reaction of an entry point to a bad argument: one sentence that names the argument and its value, the right error
// class, the right error handler. Each returns the result of the call. `owner` is the object of the call whose error
// handler is responsible; null if there is none or it is itself the bad argument.
#pragma once

#include <mpi.h>

#include "base/functions.hpp"
#include "objects/binding/counts.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/group.hpp"
#include "objects/object/raise.hpp"

namespace heddle::binding {

// Before initialization or after finalization.
[[gnu::cold, gnu::noinline]] int not_running(Function function);

// A handle that is null, freed, or of no object at all.
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Comm);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Group);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Datatype);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Op);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Info);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Errhandler);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Request);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Session);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Message);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_Win);
[[gnu::cold, gnu::noinline]] int bad_handle(Function, Object* owner, const char* argument, MPI_File);

// A datatype for communication: not a datatype, or not committed.
[[gnu::cold, gnu::noinline]] int bad_datatype(Function, Object* owner, const char* argument, MPI_Datatype);
[[gnu::cold, gnu::noinline]] int bad_datatypes(Function, Object* owner, const char* argument, const MPI_Datatype*,
                                               MPI_Count n, bool committed);
[[gnu::cold, gnu::noinline]] int bad_requests(Function, Object* owner, const char* argument, const MPI_Request*, int n);

[[gnu::cold, gnu::noinline]] int bad_rank(Function, Comm* comm, const char* argument, int value);
[[gnu::cold, gnu::noinline]] int bad_ranks(Function, Object* owner, const char* argument, const int* ranks, int n,
                                           const Group&);
[[gnu::cold, gnu::noinline]] int bad_root(Function, Comm* comm, const char* argument, int value);
[[gnu::cold, gnu::noinline]] int bad_tag(Function, Object* owner, const char* argument, int value);

// A communicator of the wrong sort: `wanted` is "an intracommunicator" or "an intercommunicator".
[[gnu::cold, gnu::noinline]] int bad_sort(Function, Comm* comm, const char* argument, const char* wanted);

// A number below what is allowed.
[[gnu::cold, gnu::noinline]] int bad_number(Function, Object* owner, const char* argument, MPI_Count value,
                                            MPI_Count least, int error_class);
// An array of counts: null, or with one below what is allowed.
[[gnu::cold, gnu::noinline]] int bad_numbers(Function, Object* owner, const char* argument, Counts, MPI_Count n,
                                             MPI_Count least, int error_class);
[[gnu::cold, gnu::noinline]] int bad_keyval(Function, Object* owner, const char* argument);

// An operation that is not defined for the datatype.
[[gnu::cold, gnu::noinline]] int bad_reduction(Function, Object* owner, Error);

[[gnu::cold, gnu::noinline]] int bad_pointer(Function, Object* owner, const char* argument);
[[gnu::cold, gnu::noinline]] int bad_string(Function, Object* owner, const char* argument, const char* value,
                                            int error_class);
[[gnu::cold, gnu::noinline]] int bad_buffer(Function, Object* owner, const char* argument, const void* value);
[[gnu::cold, gnu::noinline]] int bad_overlap(Function, Object* owner, const char* argument, const char* other);

}  // namespace heddle::binding
