// The messages between the members of a window where an origin cannot access a target's memory itself: commands, which
// the target executes and answers (ADR 0041). They travel in a plane of the window's own communicator that has no other
// messages.
//
//     Command, Strided[regions], zeros up to a multiple of 16, operand           to the target, with command_tag
//     Answer, data                                                              back, with the tag that the command names
//
// All members run the same library on the same kind of machine, so numbers are sent unconverted.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "mpi/rma/epochs/target_lock.hpp"

namespace heddle::rma::reach {

// Tags of the plane. A post or complete of MPI_Win_post and MPI_Win_complete has no content and no answer.
inline constexpr int command_tag = 0;
inline constexpr int post_tag = 1;
inline constexpr int complete_tag = 2;
inline constexpr int first_answer_tag = 16;
inline constexpr int first_question_tag = 1024;  // of answers about locks
inline constexpr std::uint32_t question_tags = 1u << 20;

enum class Action : std::uint8_t {
  put,
  get,
  accumulate,        // target = operand op target, and if it fetches, the answer holds the former value
  compare_and_swap,  // the operand is the new value, and behind it the one to compare with; it fetches
  lock,              // answered when the lock is the origin's
  try_lock,          // answered at once: true if it is
  await_lock,        // answered when the lock seems free
  unlock,
};

// Contiguous regions of the same size at equal distances.
struct Strided {
  std::int64_t first;  // bytes from the start of the window's memory; dynamic windows: an address
  std::int64_t stride;
  std::uint32_t bytes;
  std::uint32_t count;
};
static_assert(sizeof(Strided) == 24);

struct Command {
  Action action;
  LockType lock = LockType::shared;
  bool fetches = false;
  std::uint32_t answer_tag = 0;
  std::uint32_t op = 0;       // the operation's constant
  std::uint32_t element = 0;  // row of the elements' predefined datatype
  std::uint32_t regions = 0;
  std::uint32_t bytes = 0;  // in all regions together
};
static_assert(sizeof(Command) == 24);

struct alignas(16) Answer {
  std::int32_t error = MPI_SUCCESS;
  std::uint32_t taken = 0;  // try_lock
};

// Longer operations are several commands.
inline constexpr std::size_t max_bytes = 16 * 1024;
inline constexpr std::size_t max_regions = 256;

constexpr std::size_t operand_offset(std::size_t regions) {
  return (sizeof(Command) + regions * sizeof(Strided) + 15) / 16 * 16;
}
inline constexpr std::size_t max_command = operand_offset(max_regions) + max_bytes;
inline constexpr std::size_t max_answer = sizeof(Answer) + max_bytes;

}  // namespace heddle::rma::reach
