#include "mpi/tool/enumeration.hpp"

#include <array>

#include "mpi/tool/interface.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::tool {

namespace {

constexpr std::array initial_errhandler_names{"mpi_errors_are_fatal", "mpi_errors_abort", "mpi_errors_return"};

}  // namespace

constinit const Enumeration initial_errhandlers{"initial_errhandler", initial_errhandler_names};

MPI_T_enum handle_of(const Enumeration& enumeration) {
  return reinterpret_cast<MPI_T_enum>(const_cast<Enumeration*>(&enumeration));
}

const Enumeration* find_enumeration(MPI_T_enum handle) {
  for (const Enumeration* known : {&initial_errhandlers})
    if (handle_of(*known) == handle) return known;
  return nullptr;
}

}  // namespace heddle::tool

namespace heddle::mpi {

using tool::Enumeration;
using tool::give;
using tool::Interface;

Error T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  return tool::call([&](Interface&) {
    const Enumeration* enumeration = tool::find_enumeration(enumtype);
    if (enumeration == nullptr) return Error(MPI_T_ERR_INVALID_HANDLE);
    give(num, static_cast<int>(enumeration->items.size()));
    give(name, name_len, enumeration->name);
    return success;
  });
}

Error T_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  return tool::call([&](Interface&) {
    const Enumeration* enumeration = tool::find_enumeration(enumtype);
    if (enumeration == nullptr) return Error(MPI_T_ERR_INVALID_HANDLE);
    if (index < 0 || index >= static_cast<int>(enumeration->items.size())) return Error(MPI_T_ERR_INVALID_INDEX);
    give(value, index);
    give(name, name_len, enumeration->items[static_cast<std::size_t>(index)]);
    return success;
  });
}

}  // namespace heddle::mpi
