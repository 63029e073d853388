// The World of a program that was started without a launcher: its only rank is this one.
#pragma once

#include <memory>
#include <utility>

#include "base/result.hpp"
#include "launch/boot/world.hpp"

namespace heddle::boot {

class SingletonWorld final : public World {
 public:
  // With a heap of so many bytes.
  static Result<std::unique_ptr<World>> make(std::size_t heap_bytes);

  std::uint64_t agreed(int word) const override { return agreed_[word]; }
  std::uint64_t agree(int word, std::uint64_t proposal) override;
  Result<std::string> ask_launcher(const std::string& request) override;
  [[noreturn]] void abort(int code, const char* text) override;

  // There are no peers.
  std::span<const std::byte> find(int, int) const override { return {}; }
  bool publish(int, std::span<const std::byte>) override { return true; }

 private:
  explicit SingletonWorld(std::shared_ptr<platform::SparseMemory> segment) : World(std::move(segment), 0) {}

  std::atomic<std::uint64_t> agreed_[agreed_words]{};
};

}  // namespace heddle::boot
