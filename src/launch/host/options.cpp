// getopt, getopt_long and getopt_long_only of a rank.
//
// libc's own can't serve several programs: they keep their place in variables of libc that a copy of the program does not
// see. Behaves as glibc's: operands are moved behind the options (unless POSIXLY_CORRECT or a leading '+' says that the
// first ends them, or a leading '-' that they count as options with the letter 1), "--" ends the options, long names may be
// abbreviated.
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/platform/next_function.hpp"
#include "launch/host/seat.hpp"

namespace heddle::host {
namespace {

enum class Order { permute, stop_at_operand, return_operands };

class OptionReader {
 public:
  OptionReader(Seat& seat, int argc, char* const* argv, const char* letters)
      : seat_(seat),
        state_(seat.libc),
        index_(seat.variables.get<int>(Variable::option_index)),
        argument_(seat.variables.get<char*>(Variable::option_argument)),
        unknown_(seat.variables.get<int>(Variable::option_unknown)),
        argc_(argc),
        argv_(const_cast<char**>(argv)) {
    order_ = seat.environment.get("POSIXLY_CORRECT") != nullptr ? Order::stop_at_operand : Order::permute;
    if (*letters == '-' || *letters == '+')
      order_ = *letters++ == '-' ? Order::return_operands : Order::stop_at_operand;
    quiet_ = *letters == ':';
    if (quiet_) ++letters;
    letters_ = letters;
    if (index_ == 0) {  // the program begins anew
      index_ = 1;
      state_.option_rest = nullptr;
      state_.first_operand = state_.last_operand = 1;
    }
  }

  int next(const option* names, int* chosen, bool long_only) {
    argument_ = nullptr;
    if (state_.option_rest == nullptr || *state_.option_rest == '\0') {
      if (const int end = find_word(); end != 0) return end;
      char* word = argv_[index_];
      if (names != nullptr &&
          (word[1] == '-' || (long_only && (word[2] != '\0' || strchr(letters_, word[1]) == nullptr)))) {
        const int dashes = word[1] == '-' ? 2 : 1;
        const int result = long_name(word + dashes, dashes, names, chosen, long_only && dashes == 1);
        if (result != not_long) return result;
      }
      state_.option_rest = word + 1;
    }
    return letter();
  }

 private:
  static constexpr int not_long = -2;

  bool is_operand(const char* word) const { return word[0] != '-' || word[1] == '\0'; }

  // Moves to the next word with options. 0, or the caller's return value.
  int find_word() {
    state_.first_operand = std::min(state_.first_operand, index_);
    state_.last_operand = std::min(state_.last_operand, index_);
    if (order_ == Order::permute) {
      put_operands_behind();
      while (index_ < argc_ && is_operand(argv_[index_])) ++index_;
      state_.last_operand = index_;
    }
    if (index_ < argc_ && strcmp(argv_[index_], "--") == 0) {
      ++index_;
      put_operands_behind();
      if (state_.first_operand == state_.last_operand) state_.first_operand = index_;
      state_.last_operand = index_ = argc_;
    }
    if (index_ >= argc_) {
      if (state_.first_operand != state_.last_operand) index_ = state_.first_operand;
      return -1;
    }
    if (is_operand(argv_[index_])) {
      if (order_ == Order::stop_at_operand) return -1;
      argument_ = argv_[index_++];
      return 1;
    }
    return 0;
  }

  // The skipped operands change places with the options that have been read since.
  void put_operands_behind() {
    if (state_.first_operand != state_.last_operand && state_.last_operand != index_) {
      std::rotate(argv_ + state_.first_operand, argv_ + state_.last_operand, argv_ + index_);
      state_.first_operand += index_ - state_.last_operand;
      state_.last_operand = index_;
    } else if (state_.last_operand != index_) {
      state_.first_operand = index_;
    }
  }

  int letter() {
    const char c = *state_.option_rest++;
    const char* found = c != ':' && c != ';' ? strchr(letters_, c) : nullptr;
    const bool last = *state_.option_rest == '\0';
    if (last) ++index_;
    if (found == nullptr) {
      unknown_ = static_cast<unsigned char>(c);
      return complain("invalid option -- '" + std::string(1, c) + "'");
    }
    if (found[1] != ':') return static_cast<unsigned char>(c);
    if (!last) {
      argument_ = state_.option_rest;
      ++index_;
    } else if (found[2] != ':') {
      if (index_ >= argc_) {
        unknown_ = static_cast<unsigned char>(c);
        state_.option_rest = nullptr;
        return complain("option requires an argument -- '" + std::string(1, c) + "'", true);
      }
      argument_ = argv_[index_++];
    }
    state_.option_rest = nullptr;
    return static_cast<unsigned char>(c);
  }

  int long_name(char* text, int dashes, const option* names, int* chosen, bool may_be_letters) {
    const char* equals = strchr(text, '=');
    const std::string_view name(text, equals != nullptr ? static_cast<std::size_t>(equals - text) : strlen(text));
    const std::string shown = std::string(static_cast<std::size_t>(dashes), '-') + std::string(name);
    const option* found = nullptr;
    bool ambiguous = false;
    for (const option* one = names; one->name != nullptr; ++one) {
      if (std::string_view(one->name) == name) {
        found = one;
        ambiguous = false;
        break;
      }
      if (!std::string_view(one->name).starts_with(name)) continue;
      ambiguous = ambiguous || (found != nullptr &&
                                (found->has_arg != one->has_arg || found->flag != one->flag || found->val != one->val));
      if (found == nullptr) found = one;
    }
    if (found == nullptr && may_be_letters && strchr(letters_, *text) != nullptr) return not_long;
    ++index_;
    state_.option_rest = nullptr;
    unknown_ = 0;
    if (ambiguous) return complain("option '" + shown + "' is ambiguous");
    if (found == nullptr) return complain("unrecognized option '" + shown + "'");
    unknown_ = found->val;
    if (equals != nullptr && found->has_arg == no_argument)
      return complain("option '" + shown + "' doesn't allow an argument");
    if (equals != nullptr) {
      argument_ = const_cast<char*>(equals) + 1;
    } else if (found->has_arg == required_argument) {
      if (index_ >= argc_) return complain("option '" + shown + "' requires an argument", true);
      argument_ = argv_[index_++];
    }
    if (chosen != nullptr) *chosen = static_cast<int>(found - names);
    if (found->flag == nullptr) return found->val;
    *found->flag = found->val;
    return 0;
  }

  int complain(const std::string& what, bool lacks_argument = false) {
    if (seat_.variables.get<int>(Variable::option_errors) != 0 && !quiet_)
      fprintf(seat_.streams.err(), "%s: %s\n", argv_[0], what.c_str());
    return lacks_argument && quiet_ ? ':' : '?';
  }

  Seat& seat_;
  LibcState& state_;
  int& index_;
  char*& argument_;
  int& unknown_;
  int argc_;
  char** argv_;
  const char* letters_;
  Order order_;
  bool quiet_;
};

using Long = int(int, char* const*, const char*, const option*, int*);
constinit platform::Next<int(int, char* const*, const char*)> next_getopt("getopt");
constinit platform::Next<Long> next_getopt_long("getopt_long");
constinit platform::Next<Long> next_getopt_long_only("getopt_long_only");

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int host_getopt(int, char* const*, const char*) asm("getopt");
[[gnu::visibility("default")]] int host_getopt_long(int, char* const*, const char*, const option*,
                                                    int*) asm("getopt_long");
[[gnu::visibility("default")]] int host_getopt_long_only(int, char* const*, const char*, const option*,
                                                         int*) asm("getopt_long_only");

int host_getopt(int argc, char* const* argv, const char* letters) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? OptionReader(*seat, argc, argv, letters).next(nullptr, nullptr, false)
                         : next_getopt(argc, argv, letters);
}

int host_getopt_long(int argc, char* const* argv, const char* letters, const option* names, int* chosen) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? OptionReader(*seat, argc, argv, letters).next(names, chosen, false)
                         : next_getopt_long(argc, argv, letters, names, chosen);
}

int host_getopt_long_only(int argc, char* const* argv, const char* letters, const option* names, int* chosen) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? OptionReader(*seat, argc, argv, letters).next(names, chosen, true)
                         : next_getopt_long_only(argc, argv, letters, names, chosen);
}
}

}  // namespace heddle::host
