#include "mpi/io/device.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace heddle::io {

namespace {

constexpr std::size_t max_pieces = 1024;  // of one call (IOV_MAX)

int control_lock(int descriptor, int command, short type, std::int64_t offset, std::int64_t bytes) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = offset;
  range.l_len = bytes;
  for (;;) {
    if (fcntl(descriptor, command, &range) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

}  // namespace

void consume(iovec*& pieces, std::size_t& count, std::size_t n) {
  while (count > 0 && n >= pieces->iov_len) {
    n -= pieces->iov_len;
    ++pieces;
    --count;
  }
  if (n == 0) return;
  pieces->iov_base = static_cast<char*>(pieces->iov_base) + n;
  pieces->iov_len -= n;
}

Device::Device(int descriptor)
    : descriptor_(descriptor), stream_(descriptor >= 0 && lseek(descriptor, 0, SEEK_CUR) < 0 && errno == ESPIPE) {}

Device::~Device() { (void)close(); }

// Data that could not be written may show only now, as on NFS and with quotas. An interrupted close has closed.
int Device::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0 || errno == EINTR ? 0 : errno;
}

int Device::flush() const {
  while (fsync(descriptor_) != 0) {
    if (errno == EINVAL || errno == EROFS) return 0;  // a pipe or the like
    if (errno != EINTR) return errno;
  }
  return 0;
}

// An NFS client asks the server again after a lock.
int Device::revalidate() const {
  struct statfs system {};
  if (fstatfs(descriptor_, &system) != 0 || system.f_type != NFS_SUPER_MAGIC) return 0;
  RangeLock whole;
  return whole.lock(*this, false, 0, 0);
}

int Device::set_size(std::int64_t bytes) const {
  while (ftruncate(descriptor_, bytes) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

int Device::allocate(std::int64_t bytes) const {
  for (;;) {
    const int error_number = posix_fallocate(descriptor_, 0, bytes);
    if (error_number != EINTR) return error_number;
  }
}

// The kernel moves at most 2 GiB less a page in one call, and less after a signal, at a quota or at the end of the
// space. Only the next call returns the reason.
template <class Call>
Moved Device::move_all(std::int64_t offset, iovec* pieces, std::size_t count, Call&& call) const {
  Moved moved;
  for (consume(pieces, count, 0); count > 0;) {
    const auto n = static_cast<int>(std::min(count, max_pieces));
    const ssize_t done = call(pieces, n, offset + static_cast<std::int64_t>(moved.bytes));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      moved.error_number = done < 0 ? errno : 0;
      return moved;
    }
    moved.bytes += static_cast<std::size_t>(done);
    consume(pieces, count, static_cast<std::size_t>(done));
  }
  return moved;
}

Moved Device::read(std::int64_t offset, iovec* pieces, std::size_t count) const {
  return move_all(offset, pieces, count, [this](const iovec* first, int n, std::int64_t at) {
    return stream_  ? ::readv(descriptor_, first, n)
           : n == 1 ? ::pread(descriptor_, first->iov_base, first->iov_len, at)
                    : ::preadv(descriptor_, first, n, at);
  });
}

Moved Device::write(std::int64_t offset, iovec* pieces, std::size_t count) const {
  Moved moved = move_all(offset, pieces, count, [this](const iovec* first, int n, std::int64_t at) {
    const ssize_t done = stream_  ? ::writev(descriptor_, first, n)
                         : n == 1 ? ::pwrite(descriptor_, first->iov_base, first->iov_len, at)
                                  : ::pwritev(descriptor_, first, n, at);
    if (done != 0) return done;
    errno = EIO;  // a write that writes nothing and returns no error would be repeated for ever
    return ssize_t{-1};
  });
  return moved;
}

Moved Device::read(std::int64_t offset, void* data, std::size_t bytes) const {
  iovec piece{data, bytes};
  return read(offset, &piece, 1);
}

Moved Device::write(std::int64_t offset, const void* data, std::size_t bytes) const {
  iovec piece{const_cast<void*>(data), bytes};
  return write(offset, &piece, 1);
}

int Device::size(std::int64_t& bytes) const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) return errno;
  bytes = status.st_size;
  return 0;
}

// Locks belong to the open file description, so that ranks that are threads of one process exclude each other too.
int Device::lock(bool exclusive, std::int64_t offset, std::int64_t bytes) const {
  return control_lock(descriptor_, F_OFD_SETLKW, exclusive ? F_WRLCK : F_RDLCK, offset, bytes);
}

void Device::unlock(std::int64_t offset, std::int64_t bytes) const {
  (void)control_lock(descriptor_, F_OFD_SETLK, F_UNLCK, offset, bytes);
}

RangeLock::~RangeLock() {
  if (device_ != nullptr) device_->unlock(offset_, bytes_);
}

int RangeLock::lock(const Device& device, bool exclusive, std::int64_t offset, std::int64_t bytes) {
  if (const int error_number = device.lock(exclusive, offset, bytes)) return error_number;
  device_ = &device;
  offset_ = offset;
  bytes_ = bytes;
  return 0;
}

}  // namespace heddle::io
