// A process's view of a file (MPI 5.0, section 14.3): the bytes selected by the filetype, repeated from the
// displacement on. One after the other they are the view's stream; positions in it are bytes in the file's
// representation, so in units of its sizes.
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
  // MPI_ERR_ARG and the like if these make no view. A view does not change any more. `writable`: of a file that may be
  // written.
  static Error make(std::int64_t displacement, const Datatype& etype, const Datatype& filetype,
                    std::shared_ptr<const Representation> representation, bool writable,
                    std::shared_ptr<const View>& made);
  // The initial view of a file: its bytes.
  static std::shared_ptr<const View> of_bytes();

  std::int64_t displacement() const { return displacement_; }
  const Datatype& etype() const { return *etype_; }
  const Datatype& filetype() const { return *filetype_; }
  const Representation& representation() const { return *representation_; }

  std::int64_t etype_size() const { return etype_size_; }  // in the file
  bool is_empty() const { return layout_->size == 0; }
  bool is_contiguous() const { return layout_->dense; }
  // True if runs do not overlap, and each begins behind the one before.
  bool is_ordered() const { return ordered_; }

  // The first runs of `bytes` of the stream from `position` on, adjacent ones merged: their number, and their bytes.
  std::size_t runs(std::int64_t position, std::size_t bytes, Run* out, std::size_t max, std::size_t& held) const;

  // True if the file can be so long that the stream has `position` bytes.
  bool reaches(std::int64_t position) const;
  // The offset in the file of a byte of the stream; and the number of etypes that begin before an offset of the file.
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
