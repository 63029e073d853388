// Memory of one collective operation, all given back at once. Keeps one chunk from use to use, as large as was
// lately needed, so that small operations allocate nothing.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::coll {

class Scratch {
 public:
  // Aligned for any type; not initialized; stays where it is until clear().
  void* take(std::size_t bytes) {
    bytes = (bytes + alignment - 1) / alignment * alignment;
    wanted_ += bytes;
    if (bytes > kept_size_ - used_) return overflow(bytes);
    void* p = kept_.get() + used_;
    used_ += bytes;
    return p;
  }

  void clear() {
    used_ = 0;
    if (!more_.empty()) shrink();
    wanted_ = 0;
  }

 private:
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t keep_at_most = 256 * 1024;

  using Chunk = std::unique_ptr<std::byte[]>;
  void* overflow(std::size_t bytes);
  void shrink();

  Chunk kept_;
  std::size_t kept_size_ = 0;
  std::size_t used_ = 0;
  std::size_t wanted_ = 0;  // since the last clear()
  std::vector<Chunk> more_;
};

}  // namespace heddle::coll
