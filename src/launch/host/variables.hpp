// Variables of libc that are part of its interface, as one rank sees them.
//
// A program has its own copy of such a variable (a copy relocation) or reads it through a pointer that the loader has
// filled; libc itself knows neither. So the functions that use these variables are ours (streams, environment, getopt)
// and read them here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heddle::host {

enum class Variable : std::uint8_t {
  standard_input,
  standard_output,
  standard_error,
  environment,
  option_argument,
  option_index,
  option_errors,
  option_unknown,
  program_name,
  short_program_name,
  none
};
inline constexpr int variable_count = static_cast<int>(Variable::none);

// The variable that a symbol names; `none` for all others.
Variable variable_named(std::string_view symbol);

class Variables {
 public:
  // The variable of type T, at the place where the rank's program reads it.
  template <class T>
  T& get(Variable which) {
    return *static_cast<T*>(place(which));
  }
  void* place(Variable which) {
    const auto i = static_cast<std::size_t>(which);
    return places_[i] != nullptr ? places_[i] : &own_[i];
  }
  // The program has a copy of its own here.
  void move_to(Variable which, void* place) { places_[static_cast<std::size_t>(which)] = place; }

 private:
  std::array<void*, variable_count> places_{};
  std::array<std::uint64_t, variable_count> own_{};
};

}  // namespace heddle::host
