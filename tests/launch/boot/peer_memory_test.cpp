// The check that the process with a peer's number is the peer: found out by its key, which neither foreign_count nor children have.
#include "launch/boot/peer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace heddle::boot {
namespace {

// Two ranks that share a segment and have nothing else to tell each other.
class Pair final : public World {
 public:
  explicit Pair(std::shared_ptr<platform::SparseMemory> segment) : World(std::move(segment), 0) {}
  std::uint64_t agreed(int) const override { return 0; }
  std::uint64_t agree(int, std::uint64_t proposal) override { return proposal; }
  Result<std::string> ask_launcher(const std::string&) override { return Failure{}; }
  [[noreturn]] void abort(int, const char*) override { std::abort(); }
  std::span<const std::byte> find(int, int) const override { return {}; }
  bool publish(int, std::span<const std::byte>) override { return true; }
};

constexpr std::size_t heap = 4096;

struct Stages {
  std::atomic<int> stage{0};
  std::atomic<pid_t> child_of_peer{0};
  std::atomic<bool> key_in_child{true};
};

class PeerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    const int file = memfd_create("segment", MFD_CLOEXEC);
    ASSERT_EQ(ftruncate(file, bytes), 0);
    segment_ = platform::SparseMemory::make(bytes, file, {});
    ASSERT_TRUE(segment_ && segment_->reach(segment_->start(), bytes));
    auto& header = *new (segment_->start()) JobHeader{};
    header.size = header.capacity = 2;
    header.heap_offset = heap_offset(2, 1);
    header.heap_bytes = heap;
    header.nodes = 1;
    first_ranks(&header)[1] = 2;
    job_.emplace(segment_);
    shared_ = new (job_->heap().data()) Stages;
    job_->record_of(0).host = 0;
    job_->record_of(1).host = 1;
    publish_key(job_->record_of(0));
    peer_ = fork();
    ASSERT_GE(peer_, 0);
    if (peer_ == 0) be_the_peer();
    while (shared_->stage.load() < 1) usleep(1000);
  }
  void TearDown() override {
    shared_->stage.store(2);
    waitpid(peer_, nullptr, 0);
  }

  // 0, or why not; asked anew.
  int reason() {
    PeerMemory memory;
    memory.begin(*job_);
    EXPECT_FALSE(memory.same_space(1));
    return memory.reason_out_of_reach(1);
  }

  RankRecord& record_of(int rank) { return job_->record_of(rank); }

  Stages* shared_ = nullptr;
  std::optional<Pair> job_;
  std::shared_ptr<platform::SparseMemory> segment_;
  pid_t peer_ = -1;

 private:
  static constexpr std::size_t bytes = heap_offset(2, 1) + heap;

  [[noreturn]] void be_the_peer() {
    shared_->key_in_child.store(is_key_here(record_of(0)));
    publish_key(record_of(1));
    const pid_t child = fork();
    if (child == 0) {
      while (shared_->stage.load() < 2) usleep(1000);
      _exit(0);
    }
    shared_->child_of_peer.store(child);
    shared_->stage.store(1);
    while (shared_->stage.load() < 2) usleep(1000);
    waitpid(child, nullptr, 0);
    _exit(0);
  }
};

TEST_F(PeerMemoryTest, IsWithinReach) {
  const int found = reason();
  if (found == EPERM || found == ENOSYS) GTEST_SKIP() << "process_vm_readv is not allowed here";
  EXPECT_EQ(found, 0);
}

TEST_F(PeerMemoryTest, AChildOfThePeerIsNotThePeer) {
  const int found = reason();
  if (found == EPERM || found == ENOSYS) GTEST_SKIP() << "process_vm_readv is not allowed here";
  record_of(1).process.store(shared_->child_of_peer.load());
  EXPECT_EQ(reason(), another_process);
}

TEST_F(PeerMemoryTest, WeAreNotThePeer) {
  record_of(1).process.store(getpid());
  EXPECT_NE(reason(), 0);
}

TEST_F(PeerMemoryTest, AnUnknownProcessIsNotThePeer) {
  record_of(1).process.store(0x7ffffff0);
  EXPECT_NE(reason(), 0);
}

TEST_F(PeerMemoryTest, AKeyIsWhereItWasMade) {
  EXPECT_TRUE(is_key_here(record_of(0)));
  EXPECT_FALSE(is_key_here(record_of(1)));
  EXPECT_FALSE(shared_->key_in_child.load());
}

}  // namespace
}  // namespace heddle::boot
