// Every wrong use of the tool interface gets its code, and nothing ever ends the program.
#include <cstdint>
#include <string>

#include "mpi/tool/tool.hpp"

namespace {

using test::code;
using test::ok;

template <class Handle>
Handle nonsense() {
  return reinterpret_cast<Handle>(std::uintptr_t{0xdeadbeef8});
}

void before_initialization() {
  int n;
  MPI_T_cvar_handle cvar = nonsense<MPI_T_cvar_handle>();
  MPI_T_pvar_session session = nonsense<MPI_T_pvar_session>();
  MPI_T_pvar_handle pvar = nonsense<MPI_T_pvar_handle>();
  MPI_Count count;
  const auto refused = [](int result, const char* what) { code(result, MPI_T_ERR_NOT_INITIALIZED, what); };
  refused(MPI_T_finalize(), "finalize");
  refused(MPI_T_cvar_get_num(&n), "cvar_get_num");
  refused(MPI_T_cvar_get_index("HEDDLE_MODEL", &n), "cvar_get_index");
  refused(MPI_T_cvar_handle_alloc(0, nullptr, &cvar, &n), "cvar_handle_alloc");
  refused(MPI_T_cvar_handle_free(&cvar), "cvar_handle_free");
  refused(MPI_T_cvar_read(cvar, &n), "cvar_read");
  refused(MPI_T_cvar_write(cvar, &n), "cvar_write");
  refused(MPI_T_pvar_get_num(&n), "pvar_get_num");
  refused(MPI_T_pvar_session_create(&session), "pvar_session_create");
  refused(MPI_T_pvar_session_free(&session), "pvar_session_free");
  refused(MPI_T_pvar_handle_alloc(session, 0, nullptr, &pvar, &n), "pvar_handle_alloc");
  refused(MPI_T_pvar_start(session, pvar), "pvar_start");
  refused(MPI_T_pvar_stop(session, pvar), "pvar_stop");
  refused(MPI_T_pvar_read(session, pvar, &n), "pvar_read");
  refused(MPI_T_category_get_num(&n), "category_get_num");
  refused(MPI_T_category_changed(&n), "category_changed");
  refused(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, nullptr, nullptr), "enum_get_info");
  refused(MPI_T_event_get_num(&n), "event_get_num");
  refused(MPI_T_source_get_timestamp(0, &count), "source_get_timestamp");
  code(MPI_T_init_thread(MPI_THREAD_MULTIPLE + 1, &n), MPI_T_ERR_INVALID, "a level that there is not");
  code(MPI_T_init_thread(MPI_THREAD_MULTIPLE, nullptr), MPI_T_ERR_INVALID, "no place for the level");
}

void indices() {
  int cvars, pvars, categories, n;
  ok(MPI_T_cvar_get_num(&cvars));
  ok(MPI_T_pvar_get_num(&pvars));
  ok(MPI_T_category_get_num(&categories));
  MPI_T_pvar_session session;
  ok(MPI_T_pvar_session_create(&session));
  const auto refused = [](int result, const char* what) { code(result, MPI_T_ERR_INVALID_INDEX, what); };
  for (const int i : {-1, cvars, 1 << 30}) {
    MPI_T_cvar_handle handle;
    refused(MPI_T_cvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            "cvar_get_info");
    refused(MPI_T_cvar_handle_alloc(i, nullptr, &handle, &n), "cvar_handle_alloc");
  }
  for (const int i : {-1, pvars, 1 << 30}) {
    MPI_T_pvar_handle handle;
    refused(MPI_T_pvar_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                nullptr, nullptr, nullptr),
            "pvar_get_info");
    refused(MPI_T_pvar_handle_alloc(session, i, nullptr, &handle, &n), "pvar_handle_alloc");
  }
  for (const int i : {-1, categories, 1 << 30}) {
    refused(MPI_T_category_get_info(i, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
            "category_get_info");
    refused(MPI_T_category_get_num_events(i, &n), "category_get_num_events");
    refused(MPI_T_category_get_cvars(i, 1, &n), "category_get_cvars");
    refused(MPI_T_category_get_pvars(i, 1, &n), "category_get_pvars");
    refused(MPI_T_category_get_events(i, 1, &n), "category_get_events");
    refused(MPI_T_category_get_categories(i, 1, &n), "category_get_categories");
  }
  MPI_T_event_registration registration;
  MPI_Count ticks;
  refused(MPI_T_event_get_info(0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr),
          "event_get_info");
  refused(MPI_T_event_handle_alloc(0, nullptr, MPI_INFO_NULL, &registration), "event_handle_alloc");
  refused(MPI_T_source_get_info(0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
          "source_get_info");
  refused(MPI_T_source_get_timestamp(0, &ticks), "source_get_timestamp");
  ok(MPI_T_pvar_session_free(&session));
}

void names() {
  int n;
  const auto refused = [](int result) { code(result, MPI_T_ERR_INVALID_NAME); };
  refused(MPI_T_cvar_get_index("no such variable", &n));
  refused(MPI_T_cvar_get_index("", &n));
  refused(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_COUNTER, &n));
  refused(MPI_T_pvar_get_index("vni_polls", MPI_T_PVAR_CLASS_TIMER, &n));  // of another class
  refused(MPI_T_category_get_index("no such category", &n));
  refused(MPI_T_event_get_index("no such event", &n));
}

void handles() {
  int n;
  char buffer[8] = {};
  MPI_T_pvar_session session, freed_session = nonsense<MPI_T_pvar_session>();
  ok(MPI_T_pvar_session_create(&session));
  const auto no_handle = [](int result, const char* what) { code(result, MPI_T_ERR_INVALID_HANDLE, what); };
  const auto no_session = [](int result, const char* what) { code(result, MPI_T_ERR_INVALID_SESSION, what); };

  MPI_T_cvar_handle cvar, freed_cvar;
  ok(MPI_T_cvar_handle_alloc(0, nullptr, &cvar, &n));
  freed_cvar = cvar;
  ok(MPI_T_cvar_handle_free(&cvar));
  MPI_T_pvar_handle pvar, freed_pvar;
  ok(MPI_T_pvar_handle_alloc(session, 0, nullptr, &pvar, &n));
  freed_pvar = pvar;
  ok(MPI_T_pvar_handle_free(session, &pvar));
  for (MPI_T_cvar_handle bad : {MPI_T_CVAR_HANDLE_NULL, nonsense<MPI_T_cvar_handle>(), freed_cvar}) {
    no_handle(MPI_T_cvar_read(bad, buffer), "cvar_read");
    no_handle(MPI_T_cvar_write(bad, buffer), "cvar_write");
    no_handle(MPI_T_cvar_handle_free(&bad), "cvar_handle_free");
  }
  for (MPI_T_pvar_handle bad : {MPI_T_PVAR_HANDLE_NULL, nonsense<MPI_T_pvar_handle>(), freed_pvar}) {
    no_handle(MPI_T_pvar_start(session, bad), "pvar_start");
    no_handle(MPI_T_pvar_stop(session, bad), "pvar_stop");
    no_handle(MPI_T_pvar_read(session, bad, buffer), "pvar_read");
    no_handle(MPI_T_pvar_write(session, bad, buffer), "pvar_write");
    no_handle(MPI_T_pvar_reset(session, bad), "pvar_reset");
    no_handle(MPI_T_pvar_readreset(session, bad, buffer), "pvar_readreset");
    no_handle(MPI_T_pvar_handle_free(session, &bad), "pvar_handle_free");
  }
  // All handles can be started, stopped and reset, not read.
  no_handle(MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, buffer), "read all");
  no_handle(MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, buffer), "readreset all");
  no_handle(MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, buffer), "write all");
  ok(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), "start all of none");

  ok(MPI_T_pvar_handle_alloc(session, 0, nullptr, &pvar, &n));
  for (MPI_T_pvar_session bad : {MPI_T_PVAR_SESSION_NULL, freed_session}) {
    MPI_T_pvar_handle another;
    no_session(MPI_T_pvar_handle_alloc(bad, 0, nullptr, &another, &n), "pvar_handle_alloc");
    no_session(MPI_T_pvar_start(bad, pvar), "pvar_start");
    no_session(MPI_T_pvar_stop(bad, MPI_T_PVAR_ALL_HANDLES), "pvar_stop");
    no_session(MPI_T_pvar_read(bad, pvar, buffer), "pvar_read");
    no_session(MPI_T_pvar_session_free(&bad), "pvar_session_free");
  }
  freed_session = session;
  ok(MPI_T_pvar_session_free(&session), "with a handle in it");
  no_session(MPI_T_pvar_read(freed_session, pvar, buffer), "a freed session");

  for (MPI_T_enum bad : {MPI_T_ENUM_NULL, nonsense<MPI_T_enum>()}) {
    no_handle(MPI_T_enum_get_info(bad, &n, nullptr, nullptr), "enum_get_info");
    no_handle(MPI_T_enum_get_item(bad, 0, &n, nullptr, nullptr), "enum_get_item");
  }
  MPI_Info info;
  MPI_Count count;
  const auto registration = nonsense<MPI_T_event_registration>();
  const auto instance = nonsense<MPI_T_event_instance>();
  no_handle(MPI_T_event_handle_get_info(registration, &info), "event_handle_get_info");
  no_handle(MPI_T_event_handle_set_info(registration, MPI_INFO_NULL), "event_handle_set_info");
  no_handle(MPI_T_event_callback_get_info(registration, MPI_T_CB_REQUIRE_NONE, &info), "event_callback_get_info");
  no_handle(MPI_T_event_callback_set_info(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL),
            "event_callback_set_info");
  no_handle(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, nullptr, nullptr),
            "event_register_callback");
  no_handle(MPI_T_event_set_dropped_handler(registration, nullptr), "event_set_dropped_handler");
  no_handle(MPI_T_event_handle_free(registration, nullptr, nullptr), "event_handle_free");
  no_handle(MPI_T_event_read(instance, 0, buffer), "event_read");
  no_handle(MPI_T_event_copy(instance, buffer), "event_copy");
  no_handle(MPI_T_event_get_timestamp(instance, &count), "event_get_timestamp");
  no_handle(MPI_T_event_get_source(instance, &n), "event_get_source");
}

void places() {
  MPI_T_pvar_session session;
  ok(MPI_T_pvar_session_create(&session));
  MPI_T_cvar_handle cvar;
  MPI_T_pvar_handle pvar;
  int n;
  ok(MPI_T_cvar_handle_alloc(0, nullptr, &cvar, &n));
  ok(MPI_T_pvar_handle_alloc(session, 0, nullptr, &pvar, &n));
  const auto refused = [](int result, const char* what) { code(result, MPI_T_ERR_INVALID, what); };
  refused(MPI_T_cvar_get_num(nullptr), "cvar_get_num");
  refused(MPI_T_cvar_get_index(nullptr, &n), "cvar_get_index");
  refused(MPI_T_cvar_get_index("HEDDLE_MODEL", nullptr), "cvar_get_index");
  refused(MPI_T_cvar_handle_alloc(0, nullptr, nullptr, &n), "cvar_handle_alloc");
  refused(MPI_T_cvar_handle_free(nullptr), "cvar_handle_free");
  refused(MPI_T_cvar_read(cvar, nullptr), "cvar_read");
  refused(MPI_T_pvar_get_num(nullptr), "pvar_get_num");
  refused(MPI_T_pvar_get_index(nullptr, MPI_T_PVAR_CLASS_COUNTER, &n), "pvar_get_index");
  refused(MPI_T_pvar_session_create(nullptr), "pvar_session_create");
  refused(MPI_T_pvar_session_free(nullptr), "pvar_session_free");
  refused(MPI_T_pvar_handle_free(session, nullptr), "pvar_handle_free");
  refused(MPI_T_pvar_read(session, pvar, nullptr), "pvar_read");
  refused(MPI_T_pvar_write(session, pvar, nullptr), "pvar_write");
  refused(MPI_T_pvar_readreset(session, pvar, nullptr), "pvar_readreset");
  refused(MPI_T_category_get_num(nullptr), "category_get_num");
  refused(MPI_T_category_get_pvars(0, 1, nullptr), "category_get_pvars");
  refused(MPI_T_category_get_pvars(0, -1, &n), "category_get_pvars");
  refused(MPI_T_category_changed(nullptr), "category_changed");
  refused(MPI_T_event_get_num(nullptr), "event_get_num");
  refused(MPI_T_event_get_index(nullptr, &n), "event_get_index");
  const int bound = test::pvar("comm_sends", MPI_T_PVAR_CLASS_COUNTER);
  MPI_T_pvar_handle handle;
  refused(MPI_T_pvar_handle_alloc(session, bound, nullptr, &handle, &n), "a variable that wants a communicator");
  MPI_Comm none = MPI_COMM_NULL;
  code(MPI_T_pvar_handle_alloc(session, bound, &none, &handle, &n), MPI_T_ERR_INVALID_HANDLE, "MPI_COMM_NULL");
  ok(MPI_T_cvar_handle_free(&cvar));
  ok(MPI_T_pvar_session_free(&session));
}

void variables_that_are_as_they_are() {
  MPI_T_cvar_handle cvar;
  int n, index = 0;
  ok(MPI_T_cvar_handle_alloc(test::cvar("HEDDLE_INITIAL_ERRHANDLER"), nullptr, &cvar, &n));
  ok(MPI_T_cvar_read(cvar, &index));
  code(MPI_T_cvar_write(cvar, &index), MPI_T_ERR_CVAR_SET_NEVER);
  ok(MPI_T_cvar_handle_free(&cvar));
  MPI_T_enum items;
  ok(MPI_T_cvar_get_info(test::cvar("HEDDLE_INITIAL_ERRHANDLER"), nullptr, nullptr, nullptr, nullptr, &items, nullptr,
                         nullptr, nullptr, nullptr));
  code(MPI_T_enum_get_item(items, 3, &n, nullptr, nullptr), MPI_T_ERR_INVALID_INDEX, "an item that there is not");
  code(MPI_T_enum_get_item(items, -1, &n, nullptr, nullptr), MPI_T_ERR_INVALID_INDEX, "an item that there is not");

  // A string without an end.
  int capacity = 0;
  ok(MPI_T_cvar_handle_alloc(test::cvar("HEDDLE_REPORT"), nullptr, &cvar, &capacity));
  code(MPI_T_cvar_write(cvar, std::string(static_cast<std::size_t>(capacity), 'x').data()), MPI_T_ERR_INVALID);
  ok(MPI_T_cvar_handle_free(&cvar));

  MPI_T_pvar_session session;
  MPI_T_pvar_handle threads;
  ok(MPI_T_pvar_session_create(&session));
  MPI_Comm world = MPI_COMM_WORLD;
  ok(MPI_T_pvar_handle_alloc(session, test::pvar("comm_threads", MPI_T_PVAR_CLASS_LEVEL), &world, &threads, &n));
  unsigned long long value = 0;
  code(MPI_T_pvar_start(session, threads), MPI_T_ERR_PVAR_NO_STARTSTOP);
  code(MPI_T_pvar_stop(session, threads), MPI_T_ERR_PVAR_NO_STARTSTOP);
  code(MPI_T_pvar_write(session, threads, &value), MPI_T_ERR_PVAR_NO_WRITE);
  code(MPI_T_pvar_reset(session, threads), MPI_T_ERR_PVAR_NO_WRITE);
  code(MPI_T_pvar_readreset(session, threads, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
  ok(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), "all that can be started");
  ok(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES), "all that can be reset");
  ok(MPI_T_pvar_session_free(&session));
}

// The codes are error codes of MPI, with a class and a text each.
void texts() {
  for (int c = MPI_T_ERR_CANNOT_INIT; c <= MPI_T_ERR_PVAR_NO_ATOMIC; ++c) {
    int error_class = 0, length = 0;
    char text[MPI_MAX_ERROR_STRING];
    ok(MPI_Error_class(c, &error_class));
    code(error_class, c);
    ok(MPI_Error_string(c, text, &length));
    test::holds(length > 5, "a text");
  }
}

}  // namespace

int main(int argc, char** argv) {
  before_initialization();
  const test::Tool tool;
  MPI_Init(&argc, &argv);  // errors are fatal from here on, but not those of the tool interface
  indices();
  names();
  handles();
  places();
  variables_that_are_as_they_are();
  texts();
  MPI_Finalize();
}
