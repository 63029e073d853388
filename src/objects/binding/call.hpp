// The end of an entry point: converts the implementation's result or exception into the result of the call.
#pragma once

#include <mpi.h>

#include <exception>

#include "base/functions.hpp"
#include "objects/object/error.hpp"
#include "objects/object/raise.hpp"

namespace heddle::binding {

// In a handler of std::exception: the error for the exception. A lack of memory is of class `memory_class`. Exceptions
// of other types come from the user's callbacks, or end the thread, and go on.
[[gnu::cold, gnu::noinline]] Error explain_thrown(int memory_class);

template <class Call>
[[gnu::always_inline]] inline int finish(Function function, Object* owner, Call&& call) {
  Error error;
  try {
    error = call();
  } catch (const std::exception&) {
    error = explain_thrown(MPI_ERR_NO_MEM);
  }
  if (error) [[unlikely]]
    return raise(function, owner, error);
  return MPI_SUCCESS;
}

// The same for the tool information interface, which calls no error handler.
template <class Call>
[[gnu::always_inline]] inline int answer(Call&& call) {
  try {
    return call().code();
  } catch (const std::exception&) {
    return explain_thrown(MPI_T_ERR_MEMORY).code();
  }
}

}  // namespace heddle::binding
