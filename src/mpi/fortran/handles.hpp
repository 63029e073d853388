// Handles as Fortran INTEGERs and back, by the functions that the standard ABI has for it.
#pragma once

#include <mpi.h>

#include "mpi/fortran/integer.hpp"

namespace heddle::fortran {

inline Fint number(MPI_Comm h) { return MPI_Comm_toint(h); }
inline Fint number(MPI_Errhandler h) { return MPI_Errhandler_toint(h); }
inline Fint number(MPI_File h) { return MPI_File_toint(h); }
inline Fint number(MPI_Group h) { return MPI_Group_toint(h); }
inline Fint number(MPI_Info h) { return MPI_Info_toint(h); }
inline Fint number(MPI_Message h) { return MPI_Message_toint(h); }
inline Fint number(MPI_Op h) { return MPI_Op_toint(h); }
inline Fint number(MPI_Request h) { return MPI_Request_toint(h); }
inline Fint number(MPI_Session h) { return MPI_Session_toint(h); }
Fint number(MPI_Datatype type);
inline Fint number(MPI_Win h) { return MPI_Win_toint(h); }

// A Fortran integer of a handle to which C assigns another type: C's integers are as wide as its int. With 8-byte
// INTEGERs MPI_INTEGER, MPI_LOGICAL and MPI_2INTEGER name types that are twice as wide as in C. In the other direction
// those types get these names again, also where the program has called them MPI_INTEGER8 and MPI_LOGICAL8.
MPI_Datatype datatype_of(int number);

template <class Handle>
Handle handle(Fint number) = delete;
template <>
inline MPI_Comm handle(Fint n) {
  return MPI_Comm_fromint(to_int(n));
}
template <>
inline MPI_Errhandler handle(Fint n) {
  return MPI_Errhandler_fromint(to_int(n));
}
template <>
inline MPI_File handle(Fint n) {
  return MPI_File_fromint(to_int(n));
}
template <>
inline MPI_Group handle(Fint n) {
  return MPI_Group_fromint(to_int(n));
}
template <>
inline MPI_Info handle(Fint n) {
  return MPI_Info_fromint(to_int(n));
}
template <>
inline MPI_Message handle(Fint n) {
  return MPI_Message_fromint(to_int(n));
}
template <>
inline MPI_Op handle(Fint n) {
  return MPI_Op_fromint(to_int(n));
}
template <>
inline MPI_Request handle(Fint n) {
  return MPI_Request_fromint(to_int(n));
}
template <>
inline MPI_Session handle(Fint n) {
  return MPI_Session_fromint(to_int(n));
}
template <>
inline MPI_Datatype handle(Fint n) {
  return datatype_of(to_int(n));
}
template <>
inline MPI_Win handle(Fint n) {
  return MPI_Win_fromint(to_int(n));
}

}  // namespace heddle::fortran
