#include "messaging/engine/blocked.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/threads/carried.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/rank/rank.hpp"
#include "objects/object/request.hpp"

namespace heddle::engine {

namespace {

using boot::Awaited;

constexpr std::uint32_t unplaced = ~std::uint32_t{0};
constexpr std::uint32_t tries = 32;

// The slot at which this kernel thread begins its search for a free one: the slot that it freed last, or the one after the slot that it
// took last. Functions that use it are not inlined: a user-level thread may continue on another kernel thread, and must compute the
// address again.
constinit thread_local std::uint32_t next_slot = unplaced;

[[gnu::noinline]] void start_next_at(std::uint32_t slot) { next_slot = slot; }

std::int64_t coarse_now() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

std::uint32_t thread_id() {
  static constinit thread_local std::uint32_t id = 0;
  if (id == 0) id = static_cast<std::uint32_t>(gettid());
  return id;
}

std::uint16_t current_call() {
  const std::atomic<std::uint64_t>* const calls = threads::shown.call;
  return calls != nullptr ? boot::call_of(calls->load(std::memory_order_relaxed)) : 0;
}

[[gnu::noinline]] boot::WaitSlot* take_slot(boot::RankRecord& record, const boot::Wait& wait) {
  if (next_slot == unplaced) next_slot = record.slots_used.load(std::memory_order_relaxed) % boot::wait_slots;
  const std::uint32_t thread = thread_id();
  for (std::uint32_t i = 0; i < tries; ++i) {
    const std::uint32_t at = (next_slot + i) % boot::wait_slots;
    if (!record.waits[at].take(thread, wait)) continue;
    next_slot = (at + 1) % boot::wait_slots;
    std::uint32_t used = record.slots_used.load(std::memory_order_relaxed);
    while (used <= at && !record.slots_used.compare_exchange_weak(used, at + 1, std::memory_order_relaxed)) {
    }
    return &record.waits[at];
  }
  return nullptr;
}

Awaited kind_of(const Request& request) {
  const auto plane = static_cast<Plane>(request.context % planes);
  if (request.type != nullptr && request.type->awaited != Awaited::unknown) return request.type->awaited;
  if (plane == Plane::window && request.receives) return Awaited::target_answer;
  if (request.receives) return plane == Plane::collective ? Awaited::operation_message : Awaited::message;
  if (request.type != nullptr && !request.persistent) return Awaited::unknown;
  return plane == Plane::collective ? Awaited::operation_delivery : Awaited::delivery;
}

}  // namespace

Blocked::Blocked(Rank& rank, const boot::Wait* wait) : rank_(rank) {
  if (wait == nullptr) return;
  boot::Wait mine = *wait;
  mine.since = coarse_now();
  mine.call = current_call();
  mine.user_level = static_cast<bool>(threads::user_level());
  boot::RankRecord& record = rank.job->record();
  slot_ = take_slot(record, mine);
  counted_ = slot_ == nullptr;
  if (counted_) record.waits_without_slot.fetch_add(1, std::memory_order_relaxed);
}

Blocked::~Blocked() {
  if (slot_ != nullptr) {
    slot_->give_back();
    start_next_at(static_cast<std::uint32_t>(slot_ - rank_.job->record().waits));
  } else if (counted_) {
    rank_.job->record().waits_without_slot.fetch_sub(1, std::memory_order_relaxed);
  }
}

void add_request(boot::Wait& wait, const Request& request) {
  if (wait.requests++ != 0) return;
  wait.what = kind_of(request);
  if (wait.what == Awaited::unknown) return;
  wait.context = request.context;
  wait.peer = request.receives ? request.source : request.peer;
  wait.tag = request.tag;
}

}  // namespace heddle::engine
