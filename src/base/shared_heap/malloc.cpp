// malloc and its relatives for a program that is started with `mpiexec -shared-heap`, which preloads this: large blocks
// lie in a file of memory that the job's other processes map, so that they copy messages from there and to there
// themselves, once. The next malloc serves smaller blocks.
//
// A child of fork has a private copy of the file as it is then, page by page when it writes; pages that it has not
// written show what its parent writes later. Its pages are huge ones only where the kernel is told so for shared memory
// (transparent_hugepage/shmem_enabled).
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/shared_heap/arena.hpp"
#include "base/shared_heap/interface.hpp"

namespace heddle::shared_heap {
namespace {

constexpr std::size_t from_bytes = 64 * 1024;
// Free memory that is not given back to the system, which would have to clear it again.
constexpr std::size_t most_kept = 64 << 20;
constexpr int first_descriptor = 200;  // programs and shells use lower ones

// For dlsym's allocations while it finds the functions below: never given back.
alignas(64) std::byte spare[16 * 1024];
std::atomic<std::size_t> spare_used{0};

void* take_spare(std::size_t bytes) {
  const std::size_t all = (bytes + 63) / 64 * 64, at = spare_used.fetch_add(all);
  return all >= bytes && all <= sizeof spare && at <= sizeof spare - all ? spare + at : nullptr;
}
bool is_spare(const void* p) { return p >= spare && p < spare + sizeof spare; }

// The next malloc and its relatives.
struct Next {
  void* (*malloc)(std::size_t);
  void (*free)(void*);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  std::size_t (*usable)(void*);
};

template <class F>
void look_up(F& function, const char* name) {
  function = reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

Next next;
std::atomic<bool> has_next{false};
thread_local bool looks_up [[gnu::tls_model("initial-exec")]] = false;

// False: this thread is doing it.
bool find_next() {
  if (has_next.load(std::memory_order_acquire)) return true;
  if (looks_up) return false;
  looks_up = true;
  Next found{};
  look_up(found.malloc, "malloc");
  look_up(found.free, "free");
  look_up(found.calloc, "calloc");
  look_up(found.realloc, "realloc");
  look_up(found.memalign, "memalign");
  look_up(found.usable, "malloc_usable_size");
  next = found;  // two threads at once write the same
  has_next.store(true, std::memory_order_release);
  looks_up = false;
  return true;
}

class Heap {
 public:
  // Null: there is none, or it is full.
  void* allocate(std::size_t bytes, std::size_t alignment, bool& fresh) {
    const Locked locked;
    if (!begin()) return nullptr;
    void* const block = arena_.allocate(bytes, alignment, fresh);
    if (block != nullptr) account(arena_.size_of(block));
    return block;
  }
  bool contains(const void* p) const { return begun_.load(std::memory_order_acquire) && arena_.contains(p); }
  std::size_t size_of(const void* block) {
    const Locked locked;
    return arena_.size_of(block);
  }
  bool resize(void* block, std::size_t bytes) {
    const Locked locked;
    const std::size_t before = arena_.size_of(block);
    if (!arena_.resize(block, bytes)) return false;
    const std::size_t now = arena_.size_of(block);
    now > before ? account(now - before) : void(kept_ += before - now);
    return true;
  }
  void release(void* block) {
    const Locked locked;
    kept_ += arena_.size_of(block);
    const Arena::Run run = arena_.release(block);
    // Free memory may have been given back before: to do that again costs little.
    if (kept_ <= most_kept) return;
    (void)madvise(run.start, run.bytes, MADV_REMOVE);
    kept_ -= std::min(kept_, run.bytes);
  }
  const Place* place() {
    const Locked locked;
    return begin() ? &place_ : nullptr;
  }

 private:
  struct Locked {
    Locked() { pthread_mutex_lock(&mutex); }
    ~Locked() { pthread_mutex_unlock(&mutex); }
    static pthread_mutex_t mutex;
  };

  // Most likely taken from free memory.
  void account(std::size_t bytes) { kept_ -= std::min(kept_, bytes); }

  bool begin() {
    if (tried_) return begun_.load(std::memory_order_relaxed);
    tried_ = true;
    const bool begun = make_file() && arena_.begin(place_.start, place_.bytes, Arena::page);
    if (begun) pthread_atfork(before_fork, after_fork, in_child);
    begun_.store(begun, std::memory_order_release);
    return begun;
  }

  // As large as the machine's memory: addresses, until they are touched.
  bool make_file() {
    std::size_t bytes =
        static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (const auto resource : {RLIMIT_AS, RLIMIT_FSIZE}) {
      rlimit limit{};
      if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        bytes = std::min<std::size_t>(bytes, limit.rlim_cur / 4);
    }
    bytes = bytes / Arena::page * Arena::page;
    const int low = memfd_create("heddle-heap", MFD_CLOEXEC);
    if (low < 0) return false;
    const int high = fcntl(low, F_DUPFD_CLOEXEC, first_descriptor);
    place_.file = high >= 0 ? high : low;
    if (high >= 0) close(low);
    if (ftruncate(place_.file, static_cast<off_t>(bytes)) != 0) return false;
    void* const start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, place_.file, 0);
    if (start == MAP_FAILED) return false;
    place_.layout = Place::this_layout;
    place_.start = static_cast<std::byte*>(start);
    place_.bytes = bytes;
    return true;
  }

  static void before_fork() { pthread_mutex_lock(&Locked::mutex); }
  static void after_fork() { pthread_mutex_unlock(&Locked::mutex); }
  static void in_child();

  Arena arena_;
  Place place_{};
  bool tried_ = false;
  std::atomic<bool> begun_{false};
  std::size_t kept_ = 0;  // bytes that are free, of those that were used
};

pthread_mutex_t Heap::Locked::mutex = PTHREAD_MUTEX_INITIALIZER;
constinit Heap heap;

// Its own from here on. Memory that it cannot map it must not write to, either.
void Heap::in_child() {
  const Place& place = heap.place_;
  if (mmap(place.start, place.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED, place.file, 0) ==
      MAP_FAILED)
    (void)mprotect(place.start, place.bytes, PROT_READ);
  heap.place_.layout = 0;  // not shared any more
  pthread_mutex_unlock(&Locked::mutex);
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  bool fresh = false;
  return bytes >= from_bytes ? heap.allocate(bytes, alignment, fresh) : nullptr;
}

void* aligned(std::size_t alignment, std::size_t bytes) {
  if (void* const block = allocate(bytes, alignment)) return block;
  return find_next() ? next.memalign(alignment, bytes) : nullptr;
}

bool is_power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace

extern "C" {

[[gnu::visibility("default")]] const Place* heddle_shared_heap() { return heap.place(); }

[[gnu::visibility("default")]] void* malloc(std::size_t bytes) {
  if (void* const block = allocate(bytes, 1)) return block;
  return find_next() ? next.malloc(bytes) : take_spare(bytes);
}

[[gnu::visibility("default")]] void free(void* block) {
  if (block == nullptr || is_spare(block)) return;
  if (heap.contains(block)) return heap.release(block);
  if (find_next()) next.free(block);
}

[[gnu::visibility("default")]] void* calloc(std::size_t n, std::size_t bytes) {
  std::size_t all = 0;
  if (__builtin_mul_overflow(n, bytes, &all)) {
    errno = ENOMEM;
    return nullptr;
  }
  bool fresh = false;
  void* const block = all >= from_bytes ? heap.allocate(all, 1, fresh) : nullptr;
  if (block != nullptr) return fresh ? block : std::memset(block, 0, all);
  return find_next() ? next.calloc(n, bytes) : take_spare(all);
}

[[gnu::visibility("default")]] void* realloc(void* block, std::size_t bytes) {
  if (block == nullptr) return malloc(bytes);
  const bool ours = heap.contains(block);
  if (bytes == 0) {
    free(block);
    return nullptr;
  }
  if (ours && bytes >= from_bytes && heap.resize(block, bytes)) return block;
  if (!ours && !is_spare(block) && bytes < from_bytes && find_next()) return next.realloc(block, bytes);
  // It moves from one heap to the other, or to another place of ours.
  void* const moved = malloc(bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, block, std::min(bytes, malloc_usable_size(block)));
  free(block);
  return moved;
}

[[gnu::visibility("default")]] void* memalign(std::size_t alignment, std::size_t bytes) {
  return aligned(alignment, bytes);
}

[[gnu::visibility("default")]] void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return aligned(alignment, bytes);
}

[[gnu::visibility("default")]] int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  if (!is_power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
  void* const found = aligned(alignment, bytes);
  if (found == nullptr) return ENOMEM;
  *block = found;
  return 0;
}

[[gnu::visibility("default")]] void* valloc(std::size_t bytes) { return aligned(Arena::page, bytes); }

[[gnu::visibility("default")]] void* pvalloc(std::size_t bytes) {
  return aligned(Arena::page, (bytes + Arena::page - 1) / Arena::page * Arena::page);
}

[[gnu::visibility("default")]] std::size_t malloc_usable_size(void* block) {
  if (block == nullptr) return 0;
  if (is_spare(block)) return static_cast<std::size_t>(spare + sizeof spare - static_cast<std::byte*>(block));
  if (heap.contains(block)) return heap.size_of(block);
  return find_next() ? next.usable(block) : 0;
}

}  // extern "C"
}  // namespace heddle::shared_heap
