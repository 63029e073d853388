// The library's fields in a status (MPI 5.0, section 3.2.5): the ABI gives it MPI_internal[5], of which the first two
// hold the number of bytes and the third the cancelled flag. Writing them never touches MPI_ERROR, which only the
// functions that return several statuses may set.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <cstring>

namespace heddle {

static_assert(sizeof(MPI_Status) == 32);

inline MPI_Count status_bytes(const MPI_Status& status) {
  std::int64_t bytes;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);  // the field is only int-aligned
  return bytes;
}

inline void set_status_bytes(MPI_Status& status, MPI_Count bytes) {
  const std::int64_t value = bytes;
  std::memcpy(status.MPI_internal, &value, sizeof value);
}

inline bool status_cancelled(const MPI_Status& status) { return status.MPI_internal[2] != 0; }
inline void set_status_cancelled(MPI_Status& status, bool cancelled) { status.MPI_internal[2] = cancelled; }

inline void set_status(MPI_Status& status, int source, int tag, MPI_Count bytes, bool cancelled = false) {
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  set_status_bytes(status, bytes);
  set_status_cancelled(status, cancelled);
}

// The status of an operation on MPI_PROC_NULL (section 3.10), and of a null or inactive request
// (section 3.7.3).
inline void set_proc_null_status(MPI_Status& status) { set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0); }
inline void set_empty_status(MPI_Status& status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  status.MPI_ERROR = MPI_SUCCESS;  // an empty status has one (MPI 5.0, section 3.7.3), any other stays unchanged
}

}  // namespace heddle
