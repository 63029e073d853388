#include "base/progress/setting.hpp"

#include <charconv>
#include <string>

namespace heddle::progress {

namespace {

Result<Deferral> parse_deferral(std::string_view word) {
  if (word == "tasklet") return Deferral::tasklet;
  if (word == "direct") return Deferral::direct;
  return refuse("defer=%s is neither tasklet nor direct", std::string(word).c_str());
}

Result<std::size_t> parse_bytes(std::string_view word) {
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error == std::errc() && end == word.data() + word.size()) return bytes;
  return refuse("from=%s is not a number of bytes", std::string(word).c_str());
}

}  // namespace

Result<Setting> parse_setting(std::string_view text) {
  Setting setting;
  if (text.empty()) return setting;
  const std::string_view help = text.substr(0, text.find(','));
  if (help != "idle" && help != "off") return refuse("'%s' is neither idle nor off", std::string(help).c_str());
  setting.help = help == "idle" ? Help::idle : Help::off;
  bool bounded = false;
  for (std::string_view rest = text.substr(help.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(part.size());
    if (part.starts_with("defer=")) {
      const Result<Deferral> deferral = parse_deferral(part.substr(6));
      if (!deferral) return deferral.failure();
      setting.deferral = *deferral;
    } else if (part.starts_with("from=")) {
      const Result<std::size_t> bytes = parse_bytes(part.substr(5));
      if (!bytes) return bytes.failure();
      setting.from = *bytes;
      bounded = true;
    } else {
      return refuse("'%s' is none of defer=tasklet, defer=direct, from=BYTES", std::string(part).c_str());
    }
  }
  if (bounded && setting.deferral == Deferral::none)
    return refuse("from= needs defer=, since it applies to deferred sends");
  if (setting.help == Help::off && setting.deferral != Deferral::none)
    return refuse("defer= needs idle, since sends are deferred to idle cores");
  return setting;
}

}  // namespace heddle::progress
