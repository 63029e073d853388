// The end of an entry point: what the implementation answers or throws becomes what the call returns.
#pragma once

#include <mpi.h>

#include <exception>

#include "base/functions.hpp"
#include "objects/object/error.hpp"
#include "objects/object/raise.hpp"

namespace heddle::binding {

// In a handler of std::exception: the error that stands for what has been thrown. A want of memory is of class `memory_class`. What is of
// another type comes from the user's callbacks, or ends the thread, and goes on.
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

// The same of the tool information interface, which calls no error handler.
template <class Call>
[[gnu::always_inline]] inline int answer(Call&& call) {
  try {
    return call().code();
  } catch (const std::exception&) {
    return explain_thrown(MPI_T_ERR_MEMORY).code();
  }
}

}  // namespace heddle::binding
