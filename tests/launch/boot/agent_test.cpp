// A node's agent: what it does with words that came before it was there to hear them.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "launch/boot/launched/agent.hpp"

namespace heddle::boot {
namespace {

constexpr int patience = 10'000;  // milliseconds
constexpr int exit_code_told = 7;

std::pair<Connection, Connection> linked() {
  int ends[2];
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  return {Connection(Descriptor(ends[0])), Connection(Descriptor(ends[1]))};
}

// For a job whose launcher ends no rank.
class NoLauncher : public Ending {
 public:
  void say(const char* text) override { ADD_FAILURE() << text; }
  [[noreturn]] void end(int /*code*/, int /*milliseconds*/) override { std::abort(); }
  int time_to_be_ended() const override { return 0; }
};

// Two nodes of two ranks: ranks 2 and 3 are of the second node, and rank 2 is its agent.
struct SecondNode {
  SecondNode() : header(*new (std::aligned_alloc(page_bytes, heap_offset(4, 2))) JobHeader{}) {
    header.size = header.capacity = 4;
    header.nodes = 2;
    const int first[] = {0, 2, 4};
    std::copy_n(first, 3, first_ranks(&header));
    for (int rank = 0; rank < 4; ++rank) new (rank_records(&header) + rank) RankRecord;
    gathered.first_ranks = {0, 2, 4};
    gathered.node = 1;
    gathered.is_agent = true;
    auto [roots_end, root] = linked();
    auto [own, agents_own] = linked();
    auto [neighbor, agents_neighbor] = linked();
    to_agent = std::move(roots_end);
    gathered.root = std::move(root);
    rank_2 = std::move(own);
    rank_3 = std::move(neighbor);
    gathered.locals.push_back({.rank = 2, .process = 0, .cpus = {}, .link = std::move(agents_own)});
    gathered.locals.push_back({.rank = 3, .process = 0, .cpus = {}, .link = std::move(agents_neighbor)});
  }
  void start() {
    agent = std::make_unique<Agent>(std::move(gathered), header, 2, launcher);
    agent->start();
  }

  JobHeader& header;
  Gathered gathered;
  Connection to_agent, rank_2, rank_3;
  NoLauncher launcher;
  std::unique_ptr<Agent> agent;
};

void expect_end(Connection& rank) {
  const std::optional<Frame> frame = rank.receive_by(milliseconds_now() + patience);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->kind(), FrameKind::end);
  EXPECT_EQ(Fields(*frame).index(), exit_code_told);
}

// A rank aborts as soon as it is there, and its node is gone before this node's agent has begun: the ranks here would wait for ever.
TEST(Agent, PassesOnTheEndThatCameBeforeItBegan) {
  static SecondNode& node = *new SecondNode;  // an agent's thread runs as long as its process
  node.to_agent.send(Frame(FrameKind::end).add(exit_code_told).add(std::uint32_t{0}));
  node.to_agent.close();
  while (node.gathered.root.is_open()) node.gathered.root.read();
  node.start();
  expect_end(node.rank_3);
  expect_end(node.rank_2);
}

// The connection is open, and nothing more comes over it.
TEST(Agent, PassesOnTheAnswerThatCameBeforeItBegan) {
  static SecondNode& node = *new SecondNode;
  node.to_agent.send(Frame(FrameKind::agreed).add(1).add(std::uint64_t{42}).add(3));
  while (true) {
    node.gathered.root.read();
    if (recv(node.gathered.root.fd(), nullptr, 0, MSG_DONTWAIT | MSG_PEEK) != 0) break;
  }
  node.start();
  const std::optional<Frame> answer = node.rank_3.receive_by(milliseconds_now() + patience);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->kind(), FrameKind::agreed);
  EXPECT_EQ(node.header.agreed[1].load(), 42u);
}

}  // namespace
}  // namespace heddle::boot
