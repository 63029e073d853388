#include "rank/settings.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

namespace heddle {

namespace {

// Never destroyed: settings are read from the constructors of other static objects, and until the process ends.
struct Changes {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> values;
};
Changes& changes() {
  static Changes& all = *new Changes;
  return all;
}

}  // namespace

std::string setting(const char* name) {
  Changes& all = changes();
  std::lock_guard guard(all.mutex);
  if (const auto found = all.values.find(std::string_view(name)); found != all.values.end()) return found->second;
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

void change_setting(const char* name, std::string value) {
  Changes& all = changes();
  std::lock_guard guard(all.mutex);
  all.values.insert_or_assign(name, std::move(value));
}

}  // namespace heddle
