#include "mpi/io/of_rank.hpp"

#include <algorithm>
#include <mutex>

#include "launch/rank/rank.hpp"
#include "mpi/io/executor.hpp"
#include "objects/object/tables.hpp"

namespace heddle::io {

void OfRank::add(std::shared_ptr<const Representation> representation) {
  const std::lock_guard guard(mutex_);
  representations_.push_back(std::move(representation));
}

std::shared_ptr<const Representation> OfRank::find(const std::string& name) const {
  const std::lock_guard guard(mutex_);
  const auto found = std::ranges::find_if(representations_, [&](const auto& r) { return r->name() == name; });
  return found == representations_.end() ? nullptr : *found;
}

std::shared_ptr<Executor> OfRank::executor() {
  const std::lock_guard guard(mutex_);
  std::shared_ptr<Executor> executor = executor_.lock();
  if (executor == nullptr) executor_ = executor = std::make_shared<Executor>(current_rank());
  return executor;
}

OfRank& of_rank() {
  ObjectTables& tables = *current_rank().tables;
  std::call_once(tables.io_made, [&] { tables.io = std::make_shared<OfRank>(); });
  return *tables.io;
}

}  // namespace heddle::io
