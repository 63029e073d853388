// The tool information interface of a rank (MPI 5.0, section 15.3): its users, and the objects of its handles. It is
// there before MPI is initialized and after it is finalized.
//
// Its functions call no error handler: each returns a code, which is all that the standard allows. One lock guards it
// all; tools from several threads queue.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>

#include "base/threads/mutex.hpp"
#include "launch/rank/rank.hpp"
#include "mpi/tool/cvar.hpp"
#include "mpi/tool/handle_table.hpp"
#include "mpi/tool/pvar.hpp"
#include "objects/object/error.hpp"

namespace heddle::tool {

struct Interface {
  threads::Mutex mutex;
  // Under the mutex:
  int users = 0;  // calls of MPI_T_init_thread that have had no MPI_T_finalize
  HandleTable<CvarHandle, MPI_T_cvar_handle> cvars;
  HandleTable<PvarSession, MPI_T_pvar_session> sessions;
};

// A call: `f` gets the interface, locked, if it is initialized.
template <class F>
Error call(F&& f) {
  Interface& interface = *current_rank().tool;
  std::lock_guard guard(interface.mutex);
  if (interface.users == 0) return Error(MPI_T_ERR_NOT_INITIALIZED);
  return f(interface);
}

// Results that the caller may not want (section 15.3.3 and others: a null pointer).
template <class T>
void give(T* place, T value) {
  if (place != nullptr) *place = value;
}

// A string, with the rules of section 15.3.3: at most *length characters with the null at the end; *length becomes the
// length of the whole string. A null buffer or a length of 0 requests that alone, and a null length nothing.
inline void give(char* buffer, int* length, std::string_view text) {
  if (length == nullptr) return;
  if (buffer != nullptr && *length > 0) {
    const std::size_t n = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(buffer, text.data(), n);
    buffer[n] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

}  // namespace heddle::tool
