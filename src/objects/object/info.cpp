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

std::optional<std::string> value_of(const Info* info, KnownKey key) {
  return info != nullptr ? info->get(key) : std::nullopt;
}

InfoEntries known_entries(const Info* info, InfoReader reader) {
  if (info == nullptr) return {};
  InfoEntries entries = info->entries();
  std::erase_if(entries, [reader](const auto& entry) {
    const InfoKey* const known = find_info_key(entry.first);
    return known == nullptr || !known->is_read_by(reader);
  });
  return entries;
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
