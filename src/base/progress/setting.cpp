#include "base/progress/setting.hpp"

#include <charconv>

namespace heddle::progress {

namespace {

bool parse_deferral(std::string_view word, Deferral& deferral, std::string& why) {
  if (word == "tasklet") {
    deferral = Deferral::tasklet;
  } else if (word == "direct") {
    deferral = Deferral::direct;
  } else {
    why = "defer=" + std::string(word) + " is neither tasklet nor direct";
    return false;
  }
  return true;
}

bool parse_bytes(std::string_view word, std::size_t& bytes, std::string& why) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), bytes);
  if (error == std::errc() && end == word.data() + word.size()) return true;
  why = "from=" + std::string(word) + " is not a number of bytes";
  return false;
}

}  // namespace

bool parse_setting(std::string_view text, Setting& setting, std::string& why) {
  if (text.empty()) return true;
  const std::string_view help = text.substr(0, text.find(','));
  if (help != "idle" && help != "off") {
    why = "'" + std::string(help) + "' is neither idle nor off";
    return false;
  }
  setting.help = help == "idle" ? Help::idle : Help::off;
  bool bounded = false;
  for (std::string_view rest = text.substr(help.size()); !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(part.size());
    if (part.starts_with("defer=")) {
      if (!parse_deferral(part.substr(6), setting.deferral, why)) return false;
    } else if (part.starts_with("from=")) {
      if (!parse_bytes(part.substr(5), setting.from, why)) return false;
      bounded = true;
    } else {
      why = "'" + std::string(part) + "' is none of defer=tasklet, defer=direct, from=BYTES";
      return false;
    }
  }
  if (bounded && setting.deferral == Deferral::none) {
    why = "from= needs defer=, since it applies to deferred sends";
    return false;
  }
  if (setting.help == Help::off && setting.deferral != Deferral::none) {
    why = "defer= needs idle, since sends are deferred to idle cores";
    return false;
  }
  return true;
}

}  // namespace heddle::progress
