// Light and heavy fences of two ranks pair, though the kernel answers one of them that it does not know membarrier: a filter on
// system calls may be that of one rank alone. (Until the ranks know of each other, and for good if one is refused, the light
// fence is a full one.)
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>

#include "base/node/node.hpp"
#include "base/platform/native.hpp"
#include "base/sync/fence_body.hpp"

namespace heddle::node {
namespace {

constexpr std::size_t segment = std::size_t{8} << 20;
constexpr unsigned rounds = 20'000;

struct Shared {
  test::FenceBody<platform::Native> body{2, rounds};
  std::atomic<int> joined{0};
  std::atomic<bool> light_is_full{false};
  alignas(4096) std::byte heap[segment];
};

Shared* map(int file) {
  void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return at == MAP_FAILED ? nullptr : static_cast<Shared*>(at);
}

// membarrier fails from now on, in what this process executes.
bool refuse_membarrier() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// One rank of the job.
void take_part(Shared& shared, int rank) {
  Node node(shared.heap, segment, Place{rank, 2, 0, 2, 2}, 0, 0);
  shared.joined.fetch_add(1);
  while (shared.joined.load() != 2) platform::Native::yield();
  node.agree_on_fences();
  if (rank == 0) shared.light_is_full.store(platform::Native::fences_fully());
  shared.body.thread(static_cast<unsigned>(rank));
}

// Rank 0 has the light half. Which rank is refused: 2 for none.
void run(int refused) {
  const int file = memfd_create("heddle-fences-test", 0);
  ASSERT_GE(file, 0);
  ASSERT_EQ(ftruncate(file, sizeof(Shared)), 0);
  Shared* const shared = map(file);
  ASSERT_NE(shared, nullptr);
  new (&shared->body) decltype(shared->body)(2, rounds);
  pid_t children[2];
  for (int rank : {0, 1}) {
    children[rank] = fork();
    ASSERT_GE(children[rank], 0);
    if (children[rank] != 0) continue;
    if (rank == refused && !refuse_membarrier()) _exit(77);
    const std::string number = std::to_string(rank);
    const std::string descriptor = std::to_string(file);
    execl("/proc/self/exe", "fences_test", "--rank", number.c_str(), descriptor.c_str(), nullptr);
    _exit(127);
  }
  int codes[2];
  for (int rank : {0, 1}) {
    int status = 0;
    ASSERT_EQ(waitpid(children[rank], &status, 0), children[rank]);
    codes[rank] = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
    if (codes[rank] == 77) {  // the other waits for it
      kill(children[1 - rank], SIGKILL);
      waitpid(children[1 - rank], &status, 0);
      GTEST_SKIP() << "filters on system calls are not allowed here";
    }
  }
  EXPECT_EQ(codes[0], 0);
  EXPECT_EQ(codes[1], 0);
  EXPECT_TRUE(refused == 2 || shared->light_is_full.load())
      << "as the heavy half is no more than a fence of its own core";
  shared->body.finish();
  munmap(shared, sizeof(Shared));
  close(file);
}

TEST(Fences, PairIfNoRankIsRefused) { run(2); }
TEST(Fences, PairIfTheHeavySideIsRefused) { run(1); }
TEST(Fences, PairIfTheLightSideIsRefused) { run(0); }

}  // namespace
}  // namespace heddle::node

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--rank") == 0) {
    auto* const shared = heddle::node::map(std::atoi(argv[3]));
    if (shared == nullptr) return 1;
    heddle::node::take_part(*shared, std::atoi(argv[2]));
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
