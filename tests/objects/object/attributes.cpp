// Attributes: copied by duplication, deleted with their object, by the user's functions; predefined ones; and the
// order in which those of MPI_COMM_SELF go at the beginning of MPI_Finalize.
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::class_of;
using test::equal;

int deleted = 0;
std::vector<int> order;

int copy_plus_one(MPI_Comm, int, void* extra, void* in, void* out, int* flag) {
  equal(*static_cast<int*>(extra), 42, "extra state");
  *static_cast<MPI_Aint*>(out) = reinterpret_cast<MPI_Aint>(in) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
int refuse_copy(MPI_Comm, int, void*, void*, void*, int*) { return MPI_ERR_OTHER; }
int count_delete(MPI_Comm, int, void*, void*) {
  ++deleted;
  return MPI_SUCCESS;
}
int refuse_delete(MPI_Comm, int, void*, void*) { return MPI_ERR_INTERN; }
int note_order(MPI_Comm comm, int, void* value, void*) {
  check(comm == MPI_COMM_SELF, "the object");
  int flag;
  MPI_Finalized(&flag);
  check(!flag, "MPI still works while the attributes of MPI_COMM_SELF are deleted");
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  order.push_back(static_cast<int>(reinterpret_cast<MPI_Aint>(value)));
  return MPI_SUCCESS;
}

MPI_Aint value_of(MPI_Comm comm, int key) {
  void* value;
  int flag;
  MPI_Comm_get_attr(comm, key, &value, &flag);
  return flag ? reinterpret_cast<MPI_Aint>(value) : -1;
}

void* number(MPI_Aint n) { return reinterpret_cast<void*>(n); }

void copies() {
  int extra = 42, counted, kept, dropped;
  MPI_Comm_create_keyval(copy_plus_one, count_delete, &counted, &extra);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &kept, nullptr);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count_delete, &dropped, nullptr);
  MPI_Comm a, b;
  MPI_Comm_dup(MPI_COMM_SELF, &a);
  equal(value_of(a, kept), -1, "nothing is set");
  MPI_Comm_set_attr(a, counted, number(10));
  MPI_Comm_set_attr(a, kept, number(20));
  MPI_Comm_set_attr(a, dropped, number(30));
  MPI_Comm_dup(a, &b);
  equal(value_of(b, counted), 11, "copied by the function");
  equal(value_of(b, kept), 20, "copied as it is");
  equal(value_of(b, dropped), -1, "not copied");
  MPI_Comm_set_attr(a, counted, number(12));
  equal(deleted, 1, "setting deletes the old value");
  MPI_Comm_delete_attr(b, counted);
  equal(deleted, 2, "deleted");
  equal(value_of(b, counted), -1, "gone");
  // A key that is freed lives on where it is used.
  MPI_Comm_free_keyval(&counted);
  MPI_Comm_free_keyval(&kept);
  MPI_Comm_free_keyval(&dropped);
  equal(counted, MPI_KEYVAL_INVALID, "free_keyval");
  MPI_Comm_free(&b);
  equal(deleted, 2, "nothing left there to delete");
  MPI_Comm_free(&a);
  equal(deleted, 4, "deleted with the communicator");
}

void errors() {
  int no_copy, no_delete, type_key;
  MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &no_copy, nullptr);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_delete, &no_delete, nullptr);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, nullptr);
  MPI_Comm a, b = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &a);
  MPI_Comm_set_errhandler(a, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(a, no_copy, nullptr);
  equal(class_of(MPI_Comm_dup(a, &b)), MPI_ERR_OTHER, "error of the copy function");
  MPI_Comm_delete_attr(a, no_copy);
  MPI_Comm_set_attr(a, no_delete, number(1));
  equal(class_of(MPI_Comm_delete_attr(a, no_delete)), MPI_ERR_INTERN, "error of the delete function");
  equal(value_of(a, no_delete), 1, "it is still there");
  equal(class_of(MPI_Comm_set_attr(a, type_key, nullptr)), MPI_ERR_KEYVAL, "a key for datatypes");
  equal(class_of(MPI_Comm_set_attr(a, MPI_TAG_UB, nullptr)), MPI_ERR_KEYVAL, "a predefined attribute");
  equal(class_of(MPI_Comm_set_attr(a, 123456, nullptr)), MPI_ERR_KEYVAL, "no key");
  const MPI_Comm before = a;
  equal(class_of(MPI_Comm_free(&a)), MPI_ERR_INTERN, "free returns the delete function's error");
  check(a == before, "and the communicator is still there");
  int one = 1, sum = 0;
  equal(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, a), MPI_SUCCESS, "and works");
  equal(MPI_Comm_free(&a), MPI_SUCCESS, "the value has gone all the same, so it can be freed now");
  MPI_Comm_free_keyval(&no_copy);
  MPI_Comm_free_keyval(&no_delete);
  MPI_Type_free_keyval(&type_key);
}

// A key that has been freed is usable where it is attached, for everything but new values.
void freed_keys() {
  int extra = 42;
  deleted = 0;
  int key, twice;
  MPI_Comm_create_keyval(copy_plus_one, count_delete, &key, &extra);
  MPI_Comm a, b, other;
  MPI_Comm_dup(MPI_COMM_SELF, &a);
  MPI_Comm_dup(MPI_COMM_SELF, &other);
  for (MPI_Comm comm : {a, other}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(a, key, number(10));
  const int freed = twice = key;
  MPI_Comm_free_keyval(&key);
  equal(value_of(a, freed), 10, "read");
  equal(value_of(other, freed), -1, "not set here, but the key still lives");
  equal(class_of(MPI_Comm_set_attr(a, freed, number(11))), MPI_ERR_KEYVAL, "set");
  equal(class_of(MPI_Comm_set_attr(other, freed, number(11))), MPI_ERR_KEYVAL, "set where it is not attached");
  equal(deleted, 0, "a set that is refused deletes nothing");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  equal(class_of(MPI_Comm_free_keyval(&twice)), MPI_ERR_KEYVAL, "freed twice");
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_dup(a, &b);
  equal(value_of(b, freed), 11, "copied by its function");
  equal(MPI_Comm_delete_attr(a, freed), MPI_SUCCESS, "deleted");
  equal(deleted, 1, "by its function");
  equal(value_of(a, freed), -1, "gone");
  MPI_Comm_free(&b);
  equal(deleted, 2, "deleted with the duplicate");
  void* value;
  int flag;
  equal(class_of(MPI_Comm_get_attr(a, freed, &value, &flag)), MPI_ERR_KEYVAL, "attached nowhere, there is no such key");
  MPI_Comm_free(&a);
  MPI_Comm_free(&other);

  int type_key;
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, nullptr);
  MPI_Type_set_attr(type, type_key, number(7));
  const int freed_type_key = type_key;
  MPI_Type_free_keyval(&type_key);
  MPI_Type_get_attr(type, freed_type_key, &value, &flag);
  check(flag && value == number(7), "of a datatype");
  MPI_Type_free(&type);
}

// On one process alone the copy function fails: the others get their communicator, no rank waits for ever, and what was
// copied before the failure is deleted again.
void one_fails() {
  const auto maybe_refuse = [](MPI_Comm, int, void* refuses, void* in, void* out, int* flag) {
    *static_cast<void**>(out) = in;
    *flag = 1;
    return *static_cast<bool*>(refuses) ? int{MPI_ERR_OTHER} : int{MPI_SUCCESS};
  };
  bool never = false, refuses = test::rank() == 0;
  int fine, failing;
  MPI_Comm_create_keyval(maybe_refuse, count_delete, &fine, &never);
  MPI_Comm_create_keyval(maybe_refuse, MPI_COMM_NULL_DELETE_FN, &failing, &refuses);
  MPI_Comm parent, child;
  MPI_Comm_dup(MPI_COMM_WORLD, &parent);
  MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN);
  MPI_Comm_set_attr(parent, fine, number(1));
  MPI_Comm_set_attr(parent, failing, number(2));
  for (bool blocking : {true, false}) {
    MPI_Request request = MPI_REQUEST_NULL;
    child = MPI_COMM_WORLD;
    deleted = 0;
    const int code = blocking ? MPI_Comm_dup(parent, &child) : MPI_Comm_idup(parent, &child, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    equal(class_of(code), refuses ? MPI_ERR_OTHER : MPI_SUCCESS, "dup");
    if (refuses) {
      check(child == MPI_COMM_NULL, "no communicator");
      equal(deleted, 1, "the copy that was made is deleted");
    } else {
      MPI_Comm_free(&child);
    }
    MPI_Barrier(parent);  // the parent's collectives are still in step
  }
  MPI_Comm_free(&parent);
  MPI_Comm_free_keyval(&fine);
  MPI_Comm_free_keyval(&failing);
}

int predefined(int key) {
  int* value;
  int flag;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  check(flag, "a predefined attribute is set");
  return *value;
}

void predefined_attributes() {
  check(predefined(MPI_TAG_UB) >= 32767, "MPI_TAG_UB");
  check(predefined(MPI_UNIVERSE_SIZE) >= test::size(), "MPI_UNIVERSE_SIZE");
  equal(predefined(MPI_APPNUM), 0, "MPI_APPNUM");
  const int before = predefined(MPI_LASTUSEDCODE);
  int error_class;
  MPI_Add_error_class(&error_class);
  equal(predefined(MPI_LASTUSEDCODE), error_class, "MPI_LASTUSEDCODE");
  check(error_class > before, "a new error class");
}

void old_names() {
  int key, flag;
  void* value;
  MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, nullptr);
  MPI_Comm comm, dup;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Attr_put(comm, key, number(5));
  MPI_Comm_dup(comm, &dup);
  MPI_Attr_get(dup, key, &value, &flag);
  check(flag && value == number(5), "MPI_DUP_FN");
  MPI_Attr_delete(dup, key);
  MPI_Keyval_free(&key);
  MPI_Comm_free(&dup);
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  int in_order;
  {
    const test::Session session(&argc, &argv);
    copies();
    errors();
    freed_keys();
    one_fails();
    predefined_attributes();
    old_names();
    for (int i = 1; i <= 3; ++i) {
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_order, &in_order, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, in_order, number(i));
    }
  }
  return order == std::vector<int>{3, 2, 1} ? 0 : 1;
}
