#include "objects/datatype/elements.hpp"

#include <algorithm>

namespace heddle::datatype {
namespace {

// Passes through the leaves of one element of a type, of which both bytes and basic elements run out.
struct Passage {
  MPI_Count bytes;
  MPI_Count elements;

  // Takes as many whole leaves as there are, then as much of one as there is; false when something ran out.
  bool operator()(const Datatype& leaf, std::uintptr_t, MPI_Count n) {
    const MPI_Count whole = std::min({n, bytes / leaf.size, elements / leaf.elements});
    bytes -= whole * leaf.size;
    elements -= whole * leaf.elements;
    if (whole == n) return true;
    if (leaf.is_pair()) {
      const auto value = static_cast<MPI_Count>(size_of(leaf.value));
      if (bytes >= value && elements > 0) {
        bytes -= value;
        --elements;
      }
    }
    return false;
  }
};

}  // namespace

MPI_Count elements_in(const Datatype& type, MPI_Count bytes) {
  if (type.size == 0) return bytes == 0 ? 0 : int{MPI_UNDEFINED};
  const MPI_Count whole = bytes / type.size * type.elements;
  Passage rest{bytes % type.size, type.elements};
  if (rest.bytes == 0) return whole;
  for_each_leaf(type, 0, 1, rest);
  return rest.bytes == 0 ? whole + type.elements - rest.elements : MPI_Count{MPI_UNDEFINED};
}

MPI_Count bytes_of_elements(const Datatype& type, MPI_Count n) {
  if (type.elements == 0) return 0;
  const MPI_Count whole = n / type.elements * type.size;
  Passage rest{type.size, n % type.elements};
  if (rest.elements == 0) return whole;
  for_each_leaf(type, 0, 1, rest);
  return whole + type.size - rest.bytes;
}

}  // namespace heddle::datatype
