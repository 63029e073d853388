// Ranks whose sessions come and go beside others that make windows and files: the end of MPI in one rank does not look at what
// another is just making. Ranks that are threads of one process share the memory that objects lie in.
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "check failed: %s\n", what);
  std::abort();
}

constexpr int sessions = 300;
constexpr int objects = 20;

void make_and_free(MPI_Comm comm) {
  int memory = 0, number;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, comm, &win);
  MPI_Comm dup;
  MPI_Comm_dup(comm, &dup);
  check(MPI_Comm_size(dup, &number) == MPI_SUCCESS && number == 1, "a communicator");
  MPI_Comm_free(&dup);
  MPI_Win_free(&win);
  check(win == MPI_WIN_NULL, "a window");
  MPI_File file;
  const std::string path = "/tmp/heddle-side-by-side-" + std::to_string(getpid()) + "-" +
                           std::to_string(reinterpret_cast<std::uintptr_t>(&memory));
  check(MPI_File_open(comm, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                      &file) == MPI_SUCCESS,
        "a file");
  MPI_File_close(&file);
}

}  // namespace

int main() {
  for (int i = 0; i < sessions; ++i) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group group;
    MPI_Comm comm;
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "self", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    for (int j = 0; j < objects * (i % 2); ++j) make_and_free(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
}
