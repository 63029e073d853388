// Counts messages that any thread may get: each one exactly once, and whole.
#pragma once

#include <atomic>
#include <vector>

#include "base/threads/team.hpp"

namespace test {

// The beginning of a message of these tests, if it has room for it.
struct Stamp {
  int rank, thread, number;
};

// The messages that this rank has received, among all that threads of all ranks have numbered.
class ReceivedOnce {
 public:
  ReceivedOnce(int threads, int numbers)
      : threads_(threads), numbers_(numbers), got_(static_cast<std::size_t>(size() * threads * numbers)) {}

  void got(const Stamp& stamp) {
    const auto place = static_cast<std::size_t>((stamp.rank * threads_ + stamp.thread) * numbers_ + stamp.number);
    check(place < got_.size(), "the stamp is one that was sent");
    equal(got_[place].fetch_add(1), 0, "messages that were received before with this stamp");
    ++total_;
  }
  long total() const { return total_; }

 private:
  int threads_, numbers_;
  std::vector<std::atomic<int>> got_;
  std::atomic<long> total_ = 0;
};

// A message that carries its stamp: `bytes` of it, at least those of the stamp.
inline std::uint64_t key_of(const Stamp& stamp) { return mix(stamp.rank, stamp.thread, stamp.number); }
inline std::vector<unsigned char> stamped(const Stamp& stamp, int bytes) {
  std::vector<unsigned char> data = message(key_of(stamp), std::max(bytes, static_cast<int>(sizeof stamp)));
  std::memcpy(data.data(), &stamp, sizeof stamp);
  return data;
}
// Checks what came with this status, and returns its stamp.
inline Stamp read_stamped(std::span<const unsigned char> data, const MPI_Status& status) {
  Stamp stamp;
  equal(count_of(status, MPI_BYTE), static_cast<long long>(data.size()), "size of the message");
  std::memcpy(&stamp, data.data(), sizeof stamp);
  equal(status.MPI_SOURCE, stamp.rank, "the status names the sender");
  const std::vector<unsigned char> expected = stamped(stamp, static_cast<int>(data.size()));
  check(std::equal(data.begin(), data.end(), expected.begin(), expected.end()), "content of a stamped message");
  return stamp;
}

}  // namespace test
