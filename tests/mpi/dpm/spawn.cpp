// MPI_Comm_spawn: from all ranks together and from each alone, several times, by processes that were spawned themselves.
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

#include "mpi/dpm/children.hpp"

namespace {

using namespace test;

void check_name_and_attributes(int spawned) {
  MPI_Comm comm = parent();
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_get_name(comm, name, &length);
  check(std::string(name) == "MPI_COMM_PARENT", "the parent's name");
  equal(size(), spawned, "a world of its own");
  int inter, found;
  MPI_Comm_test_inter(comm, &inter);
  check(inter, "an intercommunicator");
  int* appnum;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &appnum, &found);
  check(found && *appnum == 0, "MPI_APPNUM");
}

// A child talks to its parents, and with its siblings alone.
void be_child(int spawned) {
  check_name_and_attributes(spawned);
  MPI_Comm comm = parent();
  talk(comm, 3, true);
  talk(comm, 200'000, true);
  int sum = 0;
  const int mine = rank();
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  equal(sum, size() * (size() - 1) / 2, "a sum of the spawned world");
  MPI_Comm_disconnect(&comm);
  check(comm == MPI_COMM_NULL && parent() == MPI_COMM_NULL, "no parent any more");
}

void check_children(MPI_Comm children, int n) {
  equal(remote_size(children), n, "children");
  talk(children, 3, false);
  talk(children, 200'000, false);
  MPI_Comm_disconnect(&children);
}

void be_first(const char* program) {
  check_children(spawn(program, {"child", "2"}, 2, MPI_COMM_WORLD, size() - 1), 2);  // the last rank is the root
  check_children(spawn(program, {"child", "1"}, 1, MPI_COMM_SELF), 1);  // all ranks at once, each for itself
  // The own program, by the names that a program has for it when it has not kept argv[0].
  char* own = realpath("/proc/self/exe", nullptr);
  check_children(spawn(own, {"child", "1"}, 1, MPI_COMM_WORLD), 1);
  std::free(own);
  check_children(spawn("/proc/self/exe", {"child", "1"}, 1, MPI_COMM_WORLD), 1);
  // As a system call says it, which is the host of a rank that is a thread.
  char executed[PATH_MAX] = "";
  check(syscall(SYS_readlink, "/proc/self/exe", executed, sizeof executed - 1) > 0, "the executed file");
  check_children(spawn(executed, {"child", "1"}, 1, MPI_COMM_WORLD), 1);
  // A child that spawns a child.
  MPI_Comm family = spawn(program, {"family"}, 1, MPI_COMM_WORLD);
  MPI_Barrier(family);
  MPI_Comm_disconnect(&family);
  check(parent() == MPI_COMM_NULL, "the first was not spawned");
}

void be_family(const char* program) {
  MPI_Comm comm = parent();
  check_children(spawn(program, {"child", "2"}, 2, MPI_COMM_WORLD), 2);
  MPI_Barrier(comm);
  MPI_Comm_disconnect(&comm);
}

// Two sets of children that were spawned by the same parents are two worlds; wdir is where a child runs.
void be_there(const char* expected) {
  char here[PATH_MAX];
  check(getcwd(here, sizeof here) != nullptr && std::string(here) == expected, "the working directory");
  MPI_Comm comm = parent();
  MPI_Comm_disconnect(&comm);
}

void use_info(const char* program) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "wdir", "/");
  MPI_Info_set(info, "host", "localhost");
  MPI_Comm children = spawn(program, {"there", "/"}, 1, MPI_COMM_WORLD, 0, info);
  MPI_Comm_disconnect(&children);
  MPI_Info_delete(info, "wdir");

  // A bare name is looked for in `path`.
  const std::string whole = program;
  const std::size_t slash = whole.rfind('/');
  MPI_Info_set(info, "path", whole.substr(0, slash).c_str());
  check_children(spawn(whole.c_str() + slash + 1, {"child", "1"}, 1, MPI_COMM_WORLD, 0, info), 1);

  // The maximum that `soft` allows.
  MPI_Info_set(info, "soft", "1:3:2,0");
  std::vector<int> codes(4, -1);
  std::string part = "child", number = "3";
  char* argv[] = {part.data(), number.data(), nullptr};
  MPI_Comm_spawn(program, argv, 4, info, 0, MPI_COMM_WORLD, &children, codes.data());
  for (int i = 0; i < 4; ++i)
    equal(class_of(codes[static_cast<std::size_t>(i)]), i < 3 ? MPI_SUCCESS : MPI_ERR_SPAWN, "code");
  check_children(children, 3);
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  const std::string as = part(argc, argv);
  if (as == "child") {
    be_child(std::atoi(argv[2]));
  } else if (as == "family") {
    be_family(argv[0]);
  } else if (as == "there") {
    be_there(argv[2]);
  } else {
    be_first(argv[0]);
    use_info(argv[0]);
  }
}
