#include "mpi/io/system_error.hpp"

#include <cerrno>
#include <cstring>

namespace heddle::io {

int error_class_of(int error_number) {
  switch (error_number) {
    case 0:
      return MPI_SUCCESS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ETXTBSY:
    case EBUSY:
      return MPI_ERR_FILE_IN_USE;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    default:
      return MPI_ERR_IO;
  }
}

Error fail_system(const char* what, const char* filename, int error_number) {
  char text[128];
  return fail(error_class_of(error_number), "cannot %s %.200s: %s", what, filename,
              strerror_r(error_number, text, sizeof text));
}

}  // namespace heddle::io
