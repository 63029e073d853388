// A file that is still open when MPI ends is none from then on.
#include <unistd.h>

#include <string>

#include "mpi/check.hpp"

namespace {

// Leak checkers know this name.
MPI_File leave_one_behind(const std::string& name) {
  MPI_File file;
  const int opened = MPI_File_open(MPI_COMM_SELF, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
  test::equal(opened, MPI_SUCCESS, "open");
  return file;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string name = "heddle-io-finalized-" + std::to_string(getpid());
  MPI_File file = leave_one_behind(name);
  MPI_Finalize();
  unlink(name.c_str());
  MPI_Offset size;
  int amode;
  const auto is_over = [](int code) {
    int error_class;
    MPI_Error_class(code, &error_class);
    return error_class == MPI_ERR_OTHER;
  };
  const bool over = is_over(MPI_File_get_amode(file, &amode)) && is_over(MPI_File_get_size(file, &size)) &&
                    is_over(MPI_File_sync(file)) && is_over(MPI_File_close(&file));
  if (!over) std::fprintf(stderr, "a file can be used after MPI_Finalize\n");
  return over ? 0 : 1;
}
