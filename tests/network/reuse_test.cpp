// A block of the segment that a thread of this rank has used and given back becomes another process' channel, or flux, to this
// rank. The order of the two went through that process: the thread sanitizer, for which this test is, sees it only if the finder
// of the block joins its users.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include "network/end.hpp"

namespace heddle::lln::shm {
namespace {

constexpr std::size_t segment = std::size_t{8} << 20;

struct Shared {
  std::atomic<int> given_back{0};
  alignas(4096) std::byte heap[segment];
};

// Rank 0, in a process of its own: sends so many bytes to rank 1, by a flux if it can be.
void send(Shared& shared, Claiming claiming, std::size_t bytes) {
  End end(shared.heap, segment, 0, 2, claiming);
  while (shared.given_back.load() == 0) sched_yield();
  const Header header{MessageKind::eager, 0, 0, 0};
  const auto fill = [&](std::byte* to) { std::memset(to, 7, bytes); };
  const bool by_flux = claiming == Claiming::by_flux && bytes <= flux_bytes;
  const bool sent =
      by_flux ? end->send_by_flux(1, header, bytes, fill) : end.post(1, header, bytes, fill) == Posted::done;
  _exit(sent ? 0 : 1);
}

void run(Claiming claiming, std::size_t block_bytes, std::size_t message_bytes) {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  auto& shared = *new (memory) Shared;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) send(shared, claiming, message_bytes);

  End end(shared.heap, segment, 1, 2, claiming);
  std::thread user([&] {
    const Offset block = end->heap().allocate(block_bytes);
    std::memset(end->heap().at<std::byte>(block), 1, block_bytes);
    end->heap().release(block, block_bytes);
    shared.given_back.store(1, std::memory_order_relaxed);  // tells the other process, and orders nothing in this one
  });
  int got = 0;
  const auto take = [&](int, const Header&, const std::byte* payload, std::size_t bytes) {
    EXPECT_EQ(bytes, message_bytes);
    EXPECT_EQ(std::to_integer<int>(payload[bytes - 1]), 7);
    ++got;
  };
  while (got == 0) claiming == Claiming::by_flux ? end->poll_fluxes(8, take) : end->poll(8, take);
  user.join();
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  munmap(memory, sizeof(Shared));
}

TEST(ReusedBlock, BecomesAFlux) { run(Claiming::by_flux, sizeof(Flux), 8); }
TEST(ReusedBlock, BecomesAChannel) { run(Claiming::exclusive, Channel::bytes(SlotCount::usual), 8); }

}  // namespace
}  // namespace heddle::lln::shm
