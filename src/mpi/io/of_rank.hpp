// The state of file I/O of a rank.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/threads/mutex.hpp"
#include "mpi/io/representation.hpp"

namespace heddle::io {

class Executor;

class OfRank {
 public:
  // Data representations that the program has registered.
  void add(std::shared_ptr<const Representation> representation);
  std::shared_ptr<const Representation> find(const std::string& name) const;

  // Shared by all open files of the rank, as long as one of them uses it. Throws std::system_error if none can be made.
  std::shared_ptr<Executor> executor();

 private:
  mutable threads::Mutex mutex_;
  std::vector<std::shared_ptr<const Representation>> representations_;
  std::weak_ptr<Executor> executor_;
};

// The state of the calling rank.
OfRank& of_rank();

}  // namespace heddle::io
