// The procedures whose arguments do not map one by one to those of the C function. The generated entry points call these with
// Fortran's arguments as they came; lengths of characters are last.
#pragma once

#include <mpi.h>

#include <cstddef>

#include "mpi/fortran/integer.hpp"
#include "mpi/fortran/procedure.hpp"

namespace heddle::fortran::calls {

// callbacks.cpp: user operations, error handlers, generalized requests, data representations
void op_create(Procedure user, const Fint* commute, Fint* op, Fint* ierror);
void op_create_c(Procedure user, const Fint* commute, Fint* op, Fint* ierror);
void comm_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror);
void file_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror);
void session_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror);
void win_create_errhandler(Procedure function, Fint* errhandler, Fint* ierror);
void grequest_start(Procedure query, Procedure release, Procedure cancel, const MPI_Aint* extra_state, Fint* request,
                    Fint* ierror);
void register_datarep(const char* name, Procedure read, Procedure write, Procedure extent, const MPI_Aint* extra_state,
                      Fint* ierror, std::size_t length);
void register_datarep_c(const char* name, Procedure read, Procedure write, Procedure extent,
                        const MPI_Aint* extra_state, Fint* ierror, std::size_t length);

// attributes.cpp
void comm_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror);
void type_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror);
void win_create_keyval(Procedure copy, Procedure remove, Fint* keyval, const MPI_Aint* extra_state, Fint* ierror);
void keyval_create(Procedure copy, Procedure remove, Fint* keyval, const Fint* extra_state, Fint* ierror);
void comm_set_attr(const Fint* comm, const Fint* keyval, const MPI_Aint* value, Fint* ierror);
void type_set_attr(const Fint* datatype, const Fint* keyval, const MPI_Aint* value, Fint* ierror);
void win_set_attr(const Fint* win, const Fint* keyval, const MPI_Aint* value, Fint* ierror);
void attr_put(const Fint* comm, const Fint* keyval, const Fint* value, Fint* ierror);
void comm_get_attr(const Fint* comm, const Fint* keyval, MPI_Aint* value, Fint* flag, Fint* ierror);
void type_get_attr(const Fint* datatype, const Fint* keyval, MPI_Aint* value, Fint* flag, Fint* ierror);
void win_get_attr(const Fint* win, const Fint* keyval, MPI_Aint* value, Fint* flag, Fint* ierror);
void attr_get(const Fint* comm, const Fint* keyval, Fint* value, Fint* flag, Fint* ierror);

// spawn.cpp
void comm_spawn(const char* command, const char* argv, const Fint* maxprocs, const Fint* info, const Fint* root,
                const Fint* comm, Fint* intercomm, Fint* errcodes, Fint* ierror, std::size_t command_length,
                std::size_t argv_length);
void comm_spawn_multiple(const Fint* count, const char* commands, const char* argvs, const Fint* maxprocs,
                         const Fint* infos, const Fint* root, const Fint* comm, Fint* intercomm, Fint* errcodes,
                         Fint* ierror, std::size_t command_length, std::size_t argv_length);

// others.cpp
void info_get_string(const Fint* info, const char* key, Fint* buflen, char* value, Fint* flag, Fint* ierror,
                     std::size_t key_length, std::size_t value_length);
void session_get_nth_pset(const Fint* session, const Fint* info, const Fint* n, Fint* pset_len, char* pset_name,
                          Fint* ierror, std::size_t length);
void buffer_detach(void* ignored, Fint* size, Fint* ierror);
void comm_detach_buffer(const Fint* comm, void* ignored, Fint* size, Fint* ierror);
void session_detach_buffer(const Fint* session, void* ignored, Fint* size, Fint* ierror);
void status_f2f08(const Fint* f_status, Fint* f08_status, Fint* ierror);
void status_f082f(const Fint* f08_status, Fint* f_status, Fint* ierror);

}  // namespace heddle::fortran::calls
