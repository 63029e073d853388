// A completion queue that a thread can block on.
#pragma once

#include "network/ofi/handles.hpp"

namespace heddle::lln::ofi {

class Completions {
 public:
  // Throws std::runtime_error.
  Completions(fid_fabric* fabric, fid_domain* domain);

  fid_cq* get() const { return queue_.get(); }
  // Readable when the queue may have entries, if may_sleep() returned true since the last poll of the queue; -1: this
  // provider has no descriptor.
  int fd() const { return fd_; }
  // False: poll first.
  bool may_sleep();

 private:
  fid_fabric* fabric_;
  Handle<fid_wait> wait_;  // null: the queue has a descriptor of its own, or none
  Handle<fid_cq> queue_;
  int fd_ = -1;
};

}  // namespace heddle::lln::ofi
