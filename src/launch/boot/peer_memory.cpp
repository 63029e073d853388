#include "launch/boot/peer_memory.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/shared_heap/interface.hpp"
#include "launch/boot/random_number.hpp"

namespace heddle::boot {

namespace {

// On a page of its own, which the kernel wipes in a child.
struct Key {
  std::atomic<std::uint64_t> value;    // 0: this process has none yet
  std::atomic<std::uint64_t> written;  // by peers, to test their access
};

Key* make_key_page() {
  const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const page = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  madvise(page, bytes, MADV_WIPEONFORK);
  return static_cast<Key*>(page);
}

// Null: there is no memory for it.
Key* own_key() {
  static std::mutex mutex;
  static Key* key = nullptr;
  const std::lock_guard guard(mutex);
  if (key == nullptr) key = make_key_page();
  if (key != nullptr && key->value.load(std::memory_order_relaxed) == 0) {
    key->value.store(random_number(), std::memory_order_relaxed);
    // The kernel may allow peers' accesses, for which we are about to publish the key, only to our parents (Yama's
    // ptrace_scope 1).
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  }
  return key;
}

int find_reason(const RankRecord& peer) {
  const pid_t process = peer.process.load(std::memory_order_acquire);
  const std::uint64_t address = peer.key_address.load(std::memory_order_relaxed);
  if (process == 0 || address == 0) return ESRCH;
  const std::uint64_t expected = peer.key.load(std::memory_order_relaxed);
  std::uint64_t found = 0;
  if (const int error = move_bytes(Direction::read, process, &found, address + offsetof(Key, value), sizeof found))
    return error;
  if (found != expected) return another_process;
  return move_bytes(Direction::write, process, &found, address + offsetof(Key, written), sizeof found);
}

// Publishes the place of the large blocks of this process's heap, if a library has placed them so.
void publish_heap(RankRecord& record, std::uint64_t key) {
  auto* const ask = reinterpret_cast<shared_heap::Ask*>(dlsym(RTLD_DEFAULT, shared_heap::ask_name));
  const shared_heap::Place* const place = ask != nullptr ? ask() : nullptr;
  if (place == nullptr || place->layout != shared_heap::Place::this_layout) return;
  std::memcpy(place->start, &key, sizeof key);
  record.heap_file = place->file;
  record.heap_address.store(reinterpret_cast<std::uint64_t>(place->start), std::memory_order_relaxed);
}

}  // namespace

int move_bytes(Direction direction, pid_t process, void* ours, std::uint64_t theirs, std::size_t n) {
  auto* at = static_cast<char*>(ours);
  while (n != 0) {
    const iovec local{at, n};
    const iovec remote{reinterpret_cast<void*>(theirs), n};
    const ssize_t moved = move_between(direction, process, &local, 1, &remote, 1);
    if (moved <= 0) {
      if (moved < 0 && errno == EINTR) continue;
      return moved == 0 ? EFAULT : errno;
    }
    at += moved;
    theirs += static_cast<std::uint64_t>(moved);
    n -= static_cast<std::size_t>(moved);
  }
  return 0;
}

const char* reason_text(int reason, char (&buffer)[128]) {
  if (reason == another_process) return "ranks are in separate pid namespaces";
  return strerror_r(reason, buffer, sizeof buffer);
}

void PeerMemory::begin(const World& job) {
  job_ = &job;
  job.record().memory_address.store(reinterpret_cast<std::uint64_t>(job.heap().data()), std::memory_order_relaxed);
  reasons_ = std::make_unique<std::atomic<std::int16_t>[]>(static_cast<std::size_t>(job.capacity()));
  for (int rank = 0; rank < job.capacity(); ++rank) reasons_[static_cast<std::size_t>(rank)] = unknown;
}

int PeerMemory::reason_out_of_reach(int peer) {
  std::atomic<std::int16_t>& known = reasons_[static_cast<std::size_t>(peer)];
  std::int16_t reason = known.load(std::memory_order_relaxed);
  if (reason == unknown) {
    reason = static_cast<std::int16_t>(find_reason(job_->record_of(peer)));
    known.store(reason, std::memory_order_relaxed);
  }
  return reason;
}

// Called for each long message; a rank that sends to many maps many heaps.
std::byte* PeerMemory::see_in_heap(int peer, std::uint64_t offset, std::size_t n) {
  // no need; or its number may be a foreign process's
  if (same_space(peer) || reason_out_of_reach(peer) != 0) return nullptr;
  const std::lock_guard guard(mapping_);
  const auto [at, is_new] = mapped_.try_emplace(peer);
  Mapped& heap = at->second;
  if (is_new) heap = map_heap(peer);
  return offset < heap.bytes && n <= heap.bytes - offset ? heap.start + offset : nullptr;
}

// Checks the descriptor's current file; the program may have closed it, and opened something else.
PeerMemory::Mapped PeerMemory::map_heap(int peer) {
  const RankRecord& record = job_->record_of(peer);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", record.process.load(), record.heap_file);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return {};
  Mapped heap;
  struct stat state {};
  if (fstat(file, &state) == 0 && state.st_size > 0) {
    void* const start = mmap(nullptr, static_cast<std::size_t>(state.st_size), PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_NORESERVE, file, 0);
    std::uint64_t key = 0;
    if (start != MAP_FAILED) std::memcpy(&key, start, sizeof key);
    if (start != MAP_FAILED && key == record.key.load(std::memory_order_relaxed))
      heap = {static_cast<std::byte*>(start), static_cast<std::size_t>(state.st_size)};
    else if (start != MAP_FAILED)
      munmap(start, static_cast<std::size_t>(state.st_size));
  }
  close(file);
  return heap;
}

// A pipe tests the address for us: it may be unmapped.
bool is_key_here(const RankRecord& record) {
  int pipe[2];
  if (record.key_address.load(std::memory_order_relaxed) == 0 || pipe2(pipe, O_CLOEXEC) != 0) return true;  // unknown
  const auto* const address =
      reinterpret_cast<const std::byte*>(record.key_address.load(std::memory_order_relaxed)) + offsetof(Key, value);
  std::uint64_t found = 0;
  const bool here = write(pipe[1], address, sizeof found) == sizeof found &&
                    read(pipe[0], &found, sizeof found) == sizeof found &&
                    found == record.key.load(std::memory_order_relaxed);
  close(pipe[0]);
  close(pipe[1]);
  return here;
}

void publish_key(RankRecord& record) {
  const Key* const key = own_key();
  if (key == nullptr) return;
  record.key.store(key->value.load(std::memory_order_relaxed), std::memory_order_relaxed);
  record.key_address.store(reinterpret_cast<std::uint64_t>(key), std::memory_order_relaxed);
  publish_heap(record, key->value.load(std::memory_order_relaxed));
  // getpid() would name a rank that is a thread by its thread.
  record.process.store(static_cast<std::int32_t>(syscall(SYS_getpid)), std::memory_order_release);
}

}  // namespace heddle::boot
