#include <sys/mman.h>

#include <mutex>
#include <utility>

#include "base/platform/address_range.hpp"
#include "base/threads/mutex.hpp"
#include "objects/object/object.hpp"

namespace heddle::arena {

Extent extents[kind_count];

namespace {

constexpr std::size_t region_size = std::size_t{1} << region_bits;

// The contents of an unused slot. `handle` overlays Object::handle and stays 0.
struct FreeSlot {
  std::uintptr_t handle;
  FreeSlot* next;
  std::uint16_t generation;
};

struct Region {
  threads::Mutex mutex;
  FreeSlot* free = nullptr;
  std::size_t used = 0;    // bytes from the region's start that were ever handed out
  std::size_t stride = 0;  // slot size, fixed by the first object
};

Region regions[kind_count];
std::once_flag found;

platform::AddressRange range;  // of all kinds, side by side

std::byte* region_start(Kind kind) { return range.start() + region_size * static_cast<std::size_t>(kind); }

void find_range() {
  if (!range.find(region_size * kind_count)) return;
  for (int kind = 0; kind < kind_count; ++kind)
    extents[kind].start = reinterpret_cast<std::uintptr_t>(region_start(static_cast<Kind>(kind)));
}

constexpr std::size_t growth = std::size_t{1} << 18;

void grow(Kind kind) {
  Extent& extent = extents[static_cast<int>(kind)];
  const std::size_t before = extent.bytes.load(std::memory_order_relaxed);
  const std::size_t at = region_size * static_cast<std::size_t>(kind) + before;
  if (range.start() == nullptr || !range.map(at, growth)) throw std::bad_alloc();
  madvise(range.start() + at, growth, MADV_NOHUGEPAGE);
  extent.bytes.store(before + growth, std::memory_order_release);
}

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

void* take(Kind kind, std::size_t size, std::uint16_t& generation) {
  std::call_once(found, find_range);
  Region& region = regions[static_cast<int>(kind)];
  std::lock_guard guard(region.mutex);
  if (FreeSlot* slot = region.free) {
    region.free = slot->next;
    generation = slot->generation;
    return slot;
  }
  region.stride = round_up(size, 64);
  if (region.used + region.stride > region_size) throw std::bad_alloc();
  while (region.used + region.stride > extents[static_cast<int>(kind)].bytes.load(std::memory_order_relaxed))
    grow(kind);
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
  for (int i = 0; i < kind_count; ++i) {
    const std::uintptr_t offset = (handle & address_mask) - extents[i].start;
    if (offset >= extents[i].bytes.load(std::memory_order_relaxed)) continue;
    kind = static_cast<Kind>(i);
    Region& region = regions[i];
    const std::lock_guard guard(region.mutex);
    return offset < region.used && offset % region.stride == 0;
  }
  return false;
}

namespace {

threads::Mutex lent_mutex;  // guards the list, the links in it, and the handles of objects in it
LentHandle* lent = nullptr;

bool is_constant(const Object& object) { return object.handle != 0 && object.handle < first_user_handle; }

}  // namespace

void end_handle(Object& object) {
  const std::lock_guard guard(lent_mutex);
  bool is_lent = false;
  for (LentHandle* one = lent; one != nullptr; one = one->next_)
    if (&one->object_ == &object) is_lent = one->ended_ = true;
  if (!is_lent) object.handle = 0;
}

bool is_ended(const Object& object) {
  const std::lock_guard guard(lent_mutex);
  const LentHandle* const one = LentHandle::first_of(object);
  return one != nullptr && one->ended_;
}

}  // namespace heddle::arena

namespace heddle {

LentHandle* LentHandle::first_of(const Object& object) {
  LentHandle* one = arena::lent;
  while (one != nullptr && &one->object_ != &object) one = one->next_;
  return one;
}

LentHandle::LentHandle(Object& object) : object_(object), value_(object.handle) {
  if (arena::is_constant(object)) return;
  const std::lock_guard guard(arena::lent_mutex);
  const LentHandle* const other = first_of(object);
  ended_ = other != nullptr ? other->ended_ : object.handle == 0;
  object.handle = value_ = arena::make_handle(object);
  next_ = std::exchange(arena::lent, this);
  if (next_ != nullptr) next_->previous_ = this;
}

LentHandle::~LentHandle() {
  if (value_ < arena::first_user_handle) return;
  const std::lock_guard guard(arena::lent_mutex);
  if (next_ != nullptr) next_->previous_ = previous_;
  (previous_ != nullptr ? previous_->next_ : arena::lent) = next_;
  if (ended_ && first_of(object_) == nullptr) object_.handle = 0;
}

}  // namespace heddle
