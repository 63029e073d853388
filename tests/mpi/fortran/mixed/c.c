/* A program in C and Fortran: handles, statuses and attributes on both ways between them (MPI 5.0, section 19.3). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
static void check(int good, const char* what, int line) {
  if (good) return;
  printf("c.c:%d: not so: %s\n", line, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

enum { comm_kind = 1, type_kind, win_kind, old_kind };

void f_keyvals(const MPI_Fint* which, MPI_Fint* comm_key, MPI_Fint* type_key, MPI_Fint* win_key);
void f_old_keyval(MPI_Fint* key);
void f_set(const MPI_Fint* kind, const MPI_Fint* object, const MPI_Fint* key, const MPI_Aint* value);
void f_get(const MPI_Fint* kind, const MPI_Fint* object, const MPI_Fint* key, MPI_Aint* value, MPI_Fint* found);
void f_deleted(MPI_Fint* count, MPI_Aint* last);
void f_sentinels(void);
void f08_sentinels(void);
void f77_sentinels(void);

static int seen = 0;

void c_sentinel(MPI_Fint* status, const MPI_Fint* which) {
  CHECK((status == MPI_F_STATUS_IGNORE) == (*which == 1));
  CHECK((status == MPI_F_STATUSES_IGNORE) == (*which == 2));
  seen += 1;
}

void c_f08_sentinel(MPI_F08_status* status, const MPI_Fint* which) {
  CHECK((status == MPI_F08_STATUS_IGNORE) == (*which == 3));
  CHECK((status == MPI_F08_STATUSES_IGNORE) == (*which == 4));
  seen += 1;
}

typedef struct {
  MPI_Comm comm;
  MPI_Datatype type;
  MPI_Win win;
} Objects;

static MPI_Fint number(const Objects* o, MPI_Fint kind) {
  switch (kind) {
    case type_kind:
      return MPI_Type_c2f(o->type);
    case win_kind:
      return MPI_Win_c2f(o->win);
    default:
      return MPI_Comm_c2f(o->comm);
  }
}

static void set(const Objects* o, MPI_Fint kind, MPI_Fint key, void* value) {
  switch (kind) {
    case type_kind:
      MPI_Type_set_attr(o->type, key, value);
      break;
    case win_kind:
      MPI_Win_set_attr(o->win, key, value);
      break;
    default:
      MPI_Comm_set_attr(o->comm, key, value);
  }
}

static void* get(const Objects* o, MPI_Fint kind, MPI_Fint key) {
  void* value = NULL;
  int found = 0;
  switch (kind) {
    case type_kind:
      MPI_Type_get_attr(o->type, key, &value, &found);
      break;
    case win_kind:
      MPI_Win_get_attr(o->win, key, &value, &found);
      break;
    default:
      MPI_Comm_get_attr(o->comm, key, &value, &found);
  }
  CHECK(found);
  return value;
}

static MPI_Aint get_in_fortran(const Objects* o, MPI_Fint kind, MPI_Fint key) {
  const MPI_Fint object = number(o, kind);
  MPI_Aint value = 0;
  MPI_Fint found = 0;
  f_get(&kind, &object, &key, &value, &found);
  CHECK(found);
  return value;
}

/* Every way of setting, every way of getting. */
static void both_ways(const Objects* o, MPI_Fint kind, MPI_Fint key) {
  static int mine = 5;
  const MPI_Fint object = number(o, kind);
  const MPI_Aint large = (MPI_Aint)0x123456789, small = -7;
  set(o, kind, key, &mine);
  CHECK(get(o, kind, key) == &mine);
  CHECK(get_in_fortran(o, kind, key) == (MPI_Aint)&mine);

  f_set(&kind, &object, &key, &large);
  CHECK(*(MPI_Aint*)get(o, kind, key) == large);
  CHECK(get_in_fortran(o, kind, key) == large);
  set(o, kind, key, &mine);
  CHECK(get_in_fortran(o, kind, key) == (MPI_Aint)&mine);
  f_set(&kind, &object, &key, &small);
  CHECK(*(MPI_Aint*)get(o, kind, key) == small);
  f_set(&kind, &object, &key, &large);

  if (kind != comm_kind) return;
  /* With the functions of MPI-1: an INTEGER. */
  const MPI_Fint old = old_kind;
  f_set(&old, &object, &key, &small);
  CHECK(*(int*)get(o, kind, key) == small);
  CHECK(get_in_fortran(o, old_kind, key) == small);
  CHECK(get_in_fortran(o, comm_kind, key) == small);
  f_set(&kind, &object, &key, &large);
  CHECK(get_in_fortran(o, old_kind, key) == (int)large);
}

static int copied = 0, deleted = 0;
static int c_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  copied = *(int*)in;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int c_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)extra;
  deleted = *(int*)value;
  return MPI_SUCCESS;
}

static void attributes(void) {
  Objects o;
  int memory[4];
  MPI_Comm_dup(MPI_COMM_WORLD, &o.comm);
  MPI_Type_contiguous(3, MPI_INT, &o.type);
  MPI_Win_create(memory, sizeof(memory), 1, MPI_INFO_NULL, o.comm, &o.win);
  MPI_Fint key[4] = {0}, c_key[4] = {0};
  const MPI_Fint one = 1, two = 2;

  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &c_key[comm_kind], NULL);
  MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &c_key[type_kind], NULL);
  MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &c_key[win_kind], NULL);
  f_keyvals(&two, &key[comm_kind], &key[type_kind], &key[win_kind]);
  for (MPI_Fint kind = comm_kind; kind <= win_kind; ++kind) {
    both_ways(&o, kind, key[kind]);
    both_ways(&o, kind, c_key[kind]);
  }
  MPI_Fint old_key;
  f_old_keyval(&old_key);
  both_ways(&o, comm_kind, old_key);

  /* Copies: of a value of Fortran's there are two, and one outlives the other. */
  Objects copy = o;
  MPI_Comm_dup(o.comm, &copy.comm);
  MPI_Type_dup(o.type, &copy.type);
  for (MPI_Fint kind = comm_kind; kind <= type_kind; ++kind) {
    CHECK(get(&copy, kind, key[kind]) != get(&o, kind, key[kind]));
    set(&o, kind, key[kind], memory);
    CHECK(*(MPI_Aint*)get(&copy, kind, key[kind]) == 0x123456789);
    CHECK(get_in_fortran(&copy, kind, c_key[kind]) == 0x123456789);
  }
  MPI_Comm_free(&copy.comm);
  MPI_Comm_dup(o.comm, &copy.comm); /* now a pointer of C's */
  CHECK(get(&copy, comm_kind, key[comm_kind]) == memory);
  MPI_Comm_free(&copy.comm);
  MPI_Type_free(&copy.type);

  /* Fortran's procedures get values, C's functions get addresses. */
  MPI_Fint count, key1, ignored;
  MPI_Aint last;
  const MPI_Aint ten = 10;
  const MPI_Fint kind = comm_kind, object = MPI_Comm_c2f(o.comm);
  f_keyvals(&one, &key1, &ignored, &ignored);
  f_set(&kind, &object, &key1, &ten);
  MPI_Comm_dup(o.comm, &copy.comm);
  CHECK(*(MPI_Aint*)get(&copy, comm_kind, key1) == 11);
  CHECK(get_in_fortran(&copy, comm_kind, key1) == 11);
  MPI_Comm_free(&copy.comm);
  f_deleted(&count, &last);
  CHECK(count == 1 && last == 11);
  set(&o, comm_kind, key1, memory);
  f_deleted(&count, &last);
  CHECK(count == 2 && last == 10);
  MPI_Comm_delete_attr(o.comm, key1);
  f_deleted(&count, &last);
  CHECK(count == 3 && last == (MPI_Aint)memory);
  MPI_Comm_create_keyval(c_copy, c_delete, &key1, NULL);
  f_set(&kind, &object, &key1, &ten);
  MPI_Comm_dup(o.comm, &copy.comm);
  CHECK(copied == 10);
  MPI_Comm_free(&copy.comm);
  CHECK(deleted == 10);

  /* Predefined ones are values in Fortran and addresses in C, but for a window's base. */
  CHECK(get_in_fortran(&o, comm_kind, MPI_TAG_UB) == *(int*)get(&o, comm_kind, MPI_TAG_UB));
  CHECK(get_in_fortran(&o, old_kind, MPI_TAG_UB) == *(int*)get(&o, comm_kind, MPI_TAG_UB));
  CHECK(get_in_fortran(&o, win_kind, MPI_WIN_SIZE) == sizeof(memory));
  CHECK(get_in_fortran(&o, win_kind, MPI_WIN_BASE) == (MPI_Aint)memory);

  MPI_Win_free(&o.win);
  MPI_Type_free(&o.type);
  MPI_Comm_free(&o.comm);
}

static void handles(void) {
  CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
  CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
  CHECK(PMPI_Comm_f2c(PMPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF);
  MPI_Status status, back;
  MPI_Fint f[MPI_F_STATUS_SIZE];
  MPI_F08_status f08;
  MPI_Probe(MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Status_c2f(&status, f);
  MPI_Status_f2f08(f, &f08);
  CHECK(f[MPI_F_SOURCE] == MPI_PROC_NULL && f08.MPI_SOURCE == MPI_PROC_NULL && f08.MPI_TAG == MPI_ANY_TAG);
  MPI_Status_f082c(&f08, &back);
  CHECK(memcmp(&back, &status, sizeof(status)) == 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  handles();
  f_sentinels();
  f08_sentinels();
  f77_sentinels();
  CHECK(seen == 6);
  attributes();
  puts("mixed: right");
  MPI_Finalize();
  return 0;
}
