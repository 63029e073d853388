// The World of a job that mpiexec has started: everything is in the job's one segment, a memfd that every rank
// inherits. In a job on several nodes each has a segment and an mpiexec of its own (launch/mpiexec/nodes/), which passes on
// the data of the others.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "base/result.hpp"
#include "launch/boot/launched/frame.hpp"
#include "launch/boot/world.hpp"

namespace heddle::boot {

class MemfdWorld final : public World {
 public:
  // The job that the environment names, with `descriptor`, its value for the segment.
  static Result<std::unique_ptr<World>> join(const char* descriptor);

  std::uint64_t agreed(int word) const override;
  std::uint64_t agree(int word, std::uint64_t proposal) override;
  Result<std::string> ask_launcher(const std::string& request) override;
  [[noreturn]] void abort(int code, const char* text) override;

  // Each rank has a card in the segment.
  std::span<const std::byte> find(int peer, int vni) const override;
  bool publish(int vni, std::span<const std::byte> address) override;

 private:
  MemfdWorld(std::shared_ptr<platform::SparseMemory> segment, int rank) : World(std::move(segment), rank) {}
  void tell_launcher(const Frame& frame);

  std::mutex mutex_;  // guards our own card
};

}  // namespace heddle::boot
