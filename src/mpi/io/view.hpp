// What a process sees of a file (MPI 5.0, section 14.3): the bytes that the filetype, repeated from the displacement
// on, says. One after the other they are the view's stream; positions in it are bytes as the file has them, so in units
// of the representation's sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/io/representation.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/datatype/reference.hpp"
#include "objects/object/error.hpp"

namespace heddle::io {

// Contiguous bytes of a file.
struct Run {
  std::int64_t offset = 0;
  std::size_t length = 0;
};

class View {
 public:
  // MPI_ERR_ARG and the like if these make no view. A view does not change any more. `writable`: of a file that may be written.
  static Error make(std::int64_t displacement, const Datatype& etype, const Datatype& filetype,
                    std::shared_ptr<const Representation> representation, bool writable,
                    std::shared_ptr<const View>& made);
  // What a file begins with: its bytes.
  static std::shared_ptr<const View> of_bytes();

  std::int64_t displacement() const { return displacement_; }
  const Datatype& etype() const { return *etype_; }
  const Datatype& filetype() const { return *filetype_; }
  const Representation& representation() const { return *representation_; }

  std::int64_t etype_size() const { return etype_size_; }  // in the file
  bool is_empty() const { return layout_->size == 0; }
  bool is_contiguous() const { return layout_->dense; }
  // Whether runs do not overlap, and each begins behind the one before.
  bool is_ordered() const { return ordered_; }

  // The first runs of `bytes` of the stream from `position` on, adjacent ones merged: how many, and how much they hold.
  std::size_t runs(std::int64_t position, std::size_t bytes, Run* out, std::size_t max, std::size_t& held) const;

  // Whether the file can be so long that the stream has `position` bytes.
  bool reaches(std::int64_t position) const;
  // Where a byte of the stream lies in the file; and how many etypes begin before a place of the file.
  std::int64_t offset_of(std::int64_t position) const;
  std::int64_t etypes_before(std::int64_t offset) const;

 private:
  View() = default;

  std::int64_t displacement_ = 0;
  datatype::Reference etype_;
  datatype::Reference filetype_;
  datatype::Reference layout_;  // of the filetype in the file
  std::shared_ptr<const Representation> representation_;
  std::int64_t etype_size_ = 1;
  bool ordered_ = true;
};

}  // namespace heddle::io
