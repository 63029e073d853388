// The file pointer that the processes of a file share (MPI 5.0, section 14.4.4), in etypes of the view.
#pragma once

#include <cstdint>
#include <memory>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle::io {

class SharedPointer {
 public:
  // Collective over the file's communicator; if it fails, it fails for all.
  static Error make(Comm& comm, std::unique_ptr<SharedPointer>& made);
  virtual ~SharedPointer() = default;

  // Any thread of any member, at any time.
  virtual Error add(std::int64_t etypes, std::int64_t& before) = 0;
  virtual Error set(std::int64_t etypes) = 0;

  // Collective, before it is destroyed.
  virtual Error end() { return success; }
};

}  // namespace heddle::io
