#include "mpi/rma/reach/apply.hpp"

#include <cstring>
#include <functional>
#include <iterator>

#include "mpi/rma/reach/regions.hpp"
#include "objects/op/op.hpp"

namespace heddle::rma::reach {

std::uint32_t number_of(const Datatype& element) {
  const auto& all = datatype::predefined.types;
  const std::less<const Datatype*> before;
  if (!before(&element, std::begin(all)) && before(&element, std::end(all)))
    return static_cast<std::uint32_t>(&element - all);
  // A Fortran datatype that is made on demand: it has an element in common with others.
  for (const Datatype& other : all)
    if (other.element == element.element && !other.is_pair() && other.size == element.size)
      return static_cast<std::uint32_t>(&other - all);
  return 0;
}

const Datatype& element_of(std::uint32_t number) { return datatype::predefined.types[number]; }

void accumulate(const Command& command, std::byte* base, std::span<const Strided> regions, const std::byte* operand,
                Scratch& scratch) {
  const Op& op = *predefined_op(reinterpret_cast<MPI_Op>(static_cast<std::uintptr_t>(command.op)));
  const Datatype& element = element_of(command.element);
  const auto n = static_cast<MPI_Count>(command.bytes) / element.size;
  const bool in_place = element.dense && regions.size() == 1 && regions[0].count == 1;
  if (in_place) return reduce_local(op, operand, region_at(base, regions[0].first), n, element);
  // The packed streams have no gaps, as arrays of pairs have.
  if (element.dense) {
    gather(base, regions, scratch.target);
    reduce_local(op, operand, scratch.target, n, element);
    return scatter(base, regions, scratch.target);
  }
  const std::size_t bytes = command.bytes;
  gather(base, regions, scratch.packed);
  unpack(element, scratch.target, n, 0, scratch.packed, bytes);
  unpack(element, scratch.operand, n, 0, operand, bytes);
  reduce_local(op, scratch.operand, scratch.target, n, element);
  pack(element, scratch.target, n, 0, scratch.packed, bytes);
  scatter(base, regions, scratch.packed);
}

void compare_and_swap(const Command& command, std::byte* base, std::span<const Strided> regions,
                      const std::byte* operand, const std::byte* old) {
  if (std::memcmp(old, operand + command.bytes, command.bytes) == 0) scatter(base, regions, operand);
}

}  // namespace heddle::rma::reach
