// Two ranks that answer each other, both in one process: messages lie in cells, each answer in the cell of its question, and a
// sender without answers goes on through the ring.
#include "network/shm/cells.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "network/shm/channel.hpp"

namespace heddle::lln::shm {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

// The channels of two ranks, each way one.
class Pair {
 public:
  Pair() {
    for (std::size_t from = 0; from < 2; ++from) {
      auto* const channel = new (base() + from * room) Channel(static_cast<int>(from), SlotCount::usual);
      producers_[from].attach(channel);
      for (const auto& cell : channel->cells) producers_[from].cells().add(heap_.offset_of(cell));
    }
    for (std::size_t from = 0; from < 2; ++from)
      consumers_[1 - from] =
          std::make_unique<Consumer>(&producers_[from].channel(), heap_, producers_[1 - from].cells());
  }

  // By that rank; where it lies, or null: there is no room.
  const std::byte* send(std::size_t rank, const std::vector<std::byte>& message) {
    Producer& producer = producers_[rank];
    const Producer::Room room = producer.reserve(static_cast<std::uint32_t>(message.size()), heap_);
    if (room.at == nullptr) return nullptr;
    const Producer::Claim claim = producer.claim(sync::Claiming::exclusive);
    if (claim.slot == nullptr) return nullptr;
    producer.commit(room);
    std::memcpy(room.at, message.data(), message.size());
    std::memcpy(claim.slot->payload, &room.span, sizeof room.span);
    claim.slot->place = room.place;
    Producer::publish(claim);
    return room.at;
  }
  // The next message to that rank; empty: there is none.
  std::vector<std::byte> receive(std::size_t rank) {
    Consumer& consumer = *consumers_[rank];
    const Slot* const slot = consumer.front_or_fetch();
    if (slot == nullptr) return {};
    const Consumer::Payload payload = consumer.payload_of(*slot);
    std::vector<std::byte> message(payload.at, payload.at + payload.bytes);
    consumer.pop(*slot);
    consumer.publish();
    return message;
  }
  bool is_in_ring(std::size_t rank, const std::byte* where) const {
    const std::byte* const ring = producers_[rank].channel().bulk;
    return where >= ring && where < ring + bulk_bytes;
  }

 private:
  static constexpr std::size_t room = std::size_t{1} << 17;
  static_assert(sizeof(Channel) + static_cast<std::size_t>(SlotCount::usual) * sizeof(Slot) <= room);

  // After a page, since a place at the heap's start is none.
  std::byte* base() const { return static_cast<std::byte*>(memory_.get()) + 4096; }

  const std::unique_ptr<void, Free> memory_{std::aligned_alloc(4096, 4096 + 2 * room)};
  const Heap heap_{static_cast<std::byte*>(memory_.get()), 0, 0};
  std::array<Producer, 2> producers_{};
  std::array<std::unique_ptr<Consumer>, 2> consumers_;
};

std::vector<std::byte> text(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i * 7 + seed);
  return message;
}

TEST(Cells, AnAnswerLiesWhereTheQuestionLay) {
  Pair pair;
  const std::byte* const first = pair.send(0, text(eager_bytes, 0));
  EXPECT_FALSE(pair.is_in_ring(0, first));
  EXPECT_EQ(pair.receive(1), text(eager_bytes, 0));
  for (unsigned i = 1; i < 100; ++i) {
    EXPECT_EQ(pair.send(i % 2, text(200 * i % 16000 + inline_bytes + 1, i)), first);
    EXPECT_EQ(pair.receive(1 - i % 2), text(200 * i % 16000 + inline_bytes + 1, i));
  }
}

TEST(Cells, RanksThatSendAtATimeExchangeThem) {
  Pair pair;
  const std::byte* theirs = nullptr;
  for (unsigned i = 0; i < 100; ++i) {
    const std::byte* const a = pair.send(0, text(1000, i));
    const std::byte* const b = pair.send(1, text(3000, i));
    EXPECT_FALSE(pair.is_in_ring(0, a) || pair.is_in_ring(1, b));
    if (i != 0) {
      EXPECT_EQ(a, theirs);
    }
    theirs = b;
    EXPECT_EQ(pair.receive(0), text(3000, i));
    EXPECT_EQ(pair.receive(1), text(1000, i));
  }
}

TEST(Cells, WhoIsNotAnsweredGoesOnThroughTheRing) {
  Pair pair;
  for (unsigned i = 0; i < 1000; ++i) {
    const std::byte* const where = pair.send(0, text(5000, i));
    ASSERT_NE(where, nullptr);
    EXPECT_EQ(pair.is_in_ring(0, where), i >= Cells::of_a_channel);
    EXPECT_EQ(pair.receive(1), text(5000, i));
  }
  // All of them are the other's now, one comes back with each answer.
  for (unsigned i = 0; i < 2 * Cells::of_a_channel; ++i) EXPECT_FALSE(pair.is_in_ring(1, pair.send(1, text(300, i))));
  EXPECT_TRUE(pair.is_in_ring(1, pair.send(1, text(300, 9))));
  EXPECT_EQ(pair.receive(0), text(300, 0));
  EXPECT_FALSE(pair.is_in_ring(0, pair.send(0, text(5000, 1))));
  EXPECT_TRUE(pair.is_in_ring(0, pair.send(0, text(5000, 2))));
}

TEST(Cells, AMessageThatFindsNoSlotKeepsItsCell) {
  Pair pair;
  for (unsigned i = 0; i < Cells::of_a_channel; ++i) EXPECT_NE(pair.send(0, text(200, i)), nullptr);
  unsigned slots = Cells::of_a_channel;
  while (pair.send(0, text(200, slots)) != nullptr) ++slots;
  EXPECT_EQ(slots, static_cast<unsigned>(SlotCount::usual));
  const std::byte* const answer = pair.send(1, text(200, 100));
  EXPECT_EQ(pair.receive(0), text(200, 100));
  for (int i = 0; i < 10; ++i) EXPECT_EQ(pair.send(0, text(200, 0)), nullptr);
  EXPECT_EQ(pair.receive(1), text(200, 0));
  EXPECT_EQ(pair.send(0, text(200, slots)), answer);
}

// Both ends at a time, at random: what a thread reads is what the other has written.
TEST(Cells, ThreadsReadWhatTheOtherHasWritten) {
  constexpr unsigned messages = 20'000;
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Pair pair;
  const auto length = [](unsigned i) { return std::size_t{105} + i * 2654435761u % 6000; };
  const auto take_part = [&](std::size_t rank) {
    std::mt19937 random(seed + static_cast<unsigned>(rank));
    unsigned sent = 0, received = 0;
    while (sent < messages || received < messages) {
      if (sent < messages && random() % 3 != 0 && pair.send(rank, text(length(sent), sent)) != nullptr) ++sent;
      if (const auto message = pair.receive(rank); !message.empty()) {
        ASSERT_EQ(message, text(length(received), received));
        ++received;
      } else {
        std::this_thread::yield();
      }
    }
  };
  std::jthread other(take_part, 1);
  take_part(0);
}

}  // namespace
}  // namespace heddle::lln::shm
