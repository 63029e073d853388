#include "objects/datatype/make.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "objects/datatype/compile.hpp"
#include "objects/datatype/signature.hpp"

namespace heddle::datatype {
namespace {

// Bounds are added up in twice the width, so that an overflow is detected rather than wrapped.
using Wide = __int128;

constexpr MPI_Count most = std::numeric_limits<MPI_Count>::max();

constexpr bool fits(Wide value) { return value >= std::numeric_limits<MPI_Count>::min() && value <= most; }

struct Range {
  Wide low = 0, high = 0;
  bool empty = true;

  void include(Wide a, Wide b) {
    low = empty ? a : std::min(low, a);
    high = empty ? b : std::max(high, b);
    empty = false;
  }
};

struct Measure {
  Range data;
  Range implicit;  // bounds of children without set bounds
  Range marked;    // bounds that MPI_Type_create_resized has set; if there are any, these alone count
  Wide size = 0;
  Wide elements = 0;
  Signature signature;
  Element element = Element::none;
  std::uint8_t alignment = 1;

  void add(const Part& part) {
    const Datatype& child = *part.child;
    if (part.count > 0 && part.block > most / part.count) {
      size = Wide{most} + 1;  // too large, whatever it is that is repeated
      return;
    }
    const Wide repeats = Wide{part.count} * part.block;
    if (repeats == 0 || (child.size == 0 && !child.bounded)) return;
    const Wide outer = Wide{part.count - 1} * part.stride;
    const Wide inner = Wide{part.block - 1} * child.extent;
    const Wide first = part.disp + std::min<Wide>(outer, 0) + std::min<Wide>(inner, 0);
    const Wide last = part.disp + std::max<Wide>(outer, 0) + std::max<Wide>(inner, 0);
    (child.bounded ? marked : implicit).include(first + child.lb, last + child.lb + child.extent);
    if (child.size == 0) return;
    data.include(first + child.true_lb, last + child.true_lb + child.true_extent);
    size += repeats * child.size;
    elements += repeats * child.elements;
    signature = signature + signature_of(child) * static_cast<std::uint64_t>(repeats);
    element = element == Element::none || element == child.element ? child.element : Element::mixed;
    alignment = std::max(alignment, child.alignment);
  }
};

// The extent of a type map without markers is rounded up to the strictest alignment (section 5.1.6). A child's padding
// stays part of it, as in the other libraries; programs count on a type to hold its children's extents.
Wide aligned_end(const Range& range, std::uint8_t alignment) {
  const Wide rest = (range.high - range.low) % alignment;
  return rest == 0 ? range.high : range.high + alignment - rest;
}

Error describe(Datatype& type, const Contents& contents) {
  Measure m;
  for_each_part(contents, [&](const Part& part) { m.add(part); });

  Range bounds = m.implicit;
  if (contents.combiner == MPI_COMBINER_RESIZED) {
    const Wide lb = contents.values[0];
    bounds = {lb, lb + contents.values[1], false};
    type.bounded = true;
  } else if (!m.marked.empty) {
    bounds = m.marked;
    type.bounded = true;
  } else {
    bounds.high = aligned_end(bounds, m.alignment);
  }

  const Wide extent = bounds.high - bounds.low;
  const Wide true_extent = m.data.high - m.data.low;
  if (!fits(bounds.low) || !fits(bounds.high) || !fits(extent) || !fits(true_extent) || !fits(m.data.low) ||
      !fits(m.data.high)) {
    return fail(MPI_ERR_ARG, "the extent of the new datatype exceeds what an MPI_Aint can hold");
  }
  if (!fits(m.size)) return fail(MPI_ERR_ARG, "the size of the new datatype exceeds what an MPI_Count can hold");

  type.size = static_cast<MPI_Count>(m.size);
  type.lb = static_cast<MPI_Aint>(bounds.low);
  type.extent = static_cast<MPI_Aint>(extent);
  type.true_lb = static_cast<MPI_Aint>(m.data.low);
  type.true_extent = static_cast<MPI_Aint>(true_extent);
  type.elements = static_cast<MPI_Count>(m.elements);
  type.element = m.element;
  type.alignment = m.alignment;
  type.signature = m.signature.value;
  type.signature_power = m.signature.power;
  return success;
}

// Functions on a datatype recurse, a level of the datatype for one of the stack, and threads may have small stacks.
constexpr int most_levels = 200;

Error count_levels(Contents& contents) {
  const auto add = [&](const Datatype& old) {
    if (old.contents != nullptr) contents.depth = std::max(contents.depth, old.contents->depth + 1);
  };
  for (const Datatype* old : contents.types) add(*old);
  if (contents.layout != nullptr) add(*contents.layout);
  if (contents.depth <= most_levels) return success;
  return fail(MPI_ERR_UNSUPPORTED_OPERATION,
              "cannot make a datatype of datatypes that are nested in each other %d levels deep: at most %d levels are "
              "supported. Make it of datatypes that are nested less",
              contents.depth, most_levels);
}

}  // namespace

Error make(Contents&& contents, Datatype*& made) {
  if (Error e = count_levels(contents)) return e;
  Datatype* type = make_object<Datatype>();
  if (Error e = describe(*type, contents)) {
    release(*type);
    return e;
  }
  for (const Datatype* old : contents.types) retain(*old);
  if (contents.layout != nullptr) retain(*contents.layout);
  type->contents = new Contents(std::move(contents));
  made = type;
  return success;
}

void release_derived(Datatype& type) {
  if (type.refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (type.contents != nullptr) {
    for (const Datatype* old : type.contents->types) release(*old);
    if (type.contents->layout != nullptr) release(*type.contents->layout);
    delete type.contents;
  }
  discard_program(type);
  arena::give_back(Datatype::object_kind, &type, type.generation);
}

}  // namespace heddle::datatype
