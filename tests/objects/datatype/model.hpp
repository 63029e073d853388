// The standard's definition of a datatype (MPI 5.0, section 5.1.1): a list of basic types with displacements, written out
// in full, with the markers of MPI_Type_create_resized as entries of their own. Slow, and independent of the library.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "objects/datatype/contents.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/datatype/reference.hpp"

namespace heddle::test {

struct TypeMap {
  struct Item {
    Element element;
    MPI_Aint disp;
  };
  std::vector<Item> items;
  std::vector<MPI_Aint> lower_marks, upper_marks;
  std::vector<MPI_Aint> inner_ends;  // upper bounds of the parts without marks, with the padding that they have

  MPI_Count size() const;
  MPI_Aint lb() const;
  MPI_Aint ub() const;
  MPI_Aint extent() const { return ub() - lb(); }
  MPI_Aint true_lb() const;
  MPI_Aint true_ub() const;

  // Appends a copy of `other`, moved.
  void append(const TypeMap& other, MPI_Aint disp);
};

// A datatype with its model.
struct Modelled {
  datatype::Reference type;
  TypeMap map;
  std::string text;  // how it was made
};

// The map that these contents mean; `children` are the maps of their types.
TypeMap map_of(const datatype::Contents& contents, const std::vector<const TypeMap*>& children);

Modelled predefined(MPI_Datatype constant);
// Makes and models one; `children` in the order of the contents' types, which are filled in.
Modelled construct(datatype::Contents contents, const std::vector<const Modelled*>& children);

using Random = std::mt19937_64;
inline MPI_Count pick(Random& random, MPI_Count low, MPI_Count high) {
  return std::uniform_int_distribution<MPI_Count>(low, high)(random);
}
// A committed type of at most `depth` constructors, nonnegative or negative displacements, perhaps empty.
Modelled random_type(Random& random, int depth);

// Seed of a property test: HEDDLE_TEST_SEED or a new one; printed so that a failure can be repeated.
std::uint64_t test_seed();

// A buffer in which `count` elements of the model fit wherever their displacements lead.
class Buffer {
 public:
  Buffer(const TypeMap& map, MPI_Count count, unsigned char fill);
  void* address() { return bytes_.data() + origin_; }
  std::vector<unsigned char>& bytes() { return bytes_; }
  unsigned char& at(MPI_Aint disp) { return bytes_[static_cast<std::size_t>(origin_ + disp)]; }

 private:
  std::vector<unsigned char> bytes_;
  MPI_Aint origin_;
};

// The displacement of every byte of the packed stream, in its order.
std::vector<MPI_Aint> byte_places(const TypeMap& map, MPI_Count count);

}  // namespace heddle::test
