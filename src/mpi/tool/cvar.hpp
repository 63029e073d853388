// Control variables (MPI 5.0, section 15.3.6): the HEDDLE_... variables of the environment under the same names.
#pragma once

#include <span>
#include <string>

#include "objects/object/error.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::tool {

struct Enumeration;

struct Cvar {
  const char* name;
  const char* description;
  const Enumeration* items;  // null: a string; else one of these names, returned as an MPI_INT
  int capacity;              // elements: of a string with its null, or 1
  int verbosity;
  int scope;
  // True if it can still be changed; null: never. The new value then takes its effect, as far as it has one at once.
  Error (*may_change)(const Rank& rank);
  void (*changed)(const Rank& rank, const std::string& from, const std::string& to);
};

std::span<const Cvar> cvars();

struct CvarHandle {
  const Cvar* variable;
};

}  // namespace heddle::tool
