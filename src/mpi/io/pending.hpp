// A nonblocking operation on a file: the state of its request, which progress polls until it is done.
#pragma once

#include <memory>

#include "base/progress/pollables.hpp"
#include "mpi/io/operation.hpp"
#include "objects/object/request.hpp"

namespace heddle::io {

class Pending : public progress::Pollable {
 public:
  explicit Pending(std::unique_ptr<Operation> operation);
  virtual ~Pending() = default;

  Operation& operation() const { return *operation_; }

  // Gives it a request of its own, which ends its life.
  static void attach(std::unique_ptr<Pending> pending, MPI_Request* handle);
  // Advances as far as possible at once, so that its I/O begins before the program computes. From here on only progress
  // polls it.
  void launch();
  bool poll() final;

 private:
  // One attempt; true when all has been moved, or has failed.
  virtual bool advance() = 0;

  std::unique_ptr<Operation> operation_;
  Request* request_ = nullptr;
};

}  // namespace heddle::io
