#include "mpi/io/open_file.hpp"

#include "mpi/io/executor.hpp"
#include "mpi/io/of_rank.hpp"
#include "mpi/io/shared_pointer.hpp"

namespace heddle::io {

OpenFile::OpenFile(int descriptor, const Info* info) : device(descriptor), view_(View::of_bytes()) { hints_.set(info); }

OpenFile::~OpenFile() = default;

std::shared_ptr<Executor> OpenFile::executor() {
  const std::lock_guard guard(mutex_);
  if (executor_ == nullptr) executor_ = of_rank().executor();
  return executor_;
}

}  // namespace heddle::io
