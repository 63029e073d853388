// The common properties of the predefined datatypes, named and unnamed.
#pragma once

#include <algorithm>

#include "objects/datatype/datatype.hpp"
#include "objects/datatype/signature.hpp"

namespace heddle::datatype {

// The standard's name; "" for an unnamed one.
const char* predefined_name(const Datatype& type);

constexpr void describe_element(Datatype& type, Element element) {
  type.size = type.extent = type.true_extent = static_cast<MPI_Aint>(size_of(element));
  type.elements = 1;
  type.element = element;
  type.alignment = static_cast<std::uint8_t>(alignment_of(element));
  type.dense = type.run = type.predefined = type.committed = true;
  type.signature = signature_of(element).value;
  type.signature_power = signature_of(element).power;
}

// Where the index of struct { value; index; } lies.
constexpr std::size_t index_place(Element value, Element index) { return std::max(size_of(value), size_of(index)); }

// A pair type; its maker sets the program, unless it is dense.
constexpr void describe_pair(Datatype& type, Element value, Element index) {
  const std::size_t alignment = std::max(alignment_of(value), alignment_of(index));
  const std::size_t end = index_place(value, index) + size_of(index);
  const Signature signature = signature_of(value) + signature_of(index);
  type.size = static_cast<MPI_Count>(size_of(value) + size_of(index));
  type.true_extent = static_cast<MPI_Aint>(end);
  type.extent = static_cast<MPI_Aint>((end + alignment - 1) / alignment * alignment);
  type.elements = 2;
  type.element = value == index ? value : Element::mixed;
  type.value = value;
  type.index = index;
  type.alignment = static_cast<std::uint8_t>(alignment);
  type.run = type.size == type.true_extent;
  type.dense = type.size == type.extent;
  type.predefined = type.committed = true;
  type.signature = signature.value;
  type.signature_power = signature.power;
}

}  // namespace heddle::datatype
