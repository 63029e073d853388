// Whether the process that a peer's number names is the peer: found out by its key, which neither strangers nor children have.
#include "boot/peer_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>

namespace heddle::boot {
namespace {

struct Shared {
  RankRecord records[2];
  std::atomic<int> stage{0};
  std::atomic<pid_t> child_of_peer{0};
  std::atomic<bool> key_in_child{true};
};

class PeerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(at, MAP_FAILED);
    shared_ = new (at) Shared;
    shared_->records[0].host = 0;
    shared_->records[1].host = 1;
    job_.size = 2;
    job_.records = shared_->records;
    publish_key(shared_->records[0]);
    peer_ = fork();
    ASSERT_GE(peer_, 0);
    if (peer_ == 0) be_the_peer();
    while (shared_->stage.load() < 1) usleep(1000);
  }
  void TearDown() override {
    shared_->stage.store(2);
    waitpid(peer_, nullptr, 0);
    munmap(shared_, sizeof(Shared));
  }

  // 0, or why not; asked anew.
  int reason() {
    PeerMemory memory;
    memory.begin(job_);
    EXPECT_FALSE(memory.same_space(1));
    return memory.reason_out_of_reach(1);
  }

  Shared* shared_ = nullptr;
  Job job_;
  pid_t peer_ = -1;

 private:
  [[noreturn]] void be_the_peer() {
    shared_->key_in_child.store(is_key_here(shared_->records[0]));
    publish_key(shared_->records[1]);
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
  shared_->records[1].process.store(shared_->child_of_peer.load());
  EXPECT_EQ(reason(), somebody_else);
}

TEST_F(PeerMemoryTest, WeAreNotThePeer) {
  shared_->records[1].process.store(getpid());
  EXPECT_NE(reason(), 0);
}

TEST_F(PeerMemoryTest, NobodyIsNotThePeer) {
  shared_->records[1].process.store(0x7ffffff0);
  EXPECT_NE(reason(), 0);
}

TEST_F(PeerMemoryTest, AKeyIsWhereItWasMade) {
  EXPECT_TRUE(is_key_here(shared_->records[0]));
  EXPECT_FALSE(is_key_here(shared_->records[1]));
  EXPECT_FALSE(shared_->key_in_child.load());
}

}  // namespace
}  // namespace heddle::boot
