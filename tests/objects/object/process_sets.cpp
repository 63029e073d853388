// The process sets of a session: those of the standard, and those that the launcher has made, whose names are the arguments
// of the program in each of them (prterun --pset NAME -n 2 process_sets NAME).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void check(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "check failed: %s\n", what.c_str());
  std::exit(1);
}

std::vector<std::string> names(MPI_Session session) {
  int count = 0;
  MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
  std::vector<std::string> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    int length = 0;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, nullptr);
    std::string& name = all[static_cast<std::size_t>(i)];
    name.resize(static_cast<std::size_t>(length));
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name.data());
    check(length == static_cast<int>(name.size()) && name.back() == '\0', "the length of a name counts its null");
    name.pop_back();
  }
  return all;
}

int told_size(MPI_Session session, const std::string& set) {
  MPI_Info info;
  MPI_Session_get_pset_info(session, set.c_str(), &info);
  char value[16];
  int flag = 0, length = sizeof value;
  MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
  MPI_Info_free(&info);
  check(flag, "mpi_size of " + set);
  return std::atoi(value);
}

// Its members by their rank in the world, which agree on that, and on a sum.
std::string members(MPI_Session session, const std::string& set) {
  MPI_Group group, world;
  MPI_Group_from_session_pset(session, set.c_str(), &group);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  int size = 0, rank = MPI_UNDEFINED;
  MPI_Group_size(group, &size);
  MPI_Group_rank(group, &rank);
  check(rank != MPI_UNDEFINED, "a member of " + set);
  check(size == told_size(session, set), "the size of " + set);
  std::string text;
  int expected = 0;
  for (int i = 0; i < size; ++i) {
    int there = MPI_UNDEFINED;
    MPI_Group_translate_ranks(group, 1, &i, world, &there);
    text += ' ' + std::to_string(there);
    expected += there;
  }
  MPI_Comm comm;
  MPI_Comm_create_from_group(group, ("of " + set).c_str(), MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  int own = MPI_UNDEFINED, sum = 0;
  MPI_Group_translate_ranks(group, 1, &rank, world, &own);
  MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == expected, "a sum over " + set);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  const std::vector<std::string> all = names(session);
  check(all.size() == static_cast<std::size_t>(argc) + 1, "the number of process sets");
  check(all[0] == "mpi://WORLD" && all[1] == "mpi://SELF", "those of the standard come first");
  std::string said;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= 2) check(all[i] == argv[i - 1], "the launcher's sets, those that this process is in");
    const std::string who = members(session, all[i]);
    if (all[i] != "mpi://SELF") said += all[i] + ':' + who + '\n';
  }
  std::fputs(said.c_str(), stdout);
  MPI_Session_finalize(&session);
}
