// The directory of a job that mpiexec has started: each rank has a card in the job's segment.
#pragma once

#include <mutex>

#include "boot/join.hpp"
#include "lln/directory.hpp"

namespace heddle::boot {

// Any thread may use it.
class Directory final : public lln::Directory {
 public:
  explicit Directory(const Job& job) : job_(job) {}

  std::span<const std::byte> find(int peer, int vni) const override;
  bool publish(int vni, std::span<const std::byte> address) override;

 private:
  const Job& job_;
  std::mutex mutex_;  // of our own card
};

}  // namespace heddle::boot
