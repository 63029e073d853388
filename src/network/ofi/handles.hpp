// Owners of resources of libfabric and of the kernel.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace heddle::lln::ofi {

struct Cleanup {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
  template <class Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
using Info = std::unique_ptr<fi_info, Cleanup>;
template <class Object>
using Handle = std::unique_ptr<Object, Cleanup>;

// Throws std::runtime_error on failure.
inline void check(long result, const char* call) {
  if (result < 0) throw std::runtime_error(std::string(call) + ": " + fi_strerror(static_cast<int>(-result)));
}

}  // namespace heddle::lln::ofi
