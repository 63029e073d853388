// MPI_Comm_spawn_multiple: programs with arguments and numbers of processes of their own share a world.
#include "mpi/dpm/children.hpp"

namespace {

using namespace test;

// Told: its number among the programs, and the first rank of it.
void be_child(int argc, char** argv) {
  equal(argc, 4, "arguments");
  int *appnum, found;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
  check(found && *appnum == std::atoi(argv[2]), "MPI_APPNUM");
  check(rank() >= std::atoi(argv[3]), "ranks are dealt out program by program");
  MPI_Comm comm = parent();
  talk(comm, 10, true);
  MPI_Comm_disconnect(&comm);
}

// Arguments of the root alone may be anything elsewhere.
void spawn_two(char* program, int root) {
  char child[] = "child", zero[] = "0", one[] = "1", two[] = "2";
  char* first[] = {child, zero, zero, nullptr};
  char* second[] = {child, one, two, nullptr};
  char* programs[] = {program, program};
  char** arguments[] = {first, second};
  const int numbers[] = {2, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  const bool decides = rank() == root;
  int codes[] = {-1, -1, -1};
  MPI_Comm children;
  MPI_Comm_spawn_multiple(decides ? 2 : -1, decides ? programs : nullptr, decides ? arguments : nullptr,
                          decides ? numbers : nullptr, decides ? infos : nullptr, root, MPI_COMM_WORLD, &children,
                          codes);
  for (const int code : codes) equal(code, MPI_SUCCESS, "code");
  equal(remote_size(children), 3, "children of both programs");
  talk(children, 10, false);
  MPI_Comm_disconnect(&children);
}

// One that is not there: nothing is started, and all learn it.
void spawn_missing(char* program) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char missing[] = "/no/such/program";
  char* programs[] = {program, missing};
  const int numbers[] = {1, 2};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int codes[] = {-1, -1, -1};
  MPI_Comm children = MPI_COMM_WORLD;
  const int error =
      MPI_Comm_spawn_multiple(2, programs, MPI_ARGVS_NULL, numbers, infos, 0, MPI_COMM_WORLD, &children, codes);
  equal(class_of(error), MPI_ERR_SPAWN, "class");
  check(children == MPI_COMM_NULL, "no communicator");
  for (const int code : codes) equal(class_of(code), MPI_ERR_SPAWN, "code");
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(error, text, &length);
  check(std::strstr(text, "program 1 of array_of_commands") != nullptr, text);
  check(std::strstr(text, "/no/such/program") != nullptr, text);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  if (part(argc, argv) == "child") {
    be_child(argc, argv);
  } else {
    for (int root = 0; root < size(); ++root) spawn_two(argv[0], root);
    spawn_missing(argv[0]);
  }
}
