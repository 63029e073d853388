// A completion queue that a thread can sleep on.
#pragma once

#include "network/ofi/handles.hpp"

namespace heddle::lln::ofi {

class Completions {
 public:
  // Throws std::runtime_error.
  Completions(fid_fabric* fabric, fid_domain* domain);

  fid_cq* get() const { return queue_.get(); }
  // What can be read when there may be something in the queue, if may_sleep() said so since it was last looked at; -1:
  // this provider has no such thing.
  int fd() const { return fd_; }
  // False: look first.
  bool may_sleep();

 private:
  fid_fabric* fabric_;
  Handle<fid_wait> wait_;  // null: the queue has a descriptor of its own, or none
  Handle<fid_cq> queue_;
  int fd_ = -1;
};

}  // namespace heddle::lln::ofi
