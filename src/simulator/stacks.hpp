// Where an access came from: the functions under execution, and the registers that they keep over calls.
//
// With debug information these are values of the functions' variables, and tell to which object the access was
// (tools/heddle_tool/simulate/objects.py).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace heddle::simulator {

struct Stack {
  static constexpr std::size_t most_frames = 12;
  struct Frame {
    std::uintptr_t pc;                        // the return address of the call that it makes
    std::uintptr_t top;                       // of its part of the stack, while it makes the call
    std::array<std::uintptr_t, 6> registers;  // those that calls preserve, by number: rbx, rbp, r12 to r15
  };
  std::uintptr_t address;  // of the access
  std::uint32_t depth;
  std::array<Frame, most_frames> frames;  // innermost first
  std::array<std::uintptr_t, 64> words;   // of the stack, from the innermost frame's top on
};

// Stacks for the life of the process. They have memory of their own: where the program's objects lie does not depend on them.
class Stacks {
 public:
  Stacks();
  // The caller's, from the function that continues at `pc` on. Null: there is no more room.
  const Stack* take(std::uintptr_t address, std::uintptr_t pc);

 private:
  static constexpr std::size_t most = std::size_t{1} << 19;
  Stack* stacks_;
  std::size_t taken_ = 0;
};

}  // namespace heddle::simulator
