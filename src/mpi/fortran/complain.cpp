#include "mpi/fortran/complain.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace heddle::fortran {
namespace {

// One code for each text: codes are few, and programs repeat their mistakes.
int code_for(int error_class, const char* text) {
  static std::mutex mutex;
  static std::vector<std::pair<std::string, int>> known;
  const std::lock_guard lock(mutex);
  for (const auto& [known_text, code] : known) {
    if (known_text == text) return code;
  }
  int code = error_class;
  if (MPI_Add_error_code(error_class, &code) != MPI_SUCCESS) return error_class;
  if (MPI_Add_error_string(code, text) != MPI_SUCCESS) return error_class;
  known.emplace_back(text, code);
  return code;
}

}  // namespace

int complain(MPI_Comm comm, int error_class, const char* text) {
  const int code = code_for(error_class, text);
  MPI_Comm_call_errhandler(comm, code);
  return code;
}

int complain(MPI_Win win, int error_class, const char* text) {
  const int code = code_for(error_class, text);
  MPI_Win_call_errhandler(win, code);
  return code;
}

int complain(MPI_File file, int error_class, const char* text) {
  const int code = code_for(error_class, text);
  MPI_File_call_errhandler(file, code);
  return code;
}

int complain(int error_class, const char* text) {
  int initialized = 0;
  if (MPI_Initialized(&initialized) != MPI_SUCCESS || !initialized) return error_class;
  return complain(MPI_COMM_SELF, error_class, text);
}

}  // namespace heddle::fortran
