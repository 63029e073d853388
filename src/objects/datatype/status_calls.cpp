// The contents of a status (MPI 5.0, sections 3.2.5, 5.1.12, 3.8.4, 12.3). The counts in it are in units of a datatype.
#include "objects/binding/impl.hpp"
#include "objects/datatype/elements.hpp"
#include "objects/object/status.hpp"

namespace heddle::mpi {

Error Get_count(const MPI_Status* status, const Datatype& datatype, CountOut count) {
  const MPI_Count bytes = status_bytes(*status);
  if (datatype.size == 0) {
    count.set(bytes == 0 ? 0 : int{MPI_UNDEFINED});
  } else {
    count.set(bytes % datatype.size == 0 ? bytes / datatype.size : MPI_Count{MPI_UNDEFINED});
  }
  return success;
}

Error Get_elements(const MPI_Status* status, const Datatype& datatype, CountOut count) {
  count.set(datatype::elements_in(datatype, status_bytes(*status)));
  return success;
}

Error Status_set_elements(MPI_Status* status, const Datatype& datatype, MPI_Count count) {
  set_status_bytes(*status, datatype::bytes_of_elements(datatype, count));
  return success;
}

Error Status_set_cancelled(MPI_Status* status, int flag) {
  set_status_cancelled(*status, flag != 0);
  return success;
}

Error Test_cancelled(const MPI_Status* status, int* flag) {
  *flag = status_cancelled(*status);
  return success;
}

Error Status_get_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return success;
}
Error Status_get_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return success;
}
Error Status_get_error(const MPI_Status* status, int* err) {
  *err = status->MPI_ERROR;
  return success;
}
Error Status_set_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return success;
}
Error Status_set_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return success;
}
Error Status_set_error(MPI_Status* status, int err) {
  status->MPI_ERROR = err;
  return success;
}

}  // namespace heddle::mpi
