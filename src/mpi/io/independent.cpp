#include "mpi/io/independent.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>

#include "mpi/io/mapping.hpp"
#include "mpi/io/sieve.hpp"

namespace heddle::io {

namespace {

// From byte `from` of the stream on.
Moved move_runs(const Access& access, std::size_t from = 0) {
  FileRuns file(access.view, access.position + static_cast<std::int64_t>(from), access.bytes - from);
  MemoryRuns memory(access.memory, from);
  std::array<iovec, 256> pieces;
  const Device& device = access.file.device;
  Moved total{from, 0};
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

// A mapping reaches to the end of the file and no further, so the last byte that is to be written is written first.
bool reaches_end(const Access& access) {
  std::int64_t size = 0;
  const std::int64_t last = last_of(access);
  if (access.file.device.size(size) != 0) return false;
  if (size > last) return true;
  std::byte byte{};
  pack(*access.memory.type, access.memory.data, access.memory.count, access.bytes - 1, &byte, 1);
  return access.file.device.write(last, &byte, 1).bytes == 1;
}

// Exactly the given bytes. Parts that cannot be mapped are written run by run.
Moved store_runs(const Access& access) {
  if (!reaches_end(access)) return move_runs(access);
  const Buffer& memory = access.memory;
  FileRuns file(access.view, access.position, access.bytes);
  const std::int64_t end = last_of(access) + 1;
  std::size_t stored = 0;
  while (stored < access.bytes) {
    const std::int64_t first = file.current().offset;
    const std::int64_t window_end = std::min(end, first + access.hints.write_buffer);
    const Mapping mapping(access.file.device, first, window_end - first);
    if (!mapping) return move_runs(access, stored);
    for (Run run = file.current(); run.length != 0 && run.offset < window_end; run = file.current()) {
      const auto n = static_cast<std::size_t>(
          std::min<std::int64_t>(window_end - run.offset, static_cast<std::int64_t>(run.length)));
      pack(*memory.type, memory.data, memory.count, stored, mapping.at(run.offset), n);
      stored += n;
      file.advance(n);
    }
  }
  return {stored, 0};
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
  // A read-modify-write must not undo concurrent writes of others: where the program asks for it, every write is under
  // a lock.
  const bool modifies = access.write && access.hints.ds_write == Choice::enable;
  const bool exclusive = access.file.atomic_mode.load(std::memory_order_relaxed);
  const auto move = [&] {
    return !sieves ? move_runs(access) : access.write ? store_runs(access) : sieve_read(access);
  };
  if (!modifies && !exclusive) return move();
  const std::lock_guard guard(
      access.file.modifying);  // threads of this rank, which the lock of the range does not separate
  RangeLock range;
  if (access.view.is_ordered()) {
    const std::int64_t first = first_of(access);
    const int error_number = range.lock(access.file.device, access.write, first, last_of(access) - first + 1);
    if (error_number != 0) return {0, error_number};
  } else if (const int error_number = range.lock(access.file.device, access.write, 0, 0)) {  // all of it
    return {0, error_number};
  }
  return modifies && sieves ? sieve_write(access) : move();
}

}  // namespace heddle::io
