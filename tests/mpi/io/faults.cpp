// Preloaded: system calls on files whose names have "heddle-io-" in them fail as HEDDLE_TEST_FAULT says, "KIND:N". Each process counts
// for itself, and anew when the variable has changed.
//
// From the Nth read or write on: nospace, io (EIO), quota: every one of that kind; interrupted: every second one is EINTR; short: each
// moves at most 7 bytes, or half of what it could.
// once-space, once-io, once-interrupted: the Nth system call of any kind and no other. Operations by io_uring count where they are submitted.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

// ---- What is to fail ----

enum class Call { read, write, other };

std::atomic<int> calls;
std::atomic<int> injected;

bool is_our_name(const char* name) { return std::string_view(name).find("heddle-io-") != std::string_view::npos; }

bool is_ours(int descriptor) {
  char link[64], name[512];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t n = readlink(link, name, sizeof name - 1);
  if (n <= 0) return false;
  name[n] = 0;
  return is_our_name(name);
}

// Empty: this call is none of those that fail. The program changes the variable between its parts, when no other thread looks; each part
// counts anew.
std::string_view fault_now(Call call, int& number) {
  static std::string now;
  const char* const set = std::getenv("HEDDLE_TEST_FAULT");
  if (set == nullptr) return {};
  const std::string_view fault = set;
  if (fault != now) {
    now = fault;
    calls = 0;
    injected = 0;
  }
  const bool once = fault.starts_with("once-");
  if (!once && call == Call::other) return {};
  const int from = std::atoi(set + fault.find(':') + 1);
  number = calls++;
  return number < from || (once && number > from) ? std::string_view() : fault;
}

int error_of(std::string_view fault, Call call, int number, std::size_t& most) {
  if (fault.starts_with("once-space")) return call == Call::read ? 0 : ENOSPC;
  if (fault.starts_with("once-interrupted")) return EINTR;
  if (fault.starts_with("once-io") || fault.starts_with("io")) return EIO;
  if (fault.starts_with("interrupted")) return number % 2 == 0 ? EINTR : 0;
  if (fault.starts_with("short")) {
    most = most <= 14 ? (most + 1) / 2 : number % 2 == 0 ? 7 : most / 2;
    return 0;
  }
  if (call != Call::write) return 0;
  return fault.starts_with("quota") ? EDQUOT : ENOSPC;
}

// The errno of a call that is to fail, or 0: it goes on, with at most so many bytes.
int fails(Call call, std::size_t& most) {
  int number = 0;
  const std::string_view fault = fault_now(call, number);
  if (fault.empty()) return 0;
  const std::size_t whole = most;
  const int error = error_of(fault, call, number, most);
  if (error != 0 || most != whole) ++injected;
  return error;
}

int transfer_fails(int descriptor, Call call, std::size_t& most) { return is_ours(descriptor) ? fails(call, most) : 0; }

bool other_fails(bool ours) {
  std::size_t none = 0;
  const int error = ours ? fails(Call::other, none) : 0;
  if (error != 0) errno = error;
  return error != 0;
}

// The function of that name that the one here stands before.
template <class F>
F* next(const char* name) {
  return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}

// A call that is cut short moves a part of its first piece.
template <class Real>
ssize_t transfer_pieces(Real real, Call call, int descriptor, const iovec* pieces, int n, off_t offset) {
  std::size_t whole = 0;
  for (int i = 0; i < n; ++i) whole += pieces[i].iov_len;
  std::size_t most = whole;
  if (const int error = transfer_fails(descriptor, call, most)) return errno = error, -1;
  if (most == whole) return real(descriptor, pieces, n, offset);
  const iovec part{pieces[0].iov_base, std::min(pieces[0].iov_len, most)};
  return real(descriptor, &part, 1, offset);
}

// ---- io_uring ----

// The queue of requests of the ring that was made last, mapped a second time.
struct {
  int descriptor = -1;
  char* cells = nullptr;
  io_uring_sqe* requests = nullptr;
  io_sqring_offsets offsets{};
} ring;

void see_ring(int descriptor, const io_uring_params& made) {
  const auto map = [descriptor](std::size_t bytes, off_t which) {
    void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, which);
    if (at == MAP_FAILED) std::abort();
    return at;
  };
  const std::size_t bytes = made.sq_off.array + made.sq_entries * sizeof(std::uint32_t);
  ring.cells = static_cast<char*>(map(bytes, IORING_OFF_SQ_RING));
  ring.requests = static_cast<io_uring_sqe*>(map(made.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
  ring.offsets = made.sq_off;
  ring.descriptor = descriptor;
}

// A file that gives the kernel this error: a full device, or memory that is not there.
int failing(int error) {
  static const int full = open("/dev/full", O_RDWR | O_CLOEXEC);
  static const int missing = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  return error == ENOSPC ? full : missing;
}

// The errno of the submission itself. Otherwise what is submitted has been changed so that it fails or is cut short. The
// submitting thread excludes others meanwhile.
int submission_fails() {
  static iovec part;
  const auto cell = [](std::uint32_t offset) { return reinterpret_cast<std::uint32_t*>(ring.cells + offset); };
  const std::uint32_t tail = std::atomic_ref(*cell(ring.offsets.tail)).load();
  io_uring_sqe& request = ring.requests[(tail - 1) & *cell(ring.offsets.ring_mask)];
  const bool writes = request.opcode == IORING_OP_WRITEV;
  if (!writes && request.opcode != IORING_OP_READV) return 0;
  const auto* const pieces = reinterpret_cast<const iovec*>(static_cast<std::uintptr_t>(request.addr));
  std::size_t most = pieces[0].iov_len;
  const int error = transfer_fails(request.fd, writes ? Call::write : Call::read, most);
  if (error == EINTR) return error;
  if (error == EIO || error == ENOSPC) {
    request.fd = failing(error);
    request.off = 0;
  }
  if (most != pieces[0].iov_len) {
    part = {pieces[0].iov_base, most};
    request.addr = reinterpret_cast<std::uintptr_t>(&part);
    request.len = 1;
  }
  return 0;
}

}  // namespace

// Since the variable was set: how many calls there were that it could be about, and how many were made to fail or cut short.
extern "C" int heddle_test_calls() { return calls; }
extern "C" int heddle_test_faults() { return injected; }

extern "C" ssize_t pread(int descriptor, void* data, std::size_t bytes, off_t offset) {
  static auto* const real = next<decltype(pread)>("pread");
  if (const int error = transfer_fails(descriptor, Call::read, bytes)) return errno = error, -1;
  return real(descriptor, data, bytes, offset);
}

extern "C" ssize_t pwrite(int descriptor, const void* data, std::size_t bytes, off_t offset) {
  static auto* const real = next<decltype(pwrite)>("pwrite");
  if (const int error = transfer_fails(descriptor, Call::write, bytes)) return errno = error, -1;
  return real(descriptor, data, bytes, offset);
}

extern "C" ssize_t preadv(int descriptor, const iovec* pieces, int n, off_t offset) {
  static auto* const real = next<decltype(preadv)>("preadv");
  return transfer_pieces(real, Call::read, descriptor, pieces, n, offset);
}

extern "C" ssize_t pwritev(int descriptor, const iovec* pieces, int n, off_t offset) {
  static auto* const real = next<decltype(pwritev)>("pwritev");
  return transfer_pieces(real, Call::write, descriptor, pieces, n, offset);
}

// Only the library's mappings of files ask for this, and they write; the kernel names no reason.
extern "C" int madvise(void* at, std::size_t bytes, int advice) noexcept {
  static auto* const real = next<decltype(madvise)>("madvise");
  constexpr int populate_write = 23;
  std::size_t most = bytes;
  if (advice == populate_write && fails(Call::write, most) != 0) return errno = EFAULT, -1;
  return real(at, bytes, advice);
}

extern "C" int open(const char* name, int flags, ...) {
  static auto* const real = next<decltype(open)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return other_fails(is_our_name(name)) ? -1 : real(name, flags, mode);
}

extern "C" int fstat(int descriptor, struct stat* status) noexcept {
  static auto* const real = next<decltype(fstat)>("fstat");
  if (other_fails(is_ours(descriptor)) && errno != EINTR) return -1;  // it is never interrupted
  return real(descriptor, status);
}

extern "C" int fsync(int descriptor) {
  static auto* const real = next<decltype(fsync)>("fsync");
  return other_fails(is_ours(descriptor)) ? -1 : real(descriptor);
}

extern "C" int ftruncate(int descriptor, off_t bytes) noexcept {
  static auto* const real = next<decltype(ftruncate)>("ftruncate");
  return other_fails(is_ours(descriptor)) ? -1 : real(descriptor, bytes);
}

extern "C" int posix_fallocate(int descriptor, off_t offset, off_t bytes) {
  static auto* const real = next<decltype(posix_fallocate)>("posix_fallocate");
  return other_fails(is_ours(descriptor)) ? errno : real(descriptor, offset, bytes);
}

// Whatever it returns, the descriptor is closed.
extern "C" int close(int descriptor) {
  static auto* const real = next<decltype(close)>("close");
  const bool failed = other_fails(is_ours(descriptor));
  const int error = errno;
  const int result = real(descriptor);
  return failed ? errno = error, -1 : result;
}

extern "C" int unlink(const char* name) noexcept {
  static auto* const real = next<decltype(unlink)>("unlink");
  if (other_fails(is_our_name(name)) && errno != EINTR) return -1;  // it is never interrupted
  return real(name);
}

extern "C" int fcntl(int descriptor, int command, ...) {
  static auto* const real = next<decltype(fcntl)>("fcntl");
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return other_fails(command == F_OFD_SETLKW && is_ours(descriptor)) ? -1 : real(descriptor, command, argument);
}

extern "C" long syscall(long number, ...) noexcept {
  static auto* const real = next<decltype(syscall)>("syscall");
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  if (number == SYS_io_uring_enter && a[0] == ring.descriptor && a[1] > 0)
    if (const int error = submission_fails()) return errno = error, -1;
  const long result = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (number == SYS_io_uring_setup && result >= 0)
    see_ring(static_cast<int>(result), *reinterpret_cast<const io_uring_params*>(a[1]));
  return result;
}
