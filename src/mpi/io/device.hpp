// A file of the operating system: reading, writing and locking at an offset, until all is done or an error.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace heddle::io {

// The bytes that an access has moved, from its beginning on, and the errno that has ended it; 0: no error, or a read
// reached the end of the file.
struct Moved {
  std::size_t bytes = 0;
  int error_number = 0;
};

// Drops the first n bytes of the pieces: moves `pieces` past complete ones, and shortens the next.
void consume(iovec*& pieces, std::size_t& count, std::size_t n);

class Device {
 public:
  explicit Device(int descriptor);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  int descriptor() const { return descriptor_; }
  bool is_stream() const { return stream_; }

  // `count` pieces of memory, which the call changes, and the file from `offset` on. Interrupted and partial calls are
  // continued.
  Moved read(std::int64_t offset, iovec* pieces, std::size_t count) const;
  Moved write(std::int64_t offset, iovec* pieces, std::size_t count) const;
  Moved read(std::int64_t offset, void* data, std::size_t bytes) const;
  Moved write(std::int64_t offset, const void* data, std::size_t bytes) const;

  // Each returns an errno.
  int close();  // after which nothing else is called
  int flush() const;
  int revalidate() const;  // flushed writes of others are visible from now on
  int set_size(std::int64_t bytes) const;
  int allocate(std::int64_t bytes) const;  // from the beginning on
  int size(std::int64_t& bytes) const;
  int lock(bool exclusive, std::int64_t offset, std::int64_t bytes) const;  // waits
  void unlock(std::int64_t offset, std::int64_t bytes) const;

 private:
  template <class Call>
  Moved move_all(std::int64_t offset, iovec* pieces, std::size_t count, Call&& call) const;

  int descriptor_;
  bool stream_;  // a pipe or the like, which has no offsets
};

// A lock of a range of the file against other open files of any rank (open file descriptions), as long as this lives.
class RangeLock {
 public:
  RangeLock() = default;
  ~RangeLock();
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;

  // Returns an errno.
  int lock(const Device& device, bool exclusive, std::int64_t offset, std::int64_t bytes);

 private:
  const Device* device_ = nullptr;
  std::int64_t offset_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace heddle::io
