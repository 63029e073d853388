#include "base/safety/any_lock.hpp"

#include <memory>
#include <new>

#include "base/platform/native.hpp"
#include "base/safety/locality.hpp"
#include "base/safety/no_lock.hpp"
#include "base/safety/thread_node.hpp"
#include "base/sync/clh_lock.hpp"
#include "base/sync/clhub_lock.hpp"
#include "base/sync/cohort_lock.hpp"
#include "base/sync/futex_lock.hpp"
#include "base/sync/hmcs_lock.hpp"
#include "base/sync/mcs_lock.hpp"
#include "base/sync/mutex_lock.hpp"
#include "base/sync/pclh_lock.hpp"
#include "base/sync/reserved_lock.hpp"
#include "base/sync/tas_lock.hpp"
#include "base/sync/ticket_lock.hpp"
#include "base/sync/ttas_lock.hpp"

namespace heddle::safety {

using platform::Native;

template <sync::Lock L>
struct AnyLock::HeldAs final : Held {
  using Node = NodeFor<typename L::node>;
  static_assert(sizeof(Node) <= room);
  static_assert(alignof(Node) <= platform::cache_line);

  template <class... Args>
  explicit HeldAs(const Args&... args) : held(args...) {}

  void lock(std::byte* at) override { held.lock(**new (at) Node(&held)); }
  void lock_low(std::byte* at) override { sync::lock_low(held, **new (at) Node(&held)); }
  bool try_lock(std::byte* at) override {
    Node* const node = new (at) Node(&held);
    if (held.try_lock(**node)) return true;
    std::destroy_at(node);
    return false;
  }
  void unlock(std::byte* at) override {
    Node* const node = std::launder(reinterpret_cast<Node*>(at));
    held.unlock(**node);
    std::destroy_at(node);
  }

  L held;
};

std::unique_ptr<AnyLock::Held> AnyLock::make(Lock kind) {
  switch (kind) {
    case Lock::none:
      return std::make_unique<HeldAs<NoLock>>();
    case Lock::reserved:
      return std::make_unique<HeldAs<sync::ReservedLock<Native, sync::FutexLock<Native>>>>();
    case Lock::mutex:
      return std::make_unique<HeldAs<sync::MutexLock<Native>>>();
    case Lock::futex:
      return std::make_unique<HeldAs<sync::FutexLock<Native>>>();
    case Lock::tas:
      return std::make_unique<HeldAs<sync::TasLock<Native>>>();
    case Lock::ttas:
      return std::make_unique<HeldAs<sync::TtasLock<Native>>>();
    case Lock::ticket:
      return std::make_unique<HeldAs<sync::TicketLock<Native>>>();
    case Lock::clh:
      return std::make_unique<HeldAs<sync::ClhLock<Native>>>();
    case Lock::mcs:
      return std::make_unique<HeldAs<sync::McsLock<Native>>>();
    case Lock::hmcs2:
      return std::make_unique<HeldAs<sync::HmcsLock<Native, 2>>>(numa_topology());
    case Lock::hmcs3:
      return std::make_unique<HeldAs<sync::HmcsLock<Native, 3>>>(core_topology());
    case Lock::cohort:
      return std::make_unique<HeldAs<sync::CohortLock<Native>>>(numa_topology());
    case Lock::p_clh:
      return std::make_unique<HeldAs<sync::PClhLock<Native>>>();
    case Lock::clhub:
      return std::make_unique<HeldAs<sync::ClhubLock<Native>>>();
    case Lock::hclhub:
      return std::make_unique<HeldAs<sync::HclhubLock<Native>>>(numa_topology());
  }
  return nullptr;  // every kind is above
}

}  // namespace heddle::safety
