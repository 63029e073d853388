// A file that the ranks of a test share: its name, and its end.
#pragma once

#include <unistd.h>

#include <string>

#include "mpi/check.hpp"

namespace test {

inline std::string file_name_for_all(const char* what) {
  char name[96];
  std::snprintf(name, sizeof name, "heddle-io-%s-%d", what, static_cast<int>(getpid()));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  return name;
}

// Open from construction on; deleted when it is closed.
class SharedFile {
 public:
  explicit SharedFile(const std::string& name, int amode = 0, MPI_Info info = MPI_INFO_NULL,
                      MPI_Comm comm = MPI_COMM_WORLD) {
    equal(MPI_File_open(comm, name.c_str(), MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE | amode, info,
                        &file_),
          MPI_SUCCESS, "open");
  }
  ~SharedFile() { equal(MPI_File_close(&file_), MPI_SUCCESS, "close"); }
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  operator MPI_File() const { return file_; }

 private:
  MPI_File file_;
};

inline int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count;
  MPI_Get_count(&status, type, &count);
  return count;
}

}  // namespace test
