#include "simulator/stacks.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unwind.h>

#include "simulator/kernel/real.hpp"

namespace heddle::simulator {
namespace {

constexpr std::array<int, 6> preserved = {3, 6, 12, 13, 14, 15};  // as DWARF numbers them
constexpr unsigned deepest = 8;  // the caller may be so many frames of the simulator away

struct Unwinding {
  Stack& stack;
  std::uintptr_t pc;
  unsigned skipped;
};

_Unwind_Reason_Code add_frame(_Unwind_Context* context, void* given) {
  auto& [stack, pc, skipped] = *static_cast<Unwinding*>(given);
  const std::uintptr_t here = _Unwind_GetIP(context);
  if (stack.depth == 0 && here != pc) return ++skipped > deepest ? _URC_NORMAL_STOP : _URC_NO_REASON;
  Stack::Frame& frame = stack.frames[stack.depth++];
  frame.pc = here;
  frame.top = _Unwind_GetCFA(context);
  for (std::size_t i = 0; i != preserved.size(); ++i) frame.registers[i] = _Unwind_GetGR(context, preserved[i]);
  return stack.depth == Stack::most_frames ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

}  // namespace

Stacks::Stacks() {
  const long room = system_call(SYS_mmap, 0, most * sizeof(Stack), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  stacks_ = room < 0 ? nullptr : reinterpret_cast<Stack*>(room);
}

const Stack* Stacks::take(std::uintptr_t address, std::uintptr_t pc) {
  if (stacks_ == nullptr || taken_ == most) return nullptr;
  Stack& stack = stacks_[taken_++];
  stack.address = address;
  Unwinding unwinding{stack, pc, 0};
  _Unwind_Backtrace(add_frame, &unwinding);
  // Words beyond the outermost frame that is known may be beyond the stack.
  if (stack.depth < 2) return &stack;
  const auto* const words = reinterpret_cast<const std::uintptr_t*>(stack.frames[0].top);
  const std::size_t count = (stack.frames[stack.depth - 1].top - stack.frames[0].top) / sizeof(std::uintptr_t);
  for (std::size_t i = 0; i != stack.words.size() && i < count; ++i) stack.words[i] = words[i];
  return &stack;
}

}  // namespace heddle::simulator
