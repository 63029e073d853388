// Programs that never call MPI_Init: sessions, one after the other and side by side, and info objects and error
// handlers before and after them.
#include <string>

#include "mpi/check.hpp"

namespace {

using test::class_of;

// test::check needs MPI_COMM_WORLD, which there is none of.
void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "check failed: %s\n", what);
  std::exit(1);
}

int size_of_pset(MPI_Session session, const char* name) {
  MPI_Info info;
  MPI_Session_get_pset_info(session, name, &info);
  char value[16];
  int flag, length = sizeof value;
  MPI_Info_get_string(info, "mpi_size", &length, value, &flag);
  check(flag, "mpi_size");
  MPI_Info_free(&info);
  return std::atoi(value);
}

MPI_Comm comm_of_pset(MPI_Session session, const char* name, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Group_from_session_pset(session, name, &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

void use(MPI_Comm comm, int expected_size) {
  int size, rank, sum = 0;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  check(size == expected_size, "size of a communicator from a process set");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  check(sum == size * (size - 1) / 2, "allreduce without MPI_COMM_WORLD");
  int answer;
  check(MPI_Comm_remote_size(comm, &answer) != MPI_SUCCESS, "its error handler is the one that was given");
  MPI_Comm_free(&comm);
}

void one_session() {
  MPI_Session first, second;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second);
  int n, length = 0;
  MPI_Session_get_num_psets(first, MPI_INFO_NULL, &n);
  check(n >= 2, "number of process sets");
  MPI_Session_get_nth_pset(first, MPI_INFO_NULL, 0, &length, nullptr);
  std::string name(static_cast<std::size_t>(length), '\0');
  MPI_Session_get_nth_pset(first, MPI_INFO_NULL, 0, &length, name.data());
  check(length == static_cast<int>(std::strlen(name.c_str())) + 1, "length of a process set's name");
  MPI_Session_set_errhandler(first, MPI_ERRORS_RETURN);
  check(class_of(MPI_Session_get_nth_pset(first, MPI_INFO_NULL, 0, &length, nullptr)) == MPI_ERR_ARG,
        "no place for a name");
  MPI_Session_set_errhandler(first, MPI_ERRORS_ARE_FATAL);
  const int size = size_of_pset(first, "mpi://WORLD");
  MPI_Comm a = comm_of_pset(first, "mpi://WORLD", "a");
  MPI_Comm b = comm_of_pset(second, "mpi://WORLD", "a");
  use(b, size);
  MPI_Session_finalize(&second);
  use(a, size);
  use(comm_of_pset(first, "mpi://SELF", "self"), 1);
  MPI_Group none;
  MPI_Session_set_errhandler(first, MPI_ERRORS_RETURN);
  check(MPI_Group_from_session_pset(first, "mpi://NONE", &none) != MPI_SUCCESS, "no such process set");
  MPI_Session_finalize(&first);
  check(first == MPI_SESSION_NULL, "finalize sets the handle to null");
}

int noted_comm_errors = 0, noted_session_errors = 0;
void note_comm(MPI_Comm* comm, int*, ...) { noted_comm_errors += *comm == MPI_COMM_NULL; }
void note_session(MPI_Session* session, int*, ...) { noted_session_errors += *session == MPI_SESSION_NULL; }

// The error handler that something is to be made with is responsible if that fails (sections 7.4.2, 7.6.2 and 11.3.1). No other
// one would return here.
void what_is_not_made() {
  MPI_Errhandler for_comms, for_sessions;
  MPI_Comm_create_errhandler(note_comm, &for_comms);
  MPI_Session_create_errhandler(note_session, &for_sessions);
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, for_sessions, &session);
  check(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, nullptr) != MPI_SUCCESS, "no place for the session");
  check(MPI_Session_init(MPI_INFO_NULL, for_sessions, nullptr) != MPI_SUCCESS, "again, noted");
  check(noted_session_errors == 1, "the error handler of the session that is not made");

  MPI_Group group;
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm comm;
  const std::string long_tag(MPI_MAX_STRINGTAG_LEN, 'x');
  const auto create = [&](MPI_Group members, const char* tag, MPI_Errhandler errhandler) {
    return class_of(MPI_Comm_create_from_group(members, tag, MPI_INFO_NULL, errhandler, &comm));
  };
  check(create(group, long_tag.c_str(), MPI_ERRORS_RETURN) == MPI_ERR_ARG, "a tag that is too long");
  check(create(group, nullptr, for_comms) == MPI_ERR_ARG, "no tag");
  check(create(MPI_GROUP_NULL, "tag", for_comms) == MPI_ERR_GROUP, "no group");
  check(class_of(MPI_Intercomm_create_from_groups(group, 1, MPI_GROUP_EMPTY, 0, "tag", MPI_INFO_NULL, for_comms,
                                                  &comm)) == MPI_ERR_RANK,
        "no such leader");
  check(noted_comm_errors == 3, "the error handler of the communicator that is not made");
  MPI_Group_free(&group);
  MPI_Errhandler_free(&for_comms);
  MPI_Errhandler_free(&for_sessions);
  MPI_Session_finalize(&session);
}

std::string level_of(MPI_Session session) {
  MPI_Info info;
  MPI_Session_get_info(session, &info);
  char value[MPI_MAX_INFO_VAL];
  int flag, length = sizeof value;
  MPI_Info_get_string(info, "thread_level", &length, value, &flag);
  check(flag, "the session's thread_level");
  MPI_Info_free(&info);
  return value;
}

// The provided level does not depend on the requested one; what is no level is an error.
void thread_level(const std::string& provided) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Session session = MPI_SESSION_NULL;
  for (const char* level :
       {"MPI_THREAD_MULTIPLE", "MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED"}) {
    MPI_Info_set(info, "thread_level", level);
    check(MPI_Session_init(info, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS, level);
    check(level_of(session) == provided, "the level that is provided");
    MPI_Session_finalize(&session);
  }
  for (const char* level : {"MPI_THREAD_MULTIPLEX", "3", "mpi_thread_single"}) {
    MPI_Info_set(info, "thread_level", level);
    const int code = MPI_Session_init(info, MPI_ERRORS_RETURN, &session);
    check(class_of(code) == MPI_ERR_INFO_VALUE, level);
  }
  MPI_Info_free(&info);
}

void at_any_time() {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "first", "1");
  MPI_Info_set(info, "second", "2");
  MPI_Info_set(info, "first", "one");
  char key[MPI_MAX_INFO_KEY], value[4];
  int flag, length = sizeof value;
  MPI_Info_get_nthkey(info, 0, key);
  check(std::string(key) == "first", "keys keep their order");
  MPI_Info_get_string(info, "first", &length, value, &flag);
  check(flag && std::string(value) == "one" && length == 4, "the last value counts");
  length = 3;
  MPI_Info_get_string(info, "first", &length, value, &flag);
  check(std::string(value) == "on" && length == 4, "a value that is cut, and its whole length");
  MPI_Info_free(&info);
  MPI_Info_create_env(0, nullptr, &info);
  MPI_Info_get_valuelen(info, "command", &length, &flag);
  check(flag && length > 0, "the program's name");
  MPI_Info_free(&info);
  MPI_Info_get_valuelen(MPI_INFO_ENV, "thread_level", &length, &flag);
  check(flag, "MPI_INFO_ENV");
  MPI_Initialized(&flag);
  check(!flag, "the world model is not initialized");
}

}  // namespace

int main(int argc, char** argv) {
  at_any_time();
  thread_level(argc > 1 ? argv[1] : "MPI_THREAD_MULTIPLE");
  for (int i = 0; i < 3; ++i) one_session();
  what_is_not_made();
  at_any_time();
}
