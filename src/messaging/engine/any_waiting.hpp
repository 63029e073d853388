// A way of waiting that the model selects when the program starts, for free compositions.
#pragma once

#include <utility>

#include "base/safety/model.hpp"
#include "messaging/engine/waiting.hpp"

namespace heddle::engine {

struct AnyWaiting {
  static bool peeks(const safety::Model& model) {
    return model.waiting == safety::Waiting::adaptive || model.waiting == safety::Waiting::flag;
  }

  template <class E>
  static void wait(E& e, WaitSet& set) {
    choose(e, [&](auto way) { way.wait(e, set); });
  }
  template <class E, class F>
  static void wait_until(E& e, F&& holds, const boot::Wait* wait) {
    choose(e, [&](auto way) { way.wait_until(e, holds, wait); });
  }
  template <class E>
  static bool progress(E& e, int home) {
    return choose(e, [&](auto way) { return way.progress(e, home); });
  }

 private:
  template <class E, class F>
  static auto choose(E& e, F&& f) {
    switch (e.model().waiting) {
      case safety::Waiting::contend:
        return f(Contend<Urgency::high>());
      case safety::Waiting::contend_low:
        return f(Contend<Urgency::low>());
      case safety::Waiting::backoff:
        return f(BackOff());
      case safety::Waiting::usc:
        return f(Reactivation<Sleep::user>());
      case safety::Waiting::ksc:
        return f(Reactivation<Sleep::kernel>());
      case safety::Waiting::flag:
        return f(WatchOwnFlag());
      case safety::Waiting::adaptive:
        break;
    }
    return f(Adaptive());
  }
};

}  // namespace heddle::engine
