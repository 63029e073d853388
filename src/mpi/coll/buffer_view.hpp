// The data of a step of a collective: so many elements of a datatype at an address. And the blocks of a collective's
// buffer, one for each rank, in the three ways in which the standard lets the caller describe them.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "objects/binding/counts.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::coll {

struct BufferView {
  void* data = nullptr;  // a piece that is only read may come from a const buffer
  MPI_Count count = 0;
  const Datatype* type = nullptr;

  // Its bytes in a message.
  std::size_t bytes() const { return packed_size(*type, count); }
  bool empty() const { return bytes() == 0; }
  // Elements [first, first + n) of it.
  BufferView part(MPI_Count first, MPI_Count n) const { return {at(data, first * type->extent), n, type}; }

  // MPI_BOTTOM is null, so addresses are computed as numbers.
  static void* at(void* base, MPI_Aint offset) {
    return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(offset));
  }
};

inline BufferView piece(const void* data, MPI_Count count, const Datatype& type) {
  return {const_cast<void*>(data), count, &type};
}
// Bytes as they are.
inline BufferView raw(const void* data, std::size_t bytes) {
  static const Datatype* const byte = predefined_datatype(MPI_BYTE);
  return {const_cast<void*>(data), static_cast<MPI_Count>(bytes), byte};
}

// Copies from one piece to another; the first bytes of it if the other is smaller.
inline void copy(const BufferView& from, const BufferView& to) {
  heddle::copy(*from.type, from.data, from.count, *to.type, to.data, to.count);
}

// Block i is: regular, the i-th run of `count` elements; vector, counts[i] elements at displacement displs[i], in
// extents; wide, counts[i] elements of types[i] at displs[i] bytes. Refers to the caller's arrays.
struct Blocks {
  enum class Shape : std::uint8_t { regular, vector, wide };
  Shape shape = Shape::regular;
  void* base = nullptr;
  const Datatype* type = nullptr;
  MPI_Count count = 0;
  Counts counts, displs;
  const MPI_Datatype* types = nullptr;

  static Blocks regular(const void* base, MPI_Count count, const Datatype* type) {
    return {Shape::regular, const_cast<void*>(base), type, count, {}, {}, nullptr};
  }
  static Blocks vector(const void* base, Counts counts, Counts displs, const Datatype* type) {
    return {Shape::vector, const_cast<void*>(base), type, 0, counts, displs, nullptr};
  }
  static Blocks wide(const void* base, Counts counts, Counts displs, const MPI_Datatype* types) {
    return {Shape::wide, const_cast<void*>(base), nullptr, 0, counts, displs, types};
  }

  bool is_regular() const { return shape == Shape::regular; }
  // True if the first n have no elements. The arrays are there.
  bool are_empty(std::size_t n) const {
    if (is_regular()) return n == 0 || count == 0;
    for (std::size_t i = 0; i < n; ++i)
      if (counts[i] != 0) return false;
    return true;
  }
  BufferView operator[](int i) const {
    const auto n = static_cast<std::size_t>(i);
    if (is_regular()) return run(i, 1);
    if (shape == Shape::wide) return {BufferView::at(base, displs[n]), counts[n], object(types[n])};
    return {BufferView::at(base, displs[n] * type->extent), counts[n], type};
  }
  // Blocks [first, first + n) in one piece; regular ones only.
  BufferView run(int first, int n) const {
    return {BufferView::at(base, first * count * type->extent), n * count, type};
  }
};

}  // namespace heddle::coll
