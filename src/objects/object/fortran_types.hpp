// Fortran's types, as reported by its bindings (MPI 5.0, section 20.4): the ABI leaves them to the Fortran compiler.
#pragma once

#include <cstddef>
#include <optional>

#include "base/threads/mutex.hpp"
#include "objects/object/error.hpp"
#include "objects/object/info.hpp"

namespace heddle {

class FortranTypes {
 public:
  // Accepts only the sizes of our datatypes for Fortran, and only once.
  Error tell(const InfoEntries& sizes);
  std::optional<InfoEntries> sizes() const;

  // .TRUE. and .FALSE. of LOGICALs of `size` bytes.
  Error tell_booleans(int size, const void* yes, const void* no);
  // False: unknown for this size.
  bool booleans(int size, void* yes, void* no) const;

 private:
  static constexpr std::size_t widest = 16;
  struct Booleans {
    int size = 0;  // 0: not told
    unsigned char yes[widest], no[widest];
  };

  mutable threads::Mutex mutex_;
  std::optional<InfoEntries> sizes_;
  Booleans booleans_[5];  // 1, 2, 4, 8 and 16 bytes
};

}  // namespace heddle
