// Engines and VNIs for combinations that no preset names: the same parts, with the lock behind virtual calls and the way of waiting
// behind a switch. docs/results has the measured cost.
#include <type_traits>

#include "base/safety/any_lock.hpp"
#include "base/safety/native_access.hpp"
#include "messaging/engine/any_waiting.hpp"
#include "messaging/engine/asked_models.hpp"
#include "messaging/engine/composed_engine.hpp"
#include "messaging/engine/presets.hpp"

namespace heddle::engine {

namespace {

using safety::AnyLock;

// Calls make(make_access), where make_access(state) returns the access that these parts compose. Offload is not here: it has one way of
// waiting only, so it is always a preset.
template <class Make>
auto by_parts(safety::Lock lock, safety::Submission submission, Make&& make) {
  switch (submission) {
    case safety::Submission::csync:
      return make([](message::VniState& state) { return safety::native::CombiningAccess(state.parts().counters); });
    case safety::Submission::lockq:
      return make([lock](message::VniState& state) {
        return safety::native::QueueAccess<AnyLock>(state.parts().counters, lock);
      });
    case safety::Submission::inject:
      return make([lock](message::VniState& state) {
        return safety::native::InjectAccess<AnyLock>(state.parts().counters, lock);
      });
    case safety::Submission::flux:
      return make([lock](message::VniState& state) {
        return safety::native::FluxAccess<AnyLock>(state.parts().counters, lock);
      });
    case safety::Submission::split:
      return make([lock](message::VniState& state) {
        return safety::native::SplitAccess<AnyLock>(state.parts().counters, lock);
      });
    default:
      return make([lock](message::VniState& state) {
        return safety::native::LockAccess<AnyLock>(state.parts().counters, lock);
      });
  }
}

template <class MakeAccess>
using AccessOf = std::invoke_result_t<MakeAccess, message::VniState&>;

}  // namespace

std::unique_ptr<Engine> compose(Rank& rank, const safety::Model& model) {
  return by_parts(model.lock, model.submission, [&](auto make_access) -> std::unique_ptr<Engine> {
    return std::make_unique<ComposedEngine<AccessOf<decltype(make_access)>, AnyWaiting>>(rank, model, make_access);
  });
}

std::unique_ptr<Vni> compose_vni(Rank& rank, wake::Wake& wake, const AskedModel& model, int index) {
  return by_parts(model.lock, model.submission, [&](auto make_access) -> std::unique_ptr<Vni> {
    return std::make_unique<ComposedVni<AccessOf<decltype(make_access)>>>(rank, wake, index, make_access);
  });
}

}  // namespace heddle::engine
