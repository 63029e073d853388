#include "objects/binding/complain.hpp"

#include <iterator>
#include <string_view>

#include "launch/rank/rank.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tags.hpp"

namespace heddle::binding {
namespace {

bool stopped(Function function, Error& error) {
  switch (current_rank().phase.load(std::memory_order_relaxed)) {
    case Phase::before:
      error = fail(MPI_ERR_OTHER,
                   "%s was called before MPI_Init or MPI_Session_init: MPI is not initialized. Call one of them first",
                   name(function));
      return true;
    case Phase::after:
      error = fail(MPI_ERR_OTHER,
                   "%s was called after MPI_Finalize, or after the last session has ended: MPI is already finalized",
                   name(function));
      return true;
    case Phase::active:
      break;
  }
  return false;
}

// By Kind.
constexpr const char* kinds[] = {"a communicator", "a group",        "a datatype",       "an operation",
                                 "a request",      "an info object", "an error handler", "a session",
                                 "a message",      "a window",       "a file",           "an attribute key"};
static_assert(std::size(kinds) == kind_count);

// `what` is "a communicator", `null` is "MPI_COMM_NULL".
template <class Handle>
int bad(Function function, Object* owner, const char* argument, Handle value, Handle null_value, int error_class,
        const char* what, const char* null, bool any_time = false) {
  Error error;
  if (!any_time && stopped(function, error)) return raise(function, owner, error);
  const auto bits = reinterpret_cast<std::uintptr_t>(value);
  if (value == null_value) {
    error = fail(error_class, "argument %s is %s", argument, null);
  } else if (Kind kind{}; bits >= arena::first_user_handle && arena::find_kind(bits, kind)) {
    const char* const found = kinds[static_cast<std::size_t>(kind)];
    error = found == std::string_view(what) ? fail(error_class, "argument %s is %s that has been freed", argument, what)
                                            : fail(error_class, "argument %s is not %s but %s", argument, what, found);
  } else if (bits >= arena::first_user_handle) {
    error = fail(error_class, "argument %s = 0x%zx is not %s: the variable may be uninitialized", argument, bits, what);
  } else {
    error = fail(error_class, "argument %s = 0x%zx is not %s that can be used here", argument, bits, what);
  }
  return raise(function, owner, error);
}

const char* name_of(const Comm* comm) { return comm && !comm->name.empty() ? comm->name.c_str() : "(unnamed)"; }

}  // namespace

int not_running(Function function) {
  Error error;
  stopped(function, error);
  return raise(function, nullptr, error);
}

int bad_handle(Function f, Object* owner, const char* argument, MPI_Comm h) {
  return bad(f, owner, argument, h, MPI_COMM_NULL, MPI_ERR_COMM, "a communicator", "MPI_COMM_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Group h) {
  return bad(f, owner, argument, h, MPI_GROUP_NULL, MPI_ERR_GROUP, "a group", "MPI_GROUP_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Datatype h) {
  return bad(f, owner, argument, h, MPI_DATATYPE_NULL, MPI_ERR_TYPE, "a datatype", "MPI_DATATYPE_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Op h) {
  return bad(f, owner, argument, h, MPI_OP_NULL, MPI_ERR_OP, "an operation", "MPI_OP_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Info h) {
  return bad(f, owner, argument, h, MPI_INFO_NULL, MPI_ERR_INFO, "an info object", "MPI_INFO_NULL", true);
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Errhandler h) {
  return bad(f, owner, argument, h, MPI_ERRHANDLER_NULL, MPI_ERR_ERRHANDLER, "an error handler", "MPI_ERRHANDLER_NULL",
             true);
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Request h) {
  return bad(f, owner, argument, h, MPI_REQUEST_NULL, MPI_ERR_REQUEST, "a request", "MPI_REQUEST_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Session h) {
  return bad(f, owner, argument, h, MPI_SESSION_NULL, MPI_ERR_SESSION, "a session", "MPI_SESSION_NULL", true);
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Message h) {
  return bad(f, owner, argument, h, MPI_MESSAGE_NULL, MPI_ERR_REQUEST, "a message", "MPI_MESSAGE_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_Win h) {
  return bad(f, owner, argument, h, MPI_WIN_NULL, MPI_ERR_WIN, "a window", "MPI_WIN_NULL");
}
int bad_handle(Function f, Object* owner, const char* argument, MPI_File h) {
  return bad(f, owner, argument, h, MPI_FILE_NULL, MPI_ERR_FILE, "a file", "MPI_FILE_NULL");
}

int bad_datatype(Function f, Object* owner, const char* argument, MPI_Datatype h) {
  if (!object(h)) return bad_handle(f, owner, argument, h);
  return raise(f, owner, fail(MPI_ERR_TYPE, "argument %s is a datatype that has not been committed", argument));
}

int bad_datatypes(Function f, Object* owner, const char* argument, const MPI_Datatype* types, MPI_Count n,
                  bool committed) {
  if (!types) return bad_pointer(f, owner, argument);
  for (MPI_Count i = 0; i < n; ++i) {
    const Datatype* type = object(types[i]);
    if (type && (type->committed || !committed)) continue;
    const auto index = static_cast<long long>(i);
    const char* what = type                            ? "has not been committed"
                       : types[i] == MPI_DATATYPE_NULL ? "is MPI_DATATYPE_NULL"
                                                       : "is not a datatype, or one that has been freed";
    return raise(f, owner, fail(MPI_ERR_TYPE, "argument %s: element %lld %s", argument, index, what));
  }
  return raise(f, owner, fail(MPI_ERR_TYPE, "argument %s holds a bad datatype", argument));
}

int bad_requests(Function f, Object* owner, const char* argument, const MPI_Request* requests, int n) {
  if (!requests) return bad_pointer(f, owner, argument);
  for (int i = 0; i < n; ++i) {
    if (object(requests[i])) continue;
    const char* what =
        requests[i] == MPI_REQUEST_NULL ? "MPI_REQUEST_NULL" : "not a request, or one that has been freed";
    return raise(f, owner, fail(MPI_ERR_REQUEST, "argument %s: element %d is %s", argument, i, what));
  }
  return raise(f, owner, fail(MPI_ERR_REQUEST, "argument %s holds a bad request", argument));
}

int bad_rank(Function f, Comm* comm, const char* argument, int value) {
  if (!comm) return raise(f, comm, fail(MPI_ERR_RANK, "argument %s = %d is not a rank", argument, value));
  const int size = comm->remote_size;
  if (value == MPI_ANY_SOURCE && comm->has_promised(promise_no_any_source))
    return raise(f, comm,
                 fail(MPI_ERR_RANK, "argument %s = MPI_ANY_SOURCE, but communicator %s was made with %s", argument,
                      name_of(comm), "mpi_assert_no_any_source"));
  return raise(f, comm,
               fail(MPI_ERR_RANK, "argument %s = %d is not a rank of communicator %s (0..%d)", argument, value,
                    name_of(comm), size - 1));
}

int bad_ranks(Function f, Object* owner, const char* argument, const int* ranks, int n, const Group& group) {
  if (!ranks) return bad_pointer(f, owner, argument);
  for (int i = 0; i < n; ++i) {
    if (ranks[i] >= 0 && ranks[i] < group.size) continue;
    return raise(f, owner,
                 fail(MPI_ERR_RANK, "argument %s: element %d = %d is not a rank of the group (0..%d)", argument, i,
                      ranks[i], group.size - 1));
  }
  return raise(f, owner, fail(MPI_ERR_RANK, "argument %s holds a bad rank", argument));
}

int bad_root(Function f, Comm* comm, const char* argument, int value) {
  const int size = comm->inter ? comm->remote_size : comm->size;
  return raise(f, comm,
               fail(MPI_ERR_ROOT, "argument %s = %d is not a rank of communicator %s (0..%d)%s", argument, value,
                    name_of(comm), size - 1, comm->inter ? ", nor MPI_ROOT or MPI_PROC_NULL" : ""));
}

int bad_tag(Function f, Object* owner, const char* argument, int value) {
  if (value == MPI_ANY_TAG)
    return raise(f, owner,
                 fail(MPI_ERR_TAG, "argument %s = MPI_ANY_TAG, which %s", argument,
                      "only receives may use, and only on a communicator made without mpi_assert_no_any_tag"));
  return raise(f, owner, fail(MPI_ERR_TAG, "argument %s = %d is not a tag (0..%d)", argument, value, tag_upper_bound));
}

int bad_sort(Function f, Comm* comm, const char* argument, const char* wanted) {
  return raise(f, comm, fail(MPI_ERR_COMM, "argument %s is not %s", argument, wanted));
}

int bad_number(Function f, Object* owner, const char* argument, MPI_Count value, MPI_Count least, int error_class) {
  const auto shown = static_cast<long long>(value);
  const char* why = least > 0 ? "not positive" : "negative";
  return raise(f, owner, fail(error_class, "argument %s = %lld is %s", argument, shown, why));
}

int bad_numbers(Function f, Object* owner, const char* argument, Counts counts, MPI_Count n, MPI_Count least,
                int error_class) {
  if (!counts) return bad_pointer(f, owner, argument);
  for (MPI_Count i = 0; i < n; ++i) {
    const MPI_Count value = counts[static_cast<std::size_t>(i)];
    if (value >= least) continue;
    return raise(f, owner,
                 fail(error_class, "argument %s: element %lld = %lld is %s", argument, static_cast<long long>(i),
                      static_cast<long long>(value), least > 0 ? "not positive" : "negative"));
  }
  return raise(f, owner, fail(error_class, "argument %s holds a bad number", argument));
}

int bad_keyval(Function f, Object* owner, const char* argument) {
  return raise(f, owner, fail(MPI_ERR_KEYVAL, "argument %s is MPI_KEYVAL_INVALID", argument));
}

int bad_reduction(Function f, Object* owner, Error error) { return raise(f, owner, error); }

int bad_pointer(Function f, Object* owner, const char* argument) {
  return raise(f, owner, fail(MPI_ERR_ARG, "argument %s is a null pointer", argument));
}

int bad_string(Function f, Object* owner, const char* argument, const char* value, int error_class) {
  const char* why = !value ? "a null pointer" : !*value ? "empty" : "too long";
  return raise(f, owner, fail(error_class, "argument %s is %s", argument, why));
}

int bad_buffer(Function f, Object* owner, const char* argument, const void* value) {
  const char* why = !value                  ? "null, and its datatype has no absolute addresses"
                    : value == MPI_IN_PLACE ? "MPI_IN_PLACE, which is not allowed here"
                                            : "MPI_BUFFER_AUTOMATIC, which is not allowed here";
  return raise(f, owner, fail(MPI_ERR_BUFFER, "argument %s is %s", argument, why));
}

int bad_overlap(Function f, Object* owner, const char* argument, const char* other) {
  return raise(f, owner, fail(MPI_ERR_BUFFER, "arguments %s and %s overlap", argument, other));
}

}  // namespace heddle::binding
