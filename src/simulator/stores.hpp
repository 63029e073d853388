// Stores that other cores do not see yet: the store buffer of a core, while schedules are fuzzed.
//
// Atomic stores alone are delayed, since the program itself performs all others. They leave in order, as on x86; under the weak
// memory model in any order, but for a releasing store, which leaves after all that are older.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace heddle::simulator {

class Stores {
 public:
  bool empty() const { return delayed_.empty(); }

  template <class T>
  void add(volatile T* at, T value, bool releases) {
    if (const Delayed* older = covering(reinterpret_cast<std::uintptr_t>(at), sizeof(T));
        older != nullptr && older->bytes != sizeof(T))
      leave_all();
    delayed_.push_back({reinterpret_cast<std::uintptr_t>(at), static_cast<std::uint64_t>(value), sizeof(T), releases});
    if (delayed_.size() > most) leave(0);
  }

  // The value that the thread itself has stored there last. False: no delayed store touches these bytes.
  template <class T>
  bool newest(const volatile T* at, T& value) {
    const Delayed* const found = covering(reinterpret_cast<std::uintptr_t>(at), sizeof(T));
    if (found == nullptr) return false;
    if (found->at == reinterpret_cast<std::uintptr_t>(at) && found->bytes == sizeof(T)) {
      value = static_cast<T>(found->value);
      return true;
    }
    leave_all();
    return false;
  }
  bool touches(std::uintptr_t at, std::size_t bytes) const { return covering(at, bytes) != nullptr; }

  // One store leaves; another one than the oldest only if nothing forbids it to pass the older ones.
  void leave_one(std::size_t chosen) {
    const std::size_t i = chosen % delayed_.size();
    bool alone = !delayed_[i].releases;
    for (std::size_t older = 0; older != i; ++older) alone = alone && delayed_[older].at != delayed_[i].at;
    leave(alone ? i : 0);
  }
  void leave_all() {
    while (!delayed_.empty()) leave(0);
  }

 private:
  static constexpr std::size_t most = 32;
  struct Delayed {
    std::uintptr_t at;
    std::uint64_t value;
    std::size_t bytes;
    bool releases;
  };
  const Delayed* covering(std::uintptr_t at, std::size_t bytes) const {
    for (auto it = delayed_.rbegin(); it != delayed_.rend(); ++it)
      if (it->at < at + bytes && at < it->at + it->bytes) return &*it;
    return nullptr;
  }
  void leave(std::size_t i) {
    const Delayed store = delayed_[i];
    delayed_.erase(delayed_.begin() + static_cast<std::ptrdiff_t>(i));
    std::memcpy(reinterpret_cast<void*>(store.at), &store.value, store.bytes);
  }
  std::vector<Delayed> delayed_;
};

}  // namespace heddle::simulator
