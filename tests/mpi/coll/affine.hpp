// A user's operation that does not commute, over pairs of numbers: maps x -> a x + b modulo a prime, composed.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "mpi/check.hpp"

namespace test {

struct Affine {
  std::uint32_t a, b;
};

inline Affine compose(Affine outer, Affine inner) {
  constexpr std::uint32_t prime = 65521;
  return {outer.a * inner.a % prime, (outer.a * inner.b + outer.b) % prime};
}

// Element i of that rank's operand.
inline Affine affine(int rank, int i) {
  return {static_cast<std::uint32_t>(2 + rank * 7 + i % 89), static_cast<std::uint32_t>(rank * 31 + i % 83)};
}

// `got` is element i of the operands of `ranks` ranks, composed in their order.
inline void expect_composed(Affine got, int ranks, int i, const char* what) {
  Affine right = affine(0, i);
  for (int r = 1; r < ranks; ++r) right = compose(right, affine(r, i));
  equal(got.a, right.a, what);
  equal(got.b, right.b, what);
}

// The operation and the type that it is for; both are freed with this.
class Composing {
 public:
  Composing() {
    MPI_Type_contiguous(2, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(compose_all, 0, &op);
  }
  ~Composing() {
    MPI_Op_free(&op);
    MPI_Type_free(&type);
  }
  Composing(const Composing&) = delete;
  Composing& operator=(const Composing&) = delete;

  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;

 private:
  static void compose_all(void* in, void* inout, int* n, MPI_Datatype*) {
    for (int i = 0; i < *n; ++i) {
      Affine& right = static_cast<Affine*>(inout)[i];
      right = compose(static_cast<Affine*>(in)[i], right);
    }
  }
};

}  // namespace test
