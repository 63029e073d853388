// Engines for combinations that no preset names: the same parts, the lock and the way of waiting behind virtual calls and
// a switch. What that costs is measured in docs/results.
#include "p2p/any_waiting.hpp"
#include "p2p/composed_engine.hpp"
#include "p2p/presets.hpp"
#include "safety/any_lock.hpp"
#include "safety/combining_access.hpp"
#include "safety/inject_access.hpp"
#include "safety/lock_access.hpp"
#include "safety/queue_access.hpp"
#include "safety/split_access.hpp"

namespace heddle::p2p {

namespace {

using safety::AnyLock;

template <class Access>
std::unique_ptr<Engine> compose_locked(Rank& rank, const safety::Model& model) {
  return std::make_unique<ComposedEngine<Access, AnyWaiting>>(
      rank, model, [&](Core& core) { return Access(core.counters(), model.lock); });
}

}  // namespace

std::unique_ptr<Engine> compose(Rank& rank, const safety::Model& model) {
  switch (model.submission) {
    case safety::Submission::csync:
      return std::make_unique<ComposedEngine<safety::CombiningAccess, AnyWaiting>>(
          rank, model, [](Core& core) { return safety::CombiningAccess(core.counters()); });
    case safety::Submission::lockq:
      return compose_locked<safety::QueueAccess<AnyLock>>(rank, model);
    case safety::Submission::inject:
      return compose_locked<safety::InjectAccess<AnyLock>>(rank, model);
    case safety::Submission::split:
      return compose_locked<safety::SplitAccess<AnyLock>>(rank, model);
    default:  // offload has one way of waiting, and so is a preset
      return compose_locked<safety::LockAccess<AnyLock>>(rank, model);
  }
}

}  // namespace heddle::p2p
