// Errors: the right class through the right handler for bad arguments of groups and communicators, handlers that come
// and go, and classes, codes and strings that the program adds.
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

int calls = 0;
MPI_Comm called_for = MPI_COMM_NULL;
int called_with = MPI_SUCCESS;
void note(MPI_Comm* comm, int* code, ...) {
  ++calls;
  called_for = *comm;
  called_with = *code;
}

void handlers() {
  MPI_Comm comm, child;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Errhandler noting, got;
  MPI_Comm_create_errhandler(note, &noting);
  MPI_Comm_set_errhandler(comm, noting);
  MPI_Comm_get_errhandler(comm, &got);
  check(got == noting, "get_errhandler");
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&noting);
  check(noting == MPI_ERRHANDLER_NULL, "Errhandler_free");

  int answer;
  equal(class_of(MPI_Comm_remote_size(comm, &answer)), MPI_ERR_COMM, "remote_size of an intracommunicator");
  equal(calls, 1, "the handler lives as long as it is attached");
  check(called_for == comm, "the communicator");
  equal(class_of(called_with), MPI_ERR_COMM, "the code");
  MPI_Comm_dup(comm, &child);
  MPI_Comm_call_errhandler(child, MPI_ERR_TRUNCATE);
  equal(calls, 2, "a child inherits the handler");
  check(called_for == child, "the child");
  equal(called_with, MPI_ERR_TRUNCATE, "the program's code");
  MPI_Comm_free(&child);
  MPI_Comm_free(&comm);
}

// The call returns the value that a handler leaves in its second argument.
template <class Handle>
void replace(Handle*, int* code, ...) {
  equal(class_of(*code), MPI_ERR_ARG, "the error's own code");
  *code = MPI_ERR_INTERN;
}

template <class Create, class Set, class Fail>
void replaced(Create create, Set set, Fail fails) {
  MPI_Errhandler handler;
  create(&handler);
  set(handler);
  MPI_Errhandler_free(&handler);
  equal(fails(), MPI_ERR_INTERN, "the code that the handler wrote");
}

void replaced_codes() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  replaced([](MPI_Errhandler* h) { MPI_Comm_create_errhandler(replace<MPI_Comm>, h); },
           [&](MPI_Errhandler h) { MPI_Comm_set_errhandler(comm, h); }, [&] { return MPI_Comm_size(comm, nullptr); });
  equal(MPI_Comm_call_errhandler(comm, MPI_ERR_ARG), MPI_SUCCESS, "calling a handler is no error");
  MPI_Comm_free(&comm);
  int memory = 0;
  MPI_Win win;
  MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
  replaced([](MPI_Errhandler* h) { MPI_Win_create_errhandler(replace<MPI_Win>, h); },
           [&](MPI_Errhandler h) { MPI_Win_set_errhandler(win, h); }, [&] { return MPI_Win_get_group(win, nullptr); });
  MPI_Win_free(&win);
  MPI_Session session;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  replaced([](MPI_Errhandler* h) { MPI_Session_create_errhandler(replace<MPI_Session>, h); },
           [&](MPI_Errhandler h) { MPI_Session_set_errhandler(session, h); },
           [&] { return MPI_Session_get_num_psets(session, MPI_INFO_NULL, nullptr); });
  MPI_Session_finalize(&session);
  char path[] = "/tmp/heddle-errors-XXXXXX";
  const int descriptor = mkstemp(path);
  check(descriptor >= 0, "a file");
  close(descriptor);
  MPI_File file;
  MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  replaced([](MPI_Errhandler* h) { MPI_File_create_errhandler(replace<MPI_File>, h); },
           [&](MPI_Errhandler h) { MPI_File_set_errhandler(file, h); },
           [&] { return MPI_File_get_size(file, nullptr); });
  MPI_File_close(&file);
}

// The errors of a matched receive are those of the communicator that its message came on.
void matched_receives() {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Errhandler noting;
  MPI_Comm_create_errhandler(note, &noting);
  MPI_Comm_set_errhandler(comm, noting);
  MPI_Errhandler_free(&noting);
  int out[2] = {1, 2}, in = 0;
  MPI_Message message;
  MPI_Request send, receive;
  const auto probe = [&] {
    MPI_Isend(out, 2, MPI_INT, 0, 0, comm, &send);
    MPI_Mprobe(0, 0, comm, &message, MPI_STATUS_IGNORE);
    called_for = MPI_COMM_NULL;
  };
  probe();
  equal(class_of(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE, "Mrecv");
  check(called_for == comm, "an error of Mrecv");
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  probe();
  equal(MPI_Imrecv(&in, 1, MPI_INT, &message, &receive), MPI_SUCCESS, "Imrecv");
  equal(class_of(MPI_Wait(&receive, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE, "its wait");
  check(called_for == comm, "an error of Imrecv's wait");
  MPI_Wait(&send, MPI_STATUS_IGNORE);
  probe();
  equal(class_of(MPI_Mrecv(&in, -1, MPI_INT, &message, MPI_STATUS_IGNORE)), MPI_ERR_COUNT, "a bad argument");
  check(called_for == comm, "a bad argument of Mrecv");
  called_for = MPI_COMM_NULL;
  equal(class_of(MPI_Imrecv(nullptr, 1, MPI_INT, &message, &receive)), MPI_ERR_BUFFER, "a bad argument");
  check(called_for == comm, "a bad argument of Imrecv");
  // A refused receive has not used the message up; and a communicator that is freed leaves it.
  const MPI_Comm freed = comm;
  MPI_Comm_free(&comm);
  check(freed != comm, "freed");
  int both[2] = {};
  equal(MPI_Mrecv(both, 2, MPI_INT, &message, MPI_STATUS_IGNORE), MPI_SUCCESS, "the message is still there");
  equal(both[1], 2, "data");
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

// With MPI_ERRORS_RETURN on MPI_COMM_SELF, where errors of no communicator go.
void bad_arguments() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm comm = MPI_COMM_NULL, freed;
  MPI_Comm_dup(MPI_COMM_SELF, &freed);
  const MPI_Comm old = freed;
  MPI_Comm_free(&freed);
  int answer, flag;
  void* pointer;
  equal(class_of(MPI_Comm_rank(MPI_COMM_NULL, &answer)), MPI_ERR_COMM, "null communicator");
  equal(class_of(MPI_Comm_rank(old, &answer)), MPI_ERR_COMM, "freed communicator");
  equal(class_of(MPI_Comm_dup(old, &comm)), MPI_ERR_COMM, "dup of a freed communicator");
  equal(class_of(MPI_Comm_size(MPI_COMM_WORLD, nullptr)), MPI_ERR_ARG, "null pointer");
  MPI_Comm world = MPI_COMM_WORLD;
  equal(class_of(MPI_Comm_free(&world)), MPI_ERR_COMM, "free of MPI_COMM_WORLD");
  equal(class_of(MPI_Comm_split(MPI_COMM_SELF, -3, 0, &comm)), MPI_ERR_ARG, "negative color");
  equal(class_of(MPI_Comm_get_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &pointer, &flag)), MPI_ERR_KEYVAL, "no key");
  equal(class_of(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL)), MPI_ERR_ERRHANDLER, "null handler");

  MPI_Group group, result;
  MPI_Comm_group(MPI_COMM_SELF, &group);
  const int twice[] = {0, 0}, beyond[] = {1};
  int endless[1][3] = {{0, 0, 0}};
  equal(class_of(MPI_Group_incl(group, 2, twice, &result)), MPI_ERR_RANK, "a rank twice");
  equal(class_of(MPI_Group_incl(group, 1, beyond, &result)), MPI_ERR_RANK, "a rank beyond the group");
  equal(class_of(MPI_Group_range_incl(group, 1, endless, &result)), MPI_ERR_ARG, "a stride of 0");
  MPI_Group_free(&group);
  equal(class_of(MPI_Group_size(group, &answer)), MPI_ERR_GROUP, "null group");

  MPI_Info info;
  MPI_Info_create(&info);
  const std::string long_key(MPI_MAX_INFO_KEY, 'k'), long_value(MPI_MAX_INFO_VAL, 'v');
  char key[MPI_MAX_INFO_KEY];
  equal(class_of(MPI_Info_set(info, long_key.c_str(), "v")), MPI_ERR_INFO_KEY, "a key that is too long");
  equal(class_of(MPI_Info_set(info, "k", long_value.c_str())), MPI_ERR_INFO_VALUE, "a value that is too long");
  equal(class_of(MPI_Info_delete(info, "k")), MPI_ERR_INFO_NOKEY, "delete of a key that is not there");
  equal(class_of(MPI_Info_get_nthkey(info, 0, key)), MPI_ERR_ARG, "a key beyond the last");
  MPI_Info_free(&info);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Error_string(code, text, &length);
  equal(static_cast<long long>(std::strlen(text)), length, "length of an error string");
  return text;
}

void codes() {
  for (int code = MPI_SUCCESS; code <= MPI_ERR_ABI; ++code) {
    equal(class_of(code), code, "class of a class");
    check(text_of(code).size() > 10, "text of a class");
  }
  int added, code;
  MPI_Add_error_class(&added);
  MPI_Add_error_code(added, &code);
  check(added > MPI_ERR_LASTCODE && code > added, "added codes come after the standard's");
  equal(class_of(code), added, "class of an added code");
  check(text_of(code).empty(), "no text yet");
  MPI_Add_error_string(code, "the loom is broken");
  check(text_of(code) == "the loom is broken", "added text");
  MPI_Remove_error_string(code);
  MPI_Remove_error_code(code);
  MPI_Remove_error_class(added);
}

}  // namespace

int main(int argc, char** argv) {
  const test::Session session(&argc, &argv);
  handlers();
  replaced_codes();
  matched_receives();
  bad_arguments();
  codes();
}
