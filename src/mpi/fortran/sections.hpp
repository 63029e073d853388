// The choice buffers of mpi_f08: any variable, as the descriptor of TS 29113 that the compiler passes. A contiguous one
// is its address. A section with gaps is handled by the kind of call: one that is over when it returns works on a copy;
// one that goes on gets a datatype that describes the section; where that is impossible, the call fails.
#pragma once

#include <ISO_Fortran_binding.h>
#include <mpi.h>

#include <memory>

#include "mpi/fortran/integer.hpp"

namespace heddle::fortran {

bool is_contiguous(const CFI_cdesc_t& section);

// A contiguous copy of a section that has gaps, for the time of a call. `written`: the call writes to it.
class Copied {
 public:
  Copied(const CFI_cdesc_t* section, bool written);
  Copied(const Copied&) = delete;
  ~Copied();
  void* base() const { return base_; }

 private:
  const CFI_cdesc_t* section_;
  bool written_;
  std::unique_ptr<char[]> copy_;
  void* base_;
};

// A section as one element of a datatype made for it, in place of `count` of `datatype`, which is possible if these fill a whole
// number of the section's elements.
class Mapping {
 public:
  Mapping(const CFI_cdesc_t* section, MPI_Count count, const Fint* datatype);
  Mapping(const Mapping&) = delete;
  ~Mapping();
  bool possible() const { return possible_; }
  void* base() const { return base_; }
  const Fint* datatype() const { return datatype_; }

 protected:
  bool is_mapped() const { return made_ != MPI_DATATYPE_NULL; }

 private:
  void* base_;
  const Fint* datatype_;
  bool possible_ = true;
  MPI_Datatype made_ = MPI_DATATYPE_NULL;
  Fint made_number_ = 0;
};

// Count: Fint, or MPI_Count of a large-count procedure.
template <class Count>
class Mapped : public Mapping {
 public:
  Mapped(const CFI_cdesc_t* section, const Count* count, const Fint* datatype)
      : Mapping(section, *count, datatype), count_(count) {}
  const Count* count() const { return is_mapped() ? &one_ : count_; }

 private:
  static constexpr Count one_ = 1;
  const Count* count_;
};

inline constexpr char gaps[] =
    "a call that goes on after it returns got an array section with gaps, and its elements and datatype do not fit "
    "each other, or this call cannot take one; pass a contiguous array, or the first element with a derived datatype";

}  // namespace heddle::fortran
