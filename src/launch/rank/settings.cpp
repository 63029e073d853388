#include "launch/rank/settings.hpp"

#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

#include "base/threads/mutex.hpp"
#include "launch/boot/variables.hpp"
#include "launch/rank/rank.hpp"

namespace heddle {

namespace {

// The settings of each rank. Never destroyed: settings are read from the constructors of other static objects, and
// until the process ends.
struct Changes {
  threads::Mutex mutex;
  std::map<std::pair<const Rank*, std::string>, std::string> values;
};
Changes& changes() {
  static Changes& all = *new Changes;
  return all;
}

}  // namespace

std::string setting(const char* name) {
  Changes& all = changes();
  std::lock_guard guard(all.mutex);
  const auto found = all.values.find({rank_of_thread, name});
  const char* const value = found != all.values.end() ? found->second.c_str() : std::getenv(name);
  return value != nullptr ? boot::spelled(name, value) : "";
}

void change_setting(const char* name, std::string value) {
  Changes& all = changes();
  std::lock_guard guard(all.mutex);
  all.values.insert_or_assign({rank_of_thread, name}, std::move(value));
}

}  // namespace heddle
