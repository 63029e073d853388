// The effects of a command on the memory of its target beyond copying.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "mpi/rma/reach/wire.hpp"
#include "objects/datatype/datatype.hpp"

namespace heddle::rma::reach {

// Predefined datatypes of elements by number, the same in every process.
std::uint32_t number_of(const Datatype& element);
const Datatype& element_of(std::uint32_t number);

// Room for the elements of a command as arrays, which are less than twice as large as their packed stream.
struct Scratch {
  static constexpr std::size_t bytes = 2 * max_bytes;
  alignas(64) std::byte operand[bytes];
  alignas(64) std::byte target[bytes];
  std::byte packed[max_bytes];
};

// target = operand op target
void accumulate(const Command& command, std::byte* base, std::span<const Strided> regions, const std::byte* operand,
                Scratch& scratch);
// The target becomes the operand if `old`, its value, equals the value behind the operand.
void compare_and_swap(const Command& command, std::byte* base, std::span<const Strided> regions,
                      const std::byte* operand, const std::byte* old);

}  // namespace heddle::rma::reach
