// Counts and displacements as the user passed them: int in the small variant of a function, 64 bits in the large one
// (MPI_Count and MPI_Aint are the same type in this ABI). The implementation is written once, against these views.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <limits>

namespace heddle {

// An array of counts or displacements to read; may be null.
struct Counts {
  const void* data = nullptr;
  bool large = false;

  Counts() = default;
  Counts(const int* array) : data(array) {}
  Counts(const MPI_Count* array) : data(array), large(true) {}

  MPI_Count operator[](std::size_t i) const {
    return large ? static_cast<const MPI_Count*>(data)[i] : static_cast<const int*>(data)[i];
  }
  explicit operator bool() const { return data != nullptr; }
};

// One count to write, or to read and write; may be null. A value that an int can't hold becomes MPI_UNDEFINED, as
// the standard wants it of the functions that return one.
struct CountOut {
  void* data = nullptr;
  bool large = false;

  CountOut() = default;
  CountOut(int* place) : data(place) {}
  CountOut(MPI_Count* place) : data(place), large(true) {}

  void set(MPI_Count value) const { store(0, value); }
  MPI_Count get() const { return large ? *static_cast<const MPI_Count*>(data) : *static_cast<const int*>(data); }
  bool fits(MPI_Count value) const { return large || value == static_cast<int>(value); }
  explicit operator bool() const { return data != nullptr; }

 protected:
  void store(std::size_t i, MPI_Count value) const {
    if (large) {
      static_cast<MPI_Count*>(data)[i] = value;
    } else {
      static_cast<int*>(data)[i] = value == static_cast<int>(value) ? static_cast<int>(value) : MPI_UNDEFINED;
    }
  }
};

// An array of counts to write; may be null.
struct CountsOut : CountOut {
  using CountOut::CountOut;

  void set(std::size_t i, MPI_Count value) const { store(i, value); }
};

}  // namespace heddle
