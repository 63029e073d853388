#include "objects/object/info.hpp"

#include <algorithm>

#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle {

namespace {

auto find(auto& items, std::string_view key) {
  return std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == key; });
}

}  // namespace

std::optional<std::string> Info::get(std::string_view key) const {
  std::lock_guard guard(mutex);
  const auto found = find(items, key);
  if (found == items.end()) return std::nullopt;
  return found->second;
}

void Info::set(std::string_view key, std::string_view value) {
  std::lock_guard guard(mutex);
  const auto found = find(items, key);
  if (found == items.end()) {
    items.emplace_back(key, value);
  } else {
    found->second = value;
  }
}

bool Info::remove(std::string_view key) {
  std::lock_guard guard(mutex);
  const auto found = find(items, key);
  if (found == items.end()) return false;
  items.erase(found);
  return true;
}

InfoEntries Info::entries() const {
  std::lock_guard guard(mutex);
  return items;
}

Info* make_info(InfoEntries entries) {
  Info* info = make_object<Info>();
  info->items = std::move(entries);
  return info;
}

Info* object(MPI_Info handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value >= arena::first_user_handle) return live_object<Info>(value);
  return handle == MPI_INFO_ENV ? &current_rank().tables->environment_info() : nullptr;
}

}  // namespace heddle
