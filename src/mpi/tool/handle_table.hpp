// Handles of the tool interface. A handle is a number that is used once, so a freed or an invented one is distinguished
// from a live one. Tools call seldom; a map is fast enough.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace heddle::tool {

template <class T, class Handle>
class HandleTable {
 public:
  Handle add(std::unique_ptr<T> object) {
    live_.emplace(++last_, std::move(object));
    return reinterpret_cast<Handle>(last_);
  }
  // Null: there is no such handle.
  T* find(Handle handle) const {
    const auto found = live_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == live_.end() ? nullptr : found->second.get();
  }
  bool remove(Handle handle) { return live_.erase(reinterpret_cast<std::uintptr_t>(handle)) != 0; }
  void clear() { live_.clear(); }

  template <class F>
  void for_each(F&& f) const {
    for (const auto& [name, object] : live_) f(*object);
  }

 private:
  std::map<std::uintptr_t, std::unique_ptr<T>> live_;
  std::uintptr_t last_ = 0x1000;  // the standard's constants are below
};

}  // namespace heddle::tool
