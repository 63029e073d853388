#include <sys/mman.h>

#include <mutex>
#include <utility>

#include "object/object.hpp"
#include "threads/mutex.hpp"

namespace heddle::arena {

// Far from any address that a program can have, so that no value passes the region test before the arena exists.
std::uintptr_t base = std::uintptr_t{1} << 63;

namespace {

constexpr std::size_t region_size = std::size_t{1} << region_bits;

// What lies in a slot that nothing lives in. `handle` overlays Object::handle and stays 0.
struct FreeSlot {
  std::uintptr_t handle;
  FreeSlot* next;
  std::uint16_t generation;
};

struct Region {
  threads::Mutex mutex;
  FreeSlot* free = nullptr;
  std::size_t used = 0;    // bytes from the region's start that were ever handed out
  std::size_t mapped = 0;  // bytes from the region's start that there are
  std::size_t stride = 0;  // slot size, fixed by the first object
};

Region regions[kind_count];
std::once_flag reserved;

std::byte* region_start(Kind kind) {
  return reinterpret_cast<std::byte*>(base + (static_cast<std::uintptr_t>(kind) << region_bits));
}

// Addresses where programs, libraries and heaps do not come to lie.
constexpr std::uintptr_t far_base = std::uintptr_t{1} << 45;
constexpr std::size_t growth = std::size_t{1} << 18;

void* map(std::uintptr_t place, std::size_t bytes, int flags) {
  void* space = mmap(reinterpret_cast<void*>(place), bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (space != MAP_FAILED) madvise(space, bytes, MADV_NOHUGEPAGE);
  return space;
}

// All regions at once; or, where a limit on addresses (ulimit -v) forbids that, only their place, and they grow as they
// fill.
void reserve() {
  void* space = map(0, region_size * kind_count, 0);
  if (space == MAP_FAILED) {
    base = far_base;
    return;
  }
  base = reinterpret_cast<std::uintptr_t>(space);
  for (Region& region : regions) region.mapped = region_size;
}

void grow(Kind kind, Region& region) {
  const std::uintptr_t place = reinterpret_cast<std::uintptr_t>(region_start(kind)) + region.mapped;
  void* space = map(place, growth, MAP_FIXED_NOREPLACE);
  if (space == MAP_FAILED) throw std::bad_alloc();
  region.mapped += growth;
}

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

void* take(Kind kind, std::size_t size, std::uint16_t& generation) {
  std::call_once(reserved, reserve);
  Region& region = regions[static_cast<int>(kind)];
  std::lock_guard guard(region.mutex);
  if (FreeSlot* slot = region.free) {
    region.free = slot->next;
    generation = slot->generation;
    return slot;
  }
  region.stride = round_up(size, 64);
  if (region.used + region.stride > region_size) throw std::bad_alloc();
  while (region.used + region.stride > region.mapped) grow(kind, region);
  void* slot = region_start(kind) + region.used;
  region.used += region.stride;
  generation = 1;
  return slot;
}

void give_back(Kind kind, void* slot, std::uint16_t generation) {
  Region& region = regions[static_cast<int>(kind)];
  std::lock_guard guard(region.mutex);
  auto next_generation = static_cast<std::uint16_t>(generation + 1);
  region.free = new (slot) FreeSlot{0, region.free, next_generation};
}

std::uint32_t index_of(Kind kind, const void* slot) {
  const auto offset = static_cast<const std::byte*>(slot) - region_start(kind);
  return static_cast<std::uint32_t>(static_cast<std::size_t>(offset) / regions[static_cast<int>(kind)].stride);
}

void* at_index(Kind kind, std::uint32_t index) {
  Region& region = regions[static_cast<int>(kind)];
  std::lock_guard guard(region.mutex);
  if (region.stride == 0 || (index + std::size_t{1}) * region.stride > region.used) return nullptr;
  return region_start(kind) + index * region.stride;
}

bool find_kind(std::uintptr_t handle, Kind& kind) {
  const std::uintptr_t distance = (handle & address_mask) - base;
  if (distance >> region_bits >= kind_count) return false;
  kind = static_cast<Kind>(distance >> region_bits);
  Region& region = regions[static_cast<int>(kind)];
  std::lock_guard guard(region.mutex);
  const std::uintptr_t offset = distance & (region_size - 1);
  return offset < region.used && offset % region.stride == 0;
}

namespace {

threads::Mutex lent_mutex;  // of the list, and of the links in it
LentHandle* lent = nullptr;

}  // namespace

Object* find_lent(std::uintptr_t handle) {
  std::lock_guard guard(lent_mutex);
  for (const LentHandle* one = lent; one != nullptr; one = one->next_)
    if (one->value_ == handle) return &one->object_;
  return nullptr;
}

}  // namespace heddle::arena

namespace heddle {

LentHandle::LentHandle(Object& object)
    : object_(object),
      value_(object.handle != 0 && object.handle < arena::first_user_handle ? object.handle
                                                                            : arena::make_handle(object)) {
  std::lock_guard guard(arena::lent_mutex);
  next_ = std::exchange(arena::lent, this);
  if (next_ != nullptr) next_->previous_ = this;
}

LentHandle::~LentHandle() {
  std::lock_guard guard(arena::lent_mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : arena::lent) = next_;
}

}  // namespace heddle
