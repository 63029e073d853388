// The VNIs of a rank that belong to requested models (messaging/engine/asked_models.hpp). The first message that needs such a VNI creates
// it; it lives as long as the engine.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "base/threads/mutex.hpp"
#include "messaging/engine/vni.hpp"
#include "network/header.hpp"

namespace heddle::engine {

class AskedVnis {
 public:
  // True if at least one VNI has been created.
  bool any() const { return size_.load(std::memory_order_relaxed) != 0; }

  // Null: this VNI has not been created yet.
  Vni* find(int index) const { return by_index_[static_cast<std::size_t>(index)].load(std::memory_order_acquire); }

  // Returns the VNI of that index. Calls make() to create it, unless another thread has created it first.
  template <class Make>
  Vni& find_or_make(int index, Make&& make) {
    if (Vni* vni = find(index)) return *vni;
    std::lock_guard guard(mutex_);
    if (Vni* vni = find(index)) return *vni;
    const int size = size_.load(std::memory_order_relaxed);
    auto& place = vnis_[static_cast<std::size_t>(size)];
    place = make();
    by_index_[static_cast<std::size_t>(index)].store(place.get(), std::memory_order_release);
    size_.store(size + 1, std::memory_order_release);
    return *place;
  }

  // Any thread may iterate while other threads create VNIs.
  template <class F>
  void for_each(F&& f) const {
    const int size = size_.load(std::memory_order_acquire);
    for (int i = 0; i < size; ++i) f(*vnis_[static_cast<std::size_t>(i)]);
  }
  template <class F>
  bool any_of(F&& f) const {
    const int size = size_.load(std::memory_order_acquire);
    for (int i = 0; i < size; ++i)
      if (f(*vnis_[static_cast<std::size_t>(i)])) return true;
    return false;
  }

 private:
  threads::Mutex mutex_;
  std::atomic<int> size_{0};
  std::array<std::unique_ptr<Vni>, lln::most_vnis> vnis_;  // in order of creation
  std::array<std::atomic<Vni*>, lln::most_vnis> by_index_{};
};

}  // namespace heddle::engine
