// The values of HEDDLE_PROGRESS: `off`, or `idle`, to which deferred submission may be added:
// `idle,defer=direct,from=1024`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"

namespace heddle::progress {

enum class Help : std::uint8_t { by_default, off, idle };

// The path of a deferred nonblocking send to an idle core (base/progress/idle_cores.hpp).
enum class Deferral : std::uint8_t { none, tasklet, direct };

// The default of `from`. The best value depends on the machine: `heddle bench run deferred-call` shows it.
inline constexpr std::size_t deferred_bytes = 2048;

struct Setting {
  Help help = Help::by_default;
  Deferral deferral = Deferral::none;
  std::size_t from = deferred_bytes;  // bytes of the shortest message that is deferred
};

// Empty: the default. A failure: a word is unknown, or the words can't stand together.
Result<Setting> parse_setting(std::string_view text);

}  // namespace heddle::progress
