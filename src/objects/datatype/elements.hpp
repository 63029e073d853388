// Basic elements of a datatype, one by one: for counting them in part of a message, and for changing their
// representation. Slow compared with pack; not used on the critical path of a message.
#pragma once

#include "objects/datatype/contents.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::datatype {

// Calls visit(leaf, address, n) for the predefined datatypes that `count` elements at `at` consist of, in the order of
// the type map: n of them, one after the other at their extent. Stops when visit returns false, and then returns false.
template <class Visit>
bool for_each_leaf(const Datatype& type, std::uintptr_t at, MPI_Count count, Visit&& visit) {
  if (count == 0 || type.size == 0) return true;
  if (type.predefined) return visit(type, at, count);
  const auto step = [](std::uintptr_t from, MPI_Aint by) { return from + static_cast<std::uintptr_t>(by); };
  for (MPI_Count i = 0; i < count; ++i, at = step(at, type.extent)) {
    bool go_on = true;
    for_each_part(*type.contents, [&](const Part& part) {
      for (MPI_Count j = 0; go_on && j < part.count; ++j) {
        go_on = for_each_leaf(*part.child, step(at, part.disp + j * part.stride), part.block, visit);
      }
    });
    if (!go_on) return false;
  }
  return true;
}

// How many basic elements `bytes` of the packed stream are; MPI_UNDEFINED if the last one is not whole.
MPI_Count elements_in(const Datatype& type, MPI_Count bytes);

// How many bytes the first n basic elements are.
MPI_Count bytes_of_elements(const Datatype& type, MPI_Count n);

}  // namespace heddle::datatype
