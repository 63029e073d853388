#include "network/ofi/completions.hpp"

namespace heddle::lln::ofi {

namespace {

Handle<fid_wait> open_wait_set(fid_fabric* fabric) {
  fi_wait_attr wanted{};
  wanted.wait_obj = FI_WAIT_FD;
  fid_wait* made = nullptr;
  return Handle<fid_wait>(fi_wait_open(fabric, &wanted, &made) == 0 ? made : nullptr);
}

// Null: this wait object is not supported.
Handle<fid_cq> open_queue(fid_domain* domain, fi_wait_obj object, fid_wait* set) {
  fi_cq_attr wanted{};
  wanted.format = FI_CQ_FORMAT_DATA;
  wanted.wait_obj = object;
  wanted.wait_set = set;
  fid_cq* made = nullptr;
  return Handle<fid_cq>(fi_cq_open(domain, &wanted, &made, nullptr) == 0 ? made : nullptr);
}

}  // namespace

// Uses a wait set where there is one: under `net` of libfabric 1.17 a queue's own descriptor stays readable for ever
// once it was readable.
Completions::Completions(fid_fabric* fabric, fid_domain* domain) : fabric_(fabric), wait_(open_wait_set(fabric)) {
  if (wait_) queue_ = open_queue(domain, FI_WAIT_SET, wait_.get());
  if (!queue_) {
    wait_.reset();
    queue_ = open_queue(domain, FI_WAIT_FD, nullptr);
  }
  if (queue_) {
    check(fi_control(wait_ ? &wait_->fid : &queue_->fid, FI_GETWAIT, &fd_), "fi_control(FI_GETWAIT)");
    return;
  }
  queue_ = open_queue(domain, FI_WAIT_NONE, nullptr);
  if (!queue_) throw std::runtime_error("fi_cq_open: there is no completion queue");
}

bool Completions::may_sleep() {
  if (wait_) return fi_wait(wait_.get(), 0) == -FI_ETIMEDOUT;
  if (fd_ < 0) return true;
  fid* const one = &queue_->fid;
  fid* objects[] = {one};
  return fi_trywait(fabric_, objects, 1) == 0;
}

}  // namespace heddle::lln::ofi
