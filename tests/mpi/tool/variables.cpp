// Everything that there is, listed: each variable and category says what it is, is found under its name, and can be read.
#include <set>
#include <string>
#include <vector>

#include "mpi/tool/tool.hpp"

namespace {

using test::code;
using test::holds;
using test::ok;

struct Cvar {
  std::string name, description;
  int verbosity, bind, scope;
  MPI_Datatype datatype;
  MPI_T_enum items;
};

Cvar cvar_at(int index) {
  int name_length = 0, description_length = 0;
  ok(MPI_T_cvar_get_info(index, nullptr, &name_length, nullptr, nullptr, nullptr, nullptr, &description_length, nullptr,
                         nullptr),
     "lengths alone");
  Cvar v;
  std::vector<char> name(name_length), description(description_length);
  ok(MPI_T_cvar_get_info(index, name.data(), &name_length, &v.verbosity, &v.datatype, &v.items, description.data(),
                         &description_length, &v.bind, &v.scope));
  v.name = name.data();
  v.description = description.data();
  code(name_length, static_cast<int>(v.name.size()) + 1, "a length counts the null");
  // With less room the beginning, and the length of all.
  char three[4] = "xyz";
  int room = 3;
  ok(MPI_T_cvar_get_info(index, three, &room, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  holds(three == v.name.substr(0, 2), "a string that does not fit");
  code(room, name_length, "the length that it would need");
  return v;
}

void list_items(MPI_T_enum items) {
  int n = 0, length = 0;
  ok(MPI_T_enum_get_info(items, &n, nullptr, &length), "MPI_T_enum_get_info");
  holds(n > 1 && length > 1, "an enumeration has a name and items");
  for (int i = 0; i < n; ++i) {
    int value = -1;
    char name[64];
    int room = sizeof name;
    ok(MPI_T_enum_get_item(items, i, &value, name, &room), "MPI_T_enum_get_item");
    holds(room > 1 && value == i, "an item");
  }
}

void list_cvars() {
  int n = 0;
  ok(MPI_T_cvar_get_num(&n));
  std::set<std::string> names;
  for (int i = 0; i < n; ++i) {
    const Cvar v = cvar_at(i);
    holds(names.insert(v.name).second, "names of variables differ");
    holds(!v.description.empty(), "a description");
    code(test::cvar(v.name.c_str()), i, "MPI_T_cvar_get_index");
    code(v.bind, MPI_T_BIND_NO_OBJECT);
    holds(v.datatype == MPI_CHAR || v.datatype == MPI_INT, "datatype");
    if (v.items != MPI_T_ENUM_NULL) list_items(v.items);
    MPI_T_cvar_handle handle;
    int count = 0;
    ok(MPI_T_cvar_handle_alloc(i, nullptr, &handle, &count));
    std::vector<char> buffer(static_cast<std::size_t>(count) * sizeof(int), '?');
    ok(MPI_T_cvar_read(handle, buffer.data()), v.name.c_str());
    if (v.datatype == MPI_CHAR) holds(std::string(buffer.data()).size() < static_cast<std::size_t>(count), "a null");
    ok(MPI_T_cvar_handle_free(&handle));
    holds(handle == MPI_T_CVAR_HANDLE_NULL, "a freed handle is null");
  }
  for (const char* known : {"HEDDLE_MODEL", "HEDDLE_PROGRESS", "HEDDLE_SPLIT_COPY", "HEDDLE_WAIT", "HEDDLE_REPORT",
                            "HEDDLE_INITIAL_ERRHANDLER"})
    holds(names.count(known) == 1, known);
}

void list_pvars() {
  int n = 0;
  ok(MPI_T_pvar_get_num(&n));
  holds(n > 20, "number of performance variables");
  std::set<std::string> names;
  std::set<int> classes;
  MPI_T_pvar_session session;
  ok(MPI_T_pvar_session_create(&session));
  for (int i = 0; i < n; ++i) {
    char name[128], description[256];
    int name_length = sizeof name, description_length = sizeof description;
    int verbosity, var_class, bind, readonly, continuous, atomic;
    MPI_Datatype datatype;
    MPI_T_enum items;
    ok(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &var_class, &datatype, &items, description,
                           &description_length, &bind, &readonly, &continuous, &atomic));
    holds(names.insert(name).second, "names of variables differ");
    holds(description_length > 10 && description_length < static_cast<int>(sizeof description), "a description");
    code(test::pvar(name, var_class), i, "MPI_T_pvar_get_index");
    classes.insert(var_class);
    holds(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM, "what it is bound to");
    holds(items == MPI_T_ENUM_NULL, "no enumeration");
    holds(datatype == (var_class == MPI_T_PVAR_CLASS_TIMER ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG), "datatype");
    MPI_Comm comm = MPI_COMM_SELF;
    MPI_T_pvar_handle handle;
    int count = 0;
    ok(MPI_T_pvar_handle_alloc(session, i, &comm, &handle, &count), name);
    code(count, 1);
    if (!continuous) ok(MPI_T_pvar_start(session, handle), name);
    unsigned char value[8];
    ok(MPI_T_pvar_read(session, handle, value), name);
    if (atomic) ok(MPI_T_pvar_readreset(session, handle, value), name);
    if (!readonly) ok(MPI_T_pvar_write(session, handle, value), name);
    ok(MPI_T_pvar_handle_free(session, &handle));
    holds(handle == MPI_T_PVAR_HANDLE_NULL, "a freed handle is null");
  }
  ok(MPI_T_pvar_session_free(&session));
  holds(session == MPI_T_PVAR_SESSION_NULL, "a freed session is null");
  holds(classes == std::set<int>{MPI_T_PVAR_CLASS_COUNTER, MPI_T_PVAR_CLASS_TIMER, MPI_T_PVAR_CLASS_HIGHWATERMARK,
                                 MPI_T_PVAR_CLASS_LEVEL},
        "classes");
}

// Every variable is in exactly one category, and every category but the first in another.
void list_categories() {
  int n = 0, cvars = 0, pvars = 0;
  ok(MPI_T_category_get_num(&n));
  ok(MPI_T_cvar_get_num(&cvars));
  ok(MPI_T_pvar_get_num(&pvars));
  std::multiset<int> seen_cvars, seen_pvars, seen_categories;
  for (int i = 0; i < n; ++i) {
    char name[64];
    int length = sizeof name, in_cvars = -1, in_pvars = -1, in_categories = -1, in_events = -1, index = -1;
    ok(MPI_T_category_get_info(i, name, &length, nullptr, nullptr, &in_cvars, &in_pvars, &in_categories));
    ok(MPI_T_category_get_index(name, &index), name);
    code(index, i);
    ok(MPI_T_category_get_num_events(i, &in_events));
    code(in_events, 0, "events");
    const auto collect = [&](auto get, int expected, std::multiset<int>& seen) {
      std::vector<int> indices(static_cast<std::size_t>(expected) + 1, -1);
      ok(get(i, expected + 1, indices.data()), name);
      holds(indices.back() == -1, "no more members than were announced");
      seen.insert(indices.begin(), indices.end() - 1);
    };
    collect(MPI_T_category_get_cvars, in_cvars, seen_cvars);
    collect(MPI_T_category_get_pvars, in_pvars, seen_pvars);
    collect(MPI_T_category_get_categories, in_categories, seen_categories);
    ok(MPI_T_category_get_events(i, 0, nullptr));
  }
  const auto complete = [](const std::multiset<int>& seen, int first, int end) {
    bool all = static_cast<int>(seen.size()) == end - first;
    for (int i = first; i < end; ++i) all = all && seen.count(i) == 1;
    return all;
  };
  holds(complete(seen_cvars, 0, cvars), "control variables by category");
  holds(complete(seen_pvars, 0, pvars), "performance variables by category");
  holds(complete(seen_categories, 1, n), "categories by category");
  int before = -1, after = -2;
  ok(MPI_T_category_changed(&before));
  ok(MPI_T_category_changed(&after));
  code(before, after, "nothing has changed");
}

void list_events() {
  int n = -1;
  ok(MPI_T_event_get_num(&n));
  code(n, 0, "number of events");
  ok(MPI_T_source_get_num(&n));
  code(n, 0, "number of sources");
}

}  // namespace

int main(int argc, char** argv) {
  const test::Tool tool;
  MPI_Init(&argc, &argv);
  list_cvars();
  list_pvars();
  list_categories();
  list_events();
  MPI_Finalize();
}
