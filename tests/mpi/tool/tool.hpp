// The common part of the tests of the tool interface.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string>

namespace test {

// Works without MPI, which may not be initialized: ends the process with the place that failed.
inline void code(int got, int wanted, const char* what = "",
                 std::source_location at = std::source_location::current()) {
  if (got == wanted) return;
  std::fprintf(stderr, "%s:%u: %s: code %d, not %d\n", at.file_name(), at.line(), what, got, wanted);
  std::fflush(nullptr);
  std::_Exit(1);
}
inline void ok(int got, const char* what = "", std::source_location at = std::source_location::current()) {
  code(got, MPI_SUCCESS, what, at);
}
inline void holds(bool yes, const char* what = "", std::source_location at = std::source_location::current()) {
  if (yes) return;
  std::fprintf(stderr, "%s:%u: check failed: %s\n", at.file_name(), at.line(), what);
  std::fflush(nullptr);
  std::_Exit(1);
}

// MPI_T_init_thread and MPI_T_finalize around a scope.
struct Tool {
  Tool() {
    int provided = -1;
    ok(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), "MPI_T_init_thread");
    code(provided, MPI_THREAD_MULTIPLE, "its level of thread support");
  }
  ~Tool() { ok(MPI_T_finalize(), "MPI_T_finalize"); }
};

inline int pvar(const char* name, int var_class) {
  int index = -1;
  ok(MPI_T_pvar_get_index(name, var_class, &index), name);
  return index;
}
inline int cvar(const char* name) {
  int index = -1;
  ok(MPI_T_cvar_get_index(name, &index), name);
  return index;
}

// A counter that has been started.
class Counter {
 public:
  Counter(MPI_T_pvar_session session, const char* name, MPI_Comm comm = MPI_COMM_NULL) : session_(session) {
    int count;
    ok(MPI_T_pvar_handle_alloc(session, pvar(name, MPI_T_PVAR_CLASS_COUNTER), &comm, &handle_, &count), name);
    code(count, 1, "elements of a variable");
    ok(MPI_T_pvar_start(session, handle_), name);
  }
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;
  ~Counter() { ok(MPI_T_pvar_handle_free(session_, &handle_), "MPI_T_pvar_handle_free"); }

  unsigned long long read() const {
    unsigned long long value;
    ok(MPI_T_pvar_read(session_, handle_, &value), "MPI_T_pvar_read");
    return value;
  }
  MPI_T_pvar_handle handle() const { return handle_; }

 private:
  MPI_T_pvar_session session_;
  MPI_T_pvar_handle handle_;
};

}  // namespace test
