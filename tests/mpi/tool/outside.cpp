// The tool interface before MPI_Init and after MPI_Finalize: it has a life of its own, control variables take effect, and
// a report can be asked for by a tool alone.
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string>

#include "mpi/tool/tool.hpp"

namespace {

using test::code;
using test::holds;
using test::ok;

std::string read(const char* name) {
  MPI_T_cvar_handle handle;
  int count = 0;
  ok(MPI_T_cvar_handle_alloc(test::cvar(name), nullptr, &handle, &count), name);
  std::string value(static_cast<std::size_t>(count), '?');
  ok(MPI_T_cvar_read(handle, value.data()), name);
  ok(MPI_T_cvar_handle_free(&handle));
  return value.c_str();
}

int write(const char* name, const std::string& value) {
  MPI_T_cvar_handle handle;
  int count = 0;
  ok(MPI_T_cvar_handle_alloc(test::cvar(name), nullptr, &handle, &count), name);
  const int result = MPI_T_cvar_write(handle, value.c_str());
  ok(MPI_T_cvar_handle_free(&handle));
  return result;
}

}  // namespace

int main() {
  unsetenv("HEDDLE_MODEL");
  setenv("HEDDLE_WAIT", "spin:40", 1);
  setenv("HEDDLE_REPORT", "0", 1);
  int provided = -1, flag = -1;
  ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  ok(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), "a second time");
  ok(MPI_T_finalize());
  MPI_Initialized(&flag);
  code(flag, 0, "MPI_T_init_thread does not initialize MPI");

  holds(read("HEDDLE_MODEL").empty(), "the environment's value");
  holds(read("HEDDLE_REPORT") == "0", "the environment's value");
  ok(write("HEDDLE_MODEL", "global"), "before initialization");
  holds(read("HEDDLE_WAIT") == "spin:40", "the environment's value");
  code(write("HEDDLE_WAIT", "busy"), MPI_T_ERR_CVAR_SET_NEVER, "it is only read");
  holds(read("HEDDLE_MODEL") == "global", "what was written");

  // A variable without an object can be looked at before there is anything to see.
  MPI_T_pvar_session session;
  MPI_T_pvar_handle polls;
  int count = 0;
  ok(MPI_T_pvar_session_create(&session));
  ok(MPI_T_pvar_handle_alloc(session, test::pvar("vni_polls", MPI_T_PVAR_CLASS_COUNTER), nullptr, &polls, &count));
  ok(MPI_T_pvar_start(session, polls));
  unsigned long long value = 1;
  ok(MPI_T_pvar_read(session, polls, &value));
  holds(value == 0, "nothing was counted before initialization");
  MPI_Comm world = MPI_COMM_WORLD;
  MPI_T_pvar_handle bound;
  code(MPI_T_pvar_handle_alloc(session, test::pvar("comm_sends", MPI_T_PVAR_CLASS_COUNTER), &world, &bound, &count),
       MPI_T_ERR_INVALID_HANDLE, "there is no communicator yet");

  MPI_Init(nullptr, nullptr);
  code(write("HEDDLE_MODEL", "mtx"), MPI_T_ERR_CVAR_SET_NEVER, "while MPI is initialized");
  holds(read("HEDDLE_MODEL") == "global", "it keeps its value");
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char path[] = "/tmp/heddle-report-XXXXXX";
  if (rank == 0) close(mkstemp(path));
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  ok(write("HEDDLE_REPORT", path), "at any time before finalization");
  int out = 1, in = 0;
  MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  if (rank == 0) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    holds(line.find("model global (HEDDLE_MODEL asks for it)") != std::string::npos, line.c_str());
    std::getline(file, line);
    holds(line.find("waiting: spin (spins for 40 us; ") != std::string::npos, line.c_str());
    unlink(path);
  }

  ok(MPI_T_pvar_read(session, polls, &value), "after MPI_Finalize");
  code(write("HEDDLE_REPORT", "1"), MPI_T_ERR_CVAR_SET_NEVER, "after MPI_Finalize");
  ok(MPI_T_finalize(), "the last");
  code(MPI_T_pvar_read(session, polls, &value), MPI_T_ERR_NOT_INITIALIZED);
  code(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED, "one too many");

  // And once more: handles of the last time are none.
  ok(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), "after MPI_Finalize");
  code(MPI_T_pvar_read(session, polls, &value), MPI_T_ERR_INVALID_SESSION);
  ok(MPI_T_finalize());
}
