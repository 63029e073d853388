// One read or write of the program's: from its arguments to its status.
#pragma once

#include <memory>
#include <string>

#include "mpi/io/independent.hpp"
#include "objects/datatype/reference.hpp"
#include "objects/object/error.hpp"
#include "objects/object/file.hpp"

namespace heddle::io {

// The program's buffer and its size in the file.
class Operation {
 public:
  Operation(File& file, bool write, const Buffer& buffer);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Checks the arguments, and computes the number of etypes.
  Error prepare();
  std::int64_t etypes() const { return etypes_; }
  // The position in the view, in etypes. A write converts its data now. A refused operation is empty from here on.
  Error place(std::int64_t offset);
  // The error of this process in a collective operation: it takes part without data.
  void refuse(Error error);

  File& file() const { return file_; }
  const View& view() const { return *view_; }
  Access access() const { return {*file_.open, *view_, hints_, write_, position_, memory_, bytes_}; }
  bool calls_program() const { return !write_ && view_->representation().calls_program(); }

  void set_moved(const Moved& moved) { moved_ = moved; }
  // Once, after what was moved is known: a read converts its data.
  void finish();
  // Any number of times: the error with its sentence, and the status.
  Error tell(MPI_Status* status) const;

 private:
  File& file_;
  const bool write_;
  const std::shared_ptr<const View> view_;
  const Hints hints_;
  const datatype::Reference type_;
  const Buffer buffer_;
  Buffer memory_;
  std::unique_ptr<std::byte[]> converted_;
  std::int64_t position_ = 0;
  std::int64_t element_size_ = 0;  // of an element of buffer_ in the file
  std::size_t bytes_ = 0;          // in the file
  std::int64_t etypes_ = 0;
  Moved moved_;
  int refusal_ = MPI_SUCCESS;
  std::string refusal_text_;
  std::size_t arrived_ = 0;  // of the buffer's packed stream
};

// By one process. Blocking; and begun, with a request that its end completes.
Error run_alone(Operation& operation, MPI_Status* status);
Error start_alone(std::unique_ptr<Operation> operation, MPI_Request* request);

// By all members. An error in this member's part is returned when all is done.
Error run_together(Operation& operation, MPI_Status* status);
Error start_together(std::unique_ptr<Operation> operation, MPI_Request* request);

}  // namespace heddle::io
