// Opening, closing and deleting files: modes, errors and whose handlers they reach. Each run has a name of its own.
#include <unistd.h>

#include <string>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

std::string name_for_all() {
  char name[64];
  std::snprintf(name, sizeof name, "heddle-io-test-%d", static_cast<int>(getpid()));
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  return name;
}

int calls = 0;
void note(MPI_File*, int* code, ...) {
  ++calls;
  equal(class_of(*code), MPI_ERR_NO_SUCH_FILE, "what the handler gets");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  const std::string name = name_for_all();
  MPI_File file;
  const auto open = [&](int amode) {
    return class_of(MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file));
  };

  // Errors of opening are returned unless the program says otherwise.
  equal(open(MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE, "no such file");
  equal(open(MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE, "two ways at once");
  equal(open(MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE, "created to be read");
  MPI_Errhandler noting;
  MPI_File_create_errhandler(note, &noting);
  MPI_File_set_errhandler(MPI_FILE_NULL, noting);
  open(MPI_MODE_RDONLY);
  equal(calls, 1, "the handler of MPI_FILE_NULL");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&noting);

  equal(open(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_SUCCESS, "a new file");
  MPI_File first = file;
  int amode;
  MPI_File_get_amode(first, &amode);
  equal(amode, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, "amode");
  MPI_File_set_size(first, 12345);
  MPI_Offset size;
  MPI_File_get_size(first, &size);
  equal(size, 12345, "size");
  MPI_Group group, world;
  MPI_File_get_group(first, &group);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int same;
  MPI_Group_compare(group, world, &same);
  equal(same, MPI_IDENT, "group");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_File_close(&first);
  check(first == MPI_FILE_NULL, "close sets the handle to null");

  equal(open(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS, "it is there already");
  equal(open(MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE), MPI_SUCCESS, "open to delete");
  MPI_File_close(&file);
  MPI_Barrier(MPI_COMM_WORLD);
  check(access(name.c_str(), F_OK) != 0, "deleted on close");
  equal(class_of(MPI_File_delete(name.c_str(), MPI_INFO_NULL)), MPI_ERR_NO_SUCH_FILE, "delete of nothing");

  // A failure while a file is closed belongs to the file's own handler, and the file is closed nevertheless.
  equal(open(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE), MPI_SUCCESS, "open to be deleted too early");
  MPI_File_create_errhandler(note, &noting);
  MPI_File_set_errhandler(file, noting);
  MPI_Errhandler_free(&noting);
  MPI_Barrier(MPI_COMM_WORLD);
  if (test::rank() == 0) MPI_File_delete(name.c_str(), MPI_INFO_NULL);
  MPI_File closing = file;
  const int closed = class_of(MPI_File_close(&closing));
  equal(closed, test::rank() == 0 ? MPI_ERR_NO_SUCH_FILE : MPI_SUCCESS, "close of a file that is gone");
  equal(calls, test::rank() == 0 ? 2 : 1, "the handler of the file that is closed");
  check(closing == MPI_FILE_NULL, "a close that fails closes");
  equal(class_of(MPI_File_sync(file)), MPI_ERR_FILE, "the handle is dead");

  // A directory is no file, and one opened for reading has its size.
  equal(class_of(MPI_File_open(MPI_COMM_WORLD, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)), MPI_ERR_BAD_FILE,
        "a directory");
  equal(class_of(MPI_File_open(MPI_COMM_WORLD, "/proc/self/stat", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)), MPI_SUCCESS,
        "open for reading");
  equal(class_of(MPI_File_set_size(file, 1)), MPI_ERR_READ_ONLY, "set_size of what may only be read");
  MPI_File_close(&file);
}
