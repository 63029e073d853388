#include "mpi/io/sieve.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace heddle::io {

namespace {

// A part of the file in memory. Windows follow each other; those of a write are read first.
class Window {
 public:
  Window(const Access& access, std::int64_t capacity)
      : access_(access), end_(last_of(access) + 1), capacity_(capacity), bytes_(new std::byte[bounded()]) {}

  // From `offset` on. Returns an errno.
  int load(std::int64_t offset) {
    offset_ = offset;
    const auto n = static_cast<std::size_t>(std::min(capacity_, end_ - offset));
    const Moved moved = access_.file.device.read(offset, bytes_.get(), n);
    valid_ = moved.bytes;
    span_ = n;
    return moved.error_number;
  }
  // Up to `bytes` from its beginning on; unwritten bytes behind the end of the file are zero.
  Moved store(std::size_t bytes) { return access_.file.device.write(offset_, bytes_.get(), bytes); }
  void clear_beyond_end() { std::fill(bytes_.get() + valid_, bytes_.get() + span_, std::byte{}); }

  // The part of [offset, offset + length) that it holds.
  std::size_t holds(const Run& run, bool beyond_end) const {
    const std::int64_t end = offset_ + static_cast<std::int64_t>(beyond_end ? span_ : valid_);
    return static_cast<std::size_t>(
        std::clamp<std::int64_t>(end - run.offset, 0, static_cast<std::int64_t>(run.length)));
  }
  bool is_at_end() const { return valid_ < span_; }
  std::byte* at(std::int64_t offset) { return bytes_.get() + (offset - offset_); }

 private:
  std::size_t bounded() {
    capacity_ = std::min(capacity_, end_ - first_of(access_));
    return static_cast<std::size_t>(capacity_);
  }

  const Access& access_;
  const std::int64_t end_;
  std::int64_t capacity_;
  std::unique_ptr<std::byte[]> bytes_;
  std::int64_t offset_ = 0;
  std::size_t span_ = 0;
  std::size_t valid_ = 0;
};

}  // namespace

bool is_for_sieving(const Access& access) {
  const Choice choice = access.write ? access.hints.ds_write : access.hints.ds_read;
  if (choice == Choice::disable || access.view.is_contiguous() || !access.view.is_ordered()) return false;
  std::array<Run, 64> runs;
  std::size_t held = 0;
  const std::size_t n = access.view.runs(access.position, access.bytes, runs.data(), runs.size(), held);
  if (n < 2) return false;
  const std::int64_t span = runs[n - 1].offset - runs[0].offset;
  return choice == Choice::enable ||
         span / static_cast<std::int64_t>(n - 1) <= (access.write ? max_store_stride : max_read_stride);
}

Moved sieve_read(const Access& access) {
  const Buffer& memory = access.memory;
  Window window(access, access.hints.read_buffer);
  FileRuns file(access.view, access.position, access.bytes);
  Moved total;
  while (total.bytes < access.bytes) {
    if (const int error_number = window.load(file.current().offset)) return {total.bytes, error_number};
    for (;;) {
      const Run run = file.current();
      const std::size_t n = window.holds(run, false);
      if (n == 0) break;
      unpack(*memory.type, memory.data, memory.count, total.bytes, window.at(run.offset), n);
      total.bytes += n;
      file.advance(n);
    }
    if (window.is_at_end()) break;
  }
  return total;
}

Moved sieve_write(const Access& access) {
  const Buffer& memory = access.memory;
  Window window(access, access.hints.write_buffer);
  FileRuns file(access.view, access.position, access.bytes);
  Moved total;
  while (total.bytes < access.bytes) {
    const std::int64_t first = file.current().offset;
    if (const int error_number = window.load(first)) return {total.bytes, error_number};
    window.clear_beyond_end();
    std::size_t staged = 0;
    std::int64_t end = first;
    for (;;) {
      const Run run = file.current();
      const std::size_t n = window.holds(run, true);
      if (n == 0) break;
      pack(*memory.type, memory.data, memory.count, total.bytes + staged, window.at(run.offset), n);
      staged += n;
      end = run.offset + static_cast<std::int64_t>(n);
      file.advance(n);
    }
    const Moved moved = window.store(static_cast<std::size_t>(end - first));
    if (moved.error_number != 0) {  // the bytes written of this window are counted again
      FileRuns again(access.view, access.position + static_cast<std::int64_t>(total.bytes), staged);
      const std::int64_t written = first + static_cast<std::int64_t>(moved.bytes);
      for (Run run = again.current(); run.length != 0 && run.offset < written; run = again.current()) {
        const auto n = static_cast<std::size_t>(
            std::min<std::int64_t>(written - run.offset, static_cast<std::int64_t>(run.length)));
        total.bytes += n;
        again.advance(n);
      }
      return {total.bytes, moved.error_number};
    }
    total.bytes += staged;
  }
  return total;
}

}  // namespace heddle::io
