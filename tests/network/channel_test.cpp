// A channel whose two ends are in one process: every message arrives once, whole, and in the order in which its thread
// sent it, while many threads claim slots and the ring is full most of the time. In the tests of MPI the ends are two
// processes, of which a sanitizer sees one; here it sees both.
#include "network/shm/channel.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace heddle::lln::shm {
namespace {

struct Message {
  std::uint32_t thread;
  std::uint32_t number;
  std::byte filling[64];
};

std::byte filling_of(std::uint32_t thread, std::uint32_t number) {
  return static_cast<std::byte>(thread * 31 + number);
}

// False if the test is over before there was room.
bool send(Producer& producer, sync::Claiming claiming, std::uint32_t thread, std::uint32_t number,
          const std::stop_token& over) {
  Producer::Claim claim = producer.claim(claiming);
  for (; claim.slot == nullptr; claim = producer.claim(claiming)) {
    if (over.stop_requested()) return false;
    std::this_thread::yield();
  }
  Message message{thread, number, {}};
  std::memset(message.filling, std::to_integer<int>(filling_of(thread, number)), sizeof message.filling);
  std::memcpy(claim.slot->payload, &message, sizeof message);
  claim.slot->place = Place::slot;
  claim.slot->bytes = sizeof message;
  Producer::publish(claim);
  return true;
}

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

void exchange(sync::Claiming claiming, SlotCount slots, std::uint32_t threads) {
  constexpr std::uint32_t rounds = 20000;
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(alignof(Channel), Channel::bytes(slots)));
  auto* const channel = new (memory.get()) Channel(0, slots);
  Producer producer;
  producer.attach(channel);
  std::vector<std::jthread> team;
  for (std::uint32_t t = 0; t < threads; ++t)
    team.emplace_back([&, t](const std::stop_token& over) {
      std::uint32_t i = 0;
      while (i < rounds && send(producer, claiming, t, i, over)) ++i;
    });

  const Heap heap;
  Consumer consumer(channel, heap, producer.cells());
  std::vector<std::uint32_t> next(threads);
  for (std::uint32_t taken = 0; taken < threads * rounds;) {
    const Slot* slot = consumer.front();
    if (slot == nullptr) {
      consumer.publish();
      std::this_thread::yield();
      continue;
    }
    Message message;
    ASSERT_EQ(slot->bytes, sizeof message);
    std::memcpy(&message, slot->payload, sizeof message);
    ASSERT_LT(message.thread, threads);
    ASSERT_EQ(message.number, next[message.thread]++);
    for (const std::byte b : message.filling) ASSERT_EQ(b, filling_of(message.thread, message.number));
    consumer.pop(*slot);
    ++taken;
  }
  EXPECT_FALSE(consumer.ready());
}

TEST(Channel, OneThreadSends) { exchange(sync::Claiming::exclusive, SlotCount::usual, 1); }
TEST(Channel, ManyThreadsClaimAtOnce) { exchange(sync::Claiming::concurrent, SlotCount::usual, 6); }
TEST(Channel, ManySlots) { exchange(sync::Claiming::concurrent, SlotCount::many, 6); }

}  // namespace
}  // namespace heddle::lln::shm
