// The end of an entry point: what the implementation answers, or throws for want of memory, becomes what the call returns.
#pragma once

#include <mpi.h>

#include <exception>

#include "binding/functions.hpp"
#include "object/error.hpp"
#include "object/raise.hpp"

namespace heddle::binding {

// In a handler: the error that stands for what has been thrown, std::bad_alloc, std::length_error or std::system_error. Anything else
// is thrown on.
[[gnu::cold, gnu::noinline]] Error out_of_memory(int error_class);

template <class Call>
[[gnu::always_inline]] inline int finish(Function function, Object* owner, Call&& call) {
  Error error;
  try {
    error = call();
  } catch (const std::exception&) {
    error = out_of_memory(MPI_ERR_NO_MEM);
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
    return out_of_memory(MPI_T_ERR_MEMORY).code();
  }
}

}  // namespace heddle::binding
