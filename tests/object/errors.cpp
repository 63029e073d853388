// Errors: the right class through the right handler for bad arguments of groups and communicators, handlers that come
// and go, and classes, codes and strings that the program adds.
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
  bad_arguments();
  codes();
}
