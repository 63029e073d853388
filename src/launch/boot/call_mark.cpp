#include "launch/boot/call_mark.hpp"

#include <unistd.h>

namespace heddle::boot {

ThreadRecord* take_thread_record(RankRecord& rank) {
  const auto self = static_cast<std::uint32_t>(gettid());
  for (ThreadRecord& record : rank.threads) {
    std::uint32_t free = 0;
    if (record.owner.load(std::memory_order_relaxed) == 0 && record.owner.compare_exchange_strong(free, self)) {
      return &record;
    }
  }
  return nullptr;
}

void give_back_thread_record(ThreadRecord& record) {
  record.calls.store(0, std::memory_order_relaxed);
  record.owner.store(0, std::memory_order_release);
}

}  // namespace heddle::boot
