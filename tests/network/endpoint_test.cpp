// Endpoints in a segment that is full: a first message is refused for want of memory, not for want of room, which would come; but
// a rank that has been sent something can answer.
#include "network/shm/endpoint.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/node/room.hpp"
#include "network/end.hpp"

namespace heddle::lln::shm {
namespace {

constexpr std::size_t segment = std::size_t{32} << 20;
constexpr int ranks = 3;

class FullSegment : public testing::TestWithParam<SlotCount> {
 protected:
  FullSegment() : base_(mmap(nullptr, segment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (base_ == MAP_FAILED) std::abort();
    for (int rank = 0; rank < ranks; ++rank)
      ends_[rank].emplace(static_cast<std::byte*>(base_), segment, rank, ranks, Claiming::exclusive,
                          rank == 0 ? GetParam() : SlotCount::usual, node::bytes_for_channels(ranks));
  }
  ~FullSegment() override {
    for (auto& end : ends_) end.reset();
    munmap(base_, segment);
  }

  // Takes every block that is left for this purpose.
  void fill(Heap::Purpose purpose = Heap::Purpose::channel) {
    for (std::size_t bytes = segment; bytes >= 4096;)
      if ((*ends_[0])->heap().allocate(bytes, 1, purpose) == nowhere) bytes /= 2;
  }
  Posted send(int from, int to, std::size_t bytes = 8) {
    const Header header{MessageKind::eager, from, 0, 0};
    return ends_[from]->post(to, header, bytes, [&](std::byte* at) { std::memset(at, from, bytes); });
  }
  // How many messages of `from` have come to `to`.
  int receive(int from, int to) {
    int messages = 0;
    (*ends_[to])->poll(poll_batch, [&](int sender, const Header&, const std::byte* payload, std::size_t) {
      EXPECT_EQ(sender, from);
      EXPECT_EQ(std::to_integer<int>(payload[0]), from);
      ++messages;
    });
    return messages;
  }

  void* base_;
  std::optional<End> ends_[ranks];
};

TEST_P(FullSegment, HasRoomForTheChannelsOfAllPairs) {
  fill(Heap::Purpose::any);
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (to != from) EXPECT_EQ(send(from, to), Posted::done);
  for (int to = 0; to < ranks; ++to)
    EXPECT_EQ((*ends_[to])->poll(poll_batch, [](int, const Header&, const std::byte*, std::size_t) {}), ranks - 1);
}

TEST_P(FullSegment, RefusesAFirstMessage) {
  fill();
  EXPECT_EQ(send(0, 1), Posted::no_memory);
  EXPECT_EQ(send(1, 0), Posted::no_memory);
  EXPECT_EQ(send(0, 1), Posted::no_memory);
}

TEST_P(FullSegment, LetsThoseAnswerWhoWereSentSomething) {
  ASSERT_EQ(send(0, 1), Posted::done);
  ASSERT_EQ(receive(0, 1), 1);
  fill();
  EXPECT_EQ(send(1, 2), Posted::no_memory);
  for (int i = 0; i < 1000; ++i) {  // the ring goes round
    ASSERT_EQ(send(1, 0), Posted::done);
    ASSERT_EQ(receive(1, 0), 1);
    ASSERT_EQ(send(0, 1, 9000), Posted::done);
    ASSERT_EQ(receive(0, 1), 1);
  }
}

TEST_P(FullSegment, IsFullAlsoIfOnlyTheWayBackHasNoRoom) {
  // Room for one channel, not for two.
  const std::size_t bytes = Channel::bytes(GetParam());
  const Offset kept = (*ends_[0])->heap().allocate(bytes);
  fill();
  (*ends_[0])->heap().release(kept, bytes);
  EXPECT_EQ(send(0, 1), Posted::no_memory);
  EXPECT_NE((*ends_[0])->heap().allocate(bytes), nowhere) << "the block of the one was not given back";
}

TEST_P(FullSegment, GoesOnOnceThereIsMemory) {
  const std::size_t bytes = Channel::bytes(GetParam());
  const Offset kept[] = {(*ends_[0])->heap().allocate(bytes), (*ends_[0])->heap().allocate(bytes)};
  fill();
  ASSERT_EQ(send(0, 1), Posted::no_memory);
  for (const Offset block : kept) (*ends_[0])->heap().release(block, bytes);
  EXPECT_EQ(send(0, 1), Posted::done);
  EXPECT_EQ(receive(0, 1), 1);
  EXPECT_EQ(send(1, 0), Posted::done);
  EXPECT_EQ(receive(1, 0), 1);
}

TEST_P(FullSegment, BothMayOpenAtOnce) {
  ASSERT_EQ(send(0, 1), Posted::done);
  ASSERT_EQ(send(1, 0), Posted::done);  // before it has looked
  fill();
  EXPECT_EQ(receive(0, 1), 1);
  EXPECT_EQ(receive(1, 0), 1);
  EXPECT_EQ(send(0, 1), Posted::done);
  EXPECT_EQ(send(1, 0), Posted::done);
}

INSTANTIATE_TEST_SUITE_P(, FullSegment, testing::Values(SlotCount::usual, SlotCount::many));

}  // namespace
}  // namespace heddle::lln::shm
