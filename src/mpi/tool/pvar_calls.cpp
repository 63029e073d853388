// MPI_T_pvar_* (MPI 5.0, section 15.3.7).
#include <algorithm>

#include "mpi/tool/interface.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

using tool::give;
using tool::Interface;
using tool::Pvar;
using tool::PvarHandle;
using tool::PvarSession;

namespace {

// Wide enough for every variable's value.
constexpr std::uint64_t zero = 0;
static_assert(sizeof zero == sizeof(double));

const Pvar* variable_at(int index) {
  const auto& all = tool::pvars();
  return index >= 0 && index < static_cast<int>(all.size()) ? &all[static_cast<std::size_t>(index)] : nullptr;
}

Error answer(bool there) { return there ? success : Error(MPI_T_ERR_INVALID_HANDLE); }

// A call about the variables of a session.
template <class F>
Error in_session(MPI_T_pvar_session handle, F&& f) {
  return tool::call([&](Interface& interface) {
    PvarSession* session = interface.sessions.find(handle);
    return session != nullptr ? f(*session) : Error(MPI_T_ERR_INVALID_SESSION);
  });
}

// ... about one of them.
template <class F>
Error on_handle(MPI_T_pvar_session session, MPI_T_pvar_handle handle, F&& f) {
  return in_session(session, [&](PvarSession& s) {
    PvarHandle* object = s.handles.find(handle);
    return object != nullptr ? f(*object) : Error(MPI_T_ERR_INVALID_HANDLE);
  });
}

// ... about one, or about all to which it applies: then `refusal` is the result unless each of them does it. All
// variables that can be started can also be written and reset.
template <class F>
Error on_handle_or_all(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int refusal, F&& f) {
  if (handle != MPI_T_PVAR_ALL_HANDLES)
    return on_handle(session, handle, [&](PvarHandle& object) {
      return object.variable().continuous() ? Error(refusal) : answer(f(object));
    });
  return in_session(session, [&](PvarSession& s) {
    bool all = true;
    s.handles.for_each([&](PvarHandle& object) {
      if (!object.variable().continuous() && !f(object)) all = false;
    });
    return all ? success : Error(refusal);
  });
}

}  // namespace

Error T_pvar_get_num(int* num_pvar) {
  return tool::call([&](Interface&) {
    if (num_pvar == nullptr) return Error(MPI_T_ERR_INVALID);
    *num_pvar = static_cast<int>(tool::pvars().size());
    return success;
  });
}

Error T_pvar_get_info(int pvar_index, char* name, int* name_len, int* verbosity, int* var_class, MPI_Datatype* datatype,
                      MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* readonly, int* continuous,
                      int* atomic) {
  return tool::call([&](Interface&) {
    const Pvar* variable = variable_at(pvar_index);
    if (variable == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    give(name, name_len, variable->name);
    give(verbosity, int{MPI_T_VERBOSITY_TUNER_DETAIL});
    give(var_class, variable->var_class());
    give(datatype, variable->in_seconds() ? MPI_DOUBLE : MPI_UNSIGNED_LONG_LONG);
    give(enumtype, MPI_T_ENUM_NULL);
    give(desc, desc_len, variable->description);
    give(bind, variable->bound() ? int{MPI_T_BIND_MPI_COMM} : int{MPI_T_BIND_NO_OBJECT});
    give(readonly, int{variable->continuous()});
    give(continuous, int{variable->continuous()});
    give(atomic, int{!variable->continuous()});
    return success;
  });
}

Error T_pvar_get_index(const char* name, int var_class, int* pvar_index) {
  return tool::call([&](Interface&) {
    if (name == nullptr || pvar_index == nullptr) return Error(MPI_T_ERR_INVALID);
    const auto& all = tool::pvars();
    const auto found =
        std::ranges::find_if(all, [&](const Pvar& v) { return v.name == name && v.var_class() == var_class; });
    if (found == all.end()) return Error(MPI_T_ERR_INVALID_NAME);
    *pvar_index = static_cast<int>(found - all.begin());
    return success;
  });
}

Error T_pvar_session_create(MPI_T_pvar_session* pe_session) {
  return tool::call([&](Interface& interface) {
    if (pe_session == nullptr) return Error(MPI_T_ERR_INVALID);
    *pe_session = interface.sessions.add(std::make_unique<PvarSession>());
    return success;
  });
}

Error T_pvar_session_free(MPI_T_pvar_session* pe_session) {
  return tool::call([&](Interface& interface) {
    if (pe_session == nullptr) return Error(MPI_T_ERR_INVALID);
    if (!interface.sessions.remove(*pe_session)) return Error(MPI_T_ERR_INVALID_SESSION);
    *pe_session = MPI_T_PVAR_SESSION_NULL;
    return success;
  });
}

Error T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
                          int* count) {
  return in_session(pe_session, [&](PvarSession& session) {
    const Pvar* variable = variable_at(pvar_index);
    if (variable == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    if (handle == nullptr || count == nullptr) return Error(MPI_T_ERR_INVALID);
    MPI_Comm comm = MPI_COMM_NULL;
    if (variable->bound()) {
      if (obj_handle == nullptr) return Error(MPI_T_ERR_INVALID);
      comm = *static_cast<const MPI_Comm*>(obj_handle);
      if (object(comm) == nullptr) return Error(MPI_T_ERR_INVALID_HANDLE);
    }
    *handle = session.handles.add(std::make_unique<PvarHandle>(*variable, comm));
    *count = 1;
    return success;
  });
}

Error T_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle) {
  return in_session(pe_session, [&](PvarSession& session) {
    if (handle == nullptr) return Error(MPI_T_ERR_INVALID);
    if (!session.handles.remove(*handle)) return Error(MPI_T_ERR_INVALID_HANDLE);
    *handle = MPI_T_PVAR_HANDLE_NULL;
    return success;
  });
}

Error T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return on_handle_or_all(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP,
                          [](PvarHandle& object) { return object.start(current_rank()); });
}

Error T_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return on_handle_or_all(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP,
                          [](PvarHandle& object) { return object.stop(current_rank()); });
}

Error T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  return on_handle(pe_session, handle, [&](PvarHandle& object) {
    return buf != nullptr ? answer(object.read(current_rank(), buf)) : Error(MPI_T_ERR_INVALID);
  });
}

Error T_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf) {
  return on_handle(pe_session, handle, [&](PvarHandle& object) {
    if (object.variable().continuous()) return Error(MPI_T_ERR_PVAR_NO_WRITE);
    return buf != nullptr ? answer(object.write(current_rank(), buf)) : Error(MPI_T_ERR_INVALID);
  });
}

Error T_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return on_handle_or_all(pe_session, handle, MPI_T_ERR_PVAR_NO_WRITE,
                          [](PvarHandle& object) { return object.write(current_rank(), &zero); });
}

Error T_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  return on_handle(pe_session, handle, [&](PvarHandle& object) {
    if (object.variable().continuous()) return Error(MPI_T_ERR_PVAR_NO_ATOMIC);
    return buf != nullptr ? answer(object.read_and_reset(current_rank(), buf)) : Error(MPI_T_ERR_INVALID);
  });
}

}  // namespace heddle::mpi
