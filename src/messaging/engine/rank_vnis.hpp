// The VNIs of a rank: those of its own model, those of requested models, and the VNI of revoked communicators.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "messaging/engine/asked_vnis.hpp"
#include "messaging/engine/composed_vni.hpp"
#include "messaging/engine/revoked_vni.hpp"
#include "messaging/engine/wait_set.hpp"

namespace heddle::engine {

template <class Access>
class RankVnis {
 public:
  // Creates the rank's own `n` VNIs. make_access(state) returns the access to one of them.
  template <class MakeAccess>
  RankVnis(Rank& rank, wake::Wake& wake, int n, MakeAccess&& make_access) {
    for (int i = 0; i < n; ++i) own_.emplace_back(rank, wake, i, make_access);
    revoked_.emplace(front());
  }

  ComposedVni<Access>& operator[](int index) { return own_[static_cast<std::size_t>(index)]; }
  ComposedVni<Access>& front() { return own_.front(); }
  const ComposedVni<Access>& front() const { return own_.front(); }
  AskedVnis& asked() { return asked_; }
  RevokedVni& revoked() { return *revoked_; }

  // Calls f for every VNI: the rank's own, then those of requested models.
  template <class F>
  void for_each(F&& f) {
    for (auto& vni : own_) f(vni);
    asked_.for_each(f);
  }
  template <class F>
  void for_each(F&& f) const {
    for (const auto& vni : own_) f(vni);
    asked_.for_each(f);
  }
  template <class F>
  bool any_of(F&& f) const {
    for (const auto& vni : own_)
      if (f(vni)) return true;
    return asked_.any() && asked_.any_of(f);
  }
  // Calls f for each VNI that has requests of the set, that of the first request first.
  template <class F>
  void for_each_of(WaitSet& set, F&& f) {
    std::uint64_t vnis = 0;
    int first = 0;
    set.for_each([&](const Request& r) {
      if (vnis == 0) first = index_of(r);
      vnis |= std::uint64_t{1} << index_of(r);
    });
    const auto call = [&](int index) {
      if (static_cast<std::size_t>(index) < own_.size()) [[likely]] {
        f(own_[static_cast<std::size_t>(index)]);
      } else {
        f(*asked_.find(index));
      }
    };
    if (vnis == 0) return;
    call(first);
    for (vnis &= ~(std::uint64_t{1} << first); vnis != 0; vnis &= vnis - 1) call(std::countr_zero(vnis));
  }
  static int index_of(const Request& request) { return request.vni != nullptr ? request.vni->index() : 0; }

 private:
  std::deque<ComposedVni<Access>> own_;
  std::optional<RevokedVni> revoked_;  // set by the constructor
  AskedVnis asked_;
};

}  // namespace heddle::engine
