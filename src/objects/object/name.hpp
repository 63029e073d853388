// Names of objects (MPI 5.0, section 7.8).
#pragma once

#include <mpi.h>

#include <cstring>
#include <string>
#include <string_view>

#include "objects/object/error.hpp"

namespace heddle {

// The part of it that an object stores.
inline std::string stored_name(std::string_view name) { return std::string(name.substr(0, MPI_MAX_OBJECT_NAME - 1)); }

// `name` has room for MPI_MAX_OBJECT_NAME characters.
inline Error copy_name(std::string_view from, char* name, int* length) {
  std::memcpy(name, from.data(), from.size());
  name[from.size()] = '\0';
  *length = static_cast<int>(from.size());
  return success;
}

}  // namespace heddle
