#include "io/independent.hpp"

#include <array>
#include <mutex>
#include <optional>

#include "io/sieve.hpp"

namespace heddle::io {

namespace {

Moved move_runs(const Access& access) {
  FileRuns file(access.view, access.position, access.bytes);
  MemoryRuns memory(access.memory, 0);
  std::array<iovec, 256> pieces;
  const Device& device = access.file.device;
  Moved total;
  while (total.bytes < access.bytes) {
    const Run run = file.current();
    std::size_t bytes = 0;
    const std::size_t n = memory.take(run.length, pieces.data(), pieces.size(), bytes);
    if (bytes == 0) break;
    const Moved moved =
        access.write ? device.write(run.offset, pieces.data(), n) : device.read(run.offset, pieces.data(), n);
    total.bytes += moved.bytes;
    total.error_number = moved.error_number;
    if (moved.bytes != bytes) break;
    file.advance(bytes);
  }
  return total;
}

}  // namespace

std::int64_t first_of(const Access& access) { return access.view.offset_of(access.position); }

std::int64_t last_of(const Access& access) {
  return access.view.offset_of(access.position + static_cast<std::int64_t>(access.bytes) - 1);
}

bool is_one_part(const Access& access, Transfer& transfer) {
  constexpr std::size_t most = 64;  // pieces of memory
  const bool locks = (access.write && access.hints.ds_write == Choice::enable) ||
                     access.file.atomic_mode.load(std::memory_order_relaxed) || access.file.device.is_stream();
  if (access.bytes == 0 || locks) return false;
  Run run;
  std::size_t bytes = 0;
  if (access.view.runs(access.position, access.bytes, &run, 1, bytes) != 1 || bytes != access.bytes) return false;
  transfer.pieces.resize(most);
  transfer.pieces.resize(MemoryRuns(access.memory, 0).take(access.bytes, transfer.pieces.data(), most, bytes));
  transfer.write = access.write;
  transfer.descriptor = access.file.device.descriptor();
  transfer.offset = run.offset;
  return bytes == access.bytes;
}

Moved move_alone(const Access& access) {
  if (access.bytes == 0) return {};
  const bool sieves = is_for_sieving(access);
  // Who reads, changes and writes back must not undo what others write meanwhile: where the program asks for that,
  // every write is under a lock.
  const bool modifies = access.write && access.hints.ds_write == Choice::enable;
  const bool exclusive = access.file.atomic_mode.load(std::memory_order_relaxed);
  if (!modifies && !exclusive) return sieves ? sieve_read(access) : move_runs(access);
  const std::lock_guard guard(
      access.file.modifying);  // threads of this rank, whom the lock of the range does not keep apart
  RangeLock range;
  if (access.view.is_ordered()) {
    const std::int64_t first = first_of(access);
    const int error_number = range.lock(access.file.device, access.write, first, last_of(access) - first + 1);
    if (error_number != 0) return {0, error_number};
  } else if (const int error_number = range.lock(access.file.device, access.write, 0, 0)) {  // all of it
    return {0, error_number};
  }
  if (!sieves) return move_runs(access);
  return access.write ? sieve_write(access) : sieve_read(access);
}

}  // namespace heddle::io
