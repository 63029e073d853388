// MPI_T_cvar_* (MPI 5.0, section 15.3.6).
#include <algorithm>
#include <cstring>

#include "launch/rank/settings.hpp"
#include "mpi/tool/enumeration.hpp"
#include "mpi/tool/interface.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

using tool::Cvar;
using tool::CvarHandle;
using tool::Enumeration;
using tool::give;
using tool::Interface;

namespace {

const Cvar* variable_at(int index) {
  const auto all = tool::cvars();
  return index >= 0 && index < static_cast<int>(all.size()) ? &all[static_cast<std::size_t>(index)] : nullptr;
}

// The item that the setting names; the first, the default, for other values.
int item(const Enumeration& items, const std::string& value) {
  const auto found = std::ranges::find(items.items, value);
  return found == items.items.end() ? 0 : static_cast<int>(found - items.items.begin());
}

void read(const Cvar& variable, void* buf) {
  const std::string value = setting(variable.name);
  if (variable.items != nullptr) {
    *static_cast<int*>(buf) = item(*variable.items, value);
    return;
  }
  int room = variable.capacity;
  give(static_cast<char*>(buf), &room, value);
}

// The value in the caller's buffer; false if it is no value of the variable.
bool parse(const Cvar& variable, const void* buf, std::string& value) {
  if (variable.items != nullptr) {
    const int index = *static_cast<const int*>(buf);
    if (index < 0 || index >= static_cast<int>(variable.items->items.size())) return false;
    value = variable.items->items[static_cast<std::size_t>(index)];
    return true;
  }
  const char* text = static_cast<const char*>(buf);
  const std::size_t length = strnlen(text, static_cast<std::size_t>(variable.capacity));
  if (length == static_cast<std::size_t>(variable.capacity)) return false;  // it has no end
  value.assign(text, length);
  return true;
}

}  // namespace

Error T_cvar_get_num(int* num_cvar) {
  return tool::call([&](Interface&) {
    if (num_cvar == nullptr) return Error(MPI_T_ERR_INVALID);
    *num_cvar = static_cast<int>(tool::cvars().size());
    return success;
  });
}

Error T_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                      MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  return tool::call([&](Interface&) {
    const Cvar* variable = variable_at(cvar_index);
    if (variable == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    give(name, name_len, variable->name);
    give(verbosity, variable->verbosity);
    give(datatype, variable->items != nullptr ? MPI_INT : MPI_CHAR);
    give(enumtype, variable->items != nullptr ? tool::handle_of(*variable->items) : MPI_T_ENUM_NULL);
    give(desc, desc_len, variable->description);
    give(bind, int{MPI_T_BIND_NO_OBJECT});
    give(scope, variable->scope);
    return success;
  });
}

Error T_cvar_get_index(const char* name, int* cvar_index) {
  return tool::call([&](Interface&) {
    if (name == nullptr || cvar_index == nullptr) return Error(MPI_T_ERR_INVALID);
    const auto all = tool::cvars();
    const auto found = std::ranges::find_if(all, [&](const Cvar& v) { return std::strcmp(v.name, name) == 0; });
    if (found == all.end()) return Error(MPI_T_ERR_INVALID_NAME);
    *cvar_index = static_cast<int>(found - all.begin());
    return success;
  });
}

// No variable is bound to an object, so obj_handle is ignored.
Error T_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  return tool::call([&](Interface& interface) {
    const Cvar* variable = variable_at(cvar_index);
    if (variable == nullptr) return Error(MPI_T_ERR_INVALID_INDEX);
    if (handle == nullptr || count == nullptr) return Error(MPI_T_ERR_INVALID);
    *handle = interface.cvars.add(std::make_unique<CvarHandle>(CvarHandle{variable}));
    *count = variable->capacity;
    return success;
  });
}

Error T_cvar_handle_free(MPI_T_cvar_handle* handle) {
  return tool::call([&](Interface& interface) {
    if (handle == nullptr) return Error(MPI_T_ERR_INVALID);
    if (!interface.cvars.remove(*handle)) return Error(MPI_T_ERR_INVALID_HANDLE);
    *handle = MPI_T_CVAR_HANDLE_NULL;
    return success;
  });
}

Error T_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  return tool::call([&](Interface& interface) {
    const CvarHandle* object = interface.cvars.find(handle);
    if (object == nullptr) return Error(MPI_T_ERR_INVALID_HANDLE);
    if (buf == nullptr) return Error(MPI_T_ERR_INVALID);
    read(*object->variable, buf);
    return success;
  });
}

Error T_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  return tool::call([&](Interface& interface) {
    const CvarHandle* object = interface.cvars.find(handle);
    if (object == nullptr) return Error(MPI_T_ERR_INVALID_HANDLE);
    const Cvar& variable = *object->variable;
    const Rank& rank = current_rank();
    if (variable.may_change == nullptr) return Error(MPI_T_ERR_CVAR_SET_NEVER);
    if (Error e = variable.may_change(rank)) return e;
    std::string value;
    if (buf == nullptr || !parse(variable, buf, value)) return Error(MPI_T_ERR_INVALID);
    const std::string before = setting(variable.name);
    change_setting(variable.name, value);
    if (variable.changed != nullptr) variable.changed(rank, before, value);
    return success;
  });
}

}  // namespace heddle::mpi
