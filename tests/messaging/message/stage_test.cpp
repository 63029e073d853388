// Stage: every chunk of a message has a place of its own in the block, as long as the ring has one.
#include "messaging/message/protocol/local/stage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

namespace heddle::message {
namespace {

constexpr std::size_t lengths[] = {1,       4096,    16'385,  28'672,    60'000,    60 * 1024, 61'441,
                                   120'000, 126'976, 126'977, 1'000'000, 2'093'056, 2'093'057, 50'000'000};

TEST(Stage, HasRoomForAMessageThatFitsIntoItsBlock) {
  for (const std::size_t message : lengths) {
    const std::size_t ring = Stage::block_of(message) - Stage::head;
    if (message > ring) continue;
    EXPECT_GE(Stage::slots_of(message) * Stage::chunk_of(message), message) << message;
  }
  for (std::size_t message = 1; message <= early_stage_bytes; message += 997)
    EXPECT_GE(Stage::slots_of(message) * Stage::chunk_of(message), message) << message;
}

TEST(Stage, KeepsAllChunksInItsBlock) {
  for (const std::size_t message : lengths) {
    const std::size_t chunk = Stage::chunk_of(message), block = Stage::block_of(message);
    for (const std::size_t begin : {std::size_t{0}, Stage::longest_ring / 3, Stage::longest_ring - 1}) {
      if (begin != 0 && message <= Stage::longest_ring) continue;
      Stage stage(message, begin);
      const auto base = reinterpret_cast<std::uintptr_t>(&stage);
      for (std::size_t at = 0, number = 0; at < message; at += chunk, ++number) {
        const std::size_t bytes = std::min(chunk, message - at);
        const std::size_t offset =
            reinterpret_cast<std::uintptr_t>(stage.place(static_cast<std::uint32_t>(number))) - base;
        ASSERT_GE(offset, Stage::head) << message;
        ASSERT_LE(offset + bytes, block) << message;
        ASSERT_LT(stage.slot(static_cast<std::uint32_t>(number)), Stage::most_slots) << message;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::message
