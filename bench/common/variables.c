#include "variables.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

enum { most = 32, longest_name = 64 };

static struct {
  char name[longest_name];
  MPI_Datatype type;
  MPI_T_pvar_handle handle;
  double before;
} chosen[most];
static int count;
static MPI_T_pvar_session session;

// Counters come as unsigned integers, times as doubles.
static double value_of(int i) {
  union {
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    double d;
  } value;
  MPI_T_pvar_read(session, chosen[i].handle, &value);
  if (chosen[i].type == MPI_DOUBLE) return value.d;
  if (chosen[i].type == MPI_UNSIGNED) return value.u;
  if (chosen[i].type == MPI_UNSIGNED_LONG) return (double)value.ul;
  return (double)value.ull;
}

static bool is_number(MPI_Datatype type) {
  return type == MPI_DOUBLE || type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG;
}

static void add(const char* wanted) {
  int variables;
  MPI_T_pvar_get_num(&variables);
  for (int i = 0; i < variables && count < most; ++i) {
    char name[longest_name], description[1];
    int name_length = sizeof name, description_length = sizeof description;
    int verbosity, class, bind, readonly, continuous, atomic, elements;
    MPI_Datatype type;
    MPI_T_enum values;
    if (MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &values, description, &description_length,
                            &bind, &readonly, &continuous, &atomic) != MPI_SUCCESS)
      continue;
    if (strcmp(name, wanted) || bind != MPI_T_BIND_NO_OBJECT || !is_number(type)) continue;
    if (MPI_T_pvar_handle_alloc(session, i, NULL, &chosen[count].handle, &elements) != MPI_SUCCESS || elements != 1)
      continue;
    if (!continuous) MPI_T_pvar_start(session, chosen[count].handle);
    memcpy(chosen[count].name, name, sizeof name);
    chosen[count].type = type;
    chosen[count].before = value_of(count);
    ++count;
  }
}

void variables_begin(const char* names) {
  int provided;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_T_pvar_session_create(&session);
  char list[2048];
  snprintf(list, sizeof list, "%s", names);
  for (char* name = strtok(list, ","); name; name = strtok(NULL, ",")) add(name);
}

void variables_end(void) {
  double mine[most], all[most];
  for (int i = 0; i < count; ++i) mine[i] = value_of(i) - chosen[i].before;
  MPI_Reduce(mine, all, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  char json[3072] = "{";
  size_t used = 1;
  for (int i = 0; i < count; ++i)
    used += (size_t)snprintf(json + used, sizeof json - used, "%s\"%s\":%.9g", i ? "," : "", chosen[i].name, all[i]);
  snprintf(json + used, sizeof json - used, "}");
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!rank) bench_note("variables", json);
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
}
