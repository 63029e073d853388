// The facts that mpiexec needs before it starts a job on several nodes by itself: who gets which ranks, and how it is told.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include "launch/mpiexec/nodes/plan.hpp"
#include "launch/mpiexec/nodes/shares.hpp"

namespace {

using namespace heddle;
using namespace heddle::mpiexec;

App app_with(int ranks, int per_node, std::vector<Host> hosts) {
  App app;
  app.ranks = ranks;
  app.per_node = per_node;
  app.hosts = std::move(hosts);
  return app;
}

std::string text_of(const std::vector<Share>& shares) {
  std::string text;
  for (const Share& share : shares) text += share.host + ':' + std::to_string(share.ranks) + ' ';
  return text;
}

TEST(Shares, FollowSlots) {
  EXPECT_EQ(text_of(shares_of(app_with(5, 0, {{"a", 2}, {"b", 4}}))), "a:2 b:3 ");
  EXPECT_EQ(text_of(shares_of(app_with(2, 0, {{"a", 2}, {"b", 4}}))), "a:2 ");
}

TEST(Shares, AreEvenWhereThereAreMoreRanksThanSlots) {
  EXPECT_EQ(text_of(shares_of(app_with(8, 0, {{"a", 1}, {"b", 1}, {"c", 1}}))), "a:2 b:3 c:3 ");
}

TEST(Shares, FollowRanksOfANode) {
  EXPECT_EQ(text_of(shares_of(app_with(5, 2, {{"a", 1}, {"b", 1}, {"c", 1}}))), "a:2 b:2 c:1 ");
  EXPECT_THROW((void)shares_of(app_with(5, 2, {{"a", 9}, {"b", 9}})), UsageError);
}

TEST(Shares, AHostIsReachedByTheShellThatIsAskedFor) {
  unsetenv("SLURM_JOB_ID");
  unsetenv("HEDDLE_REMOTE_SHELL");
  EXPECT_EQ(words_to_start("localhost", "-x").size(), 2U) << "this machine needs no shell";
  EXPECT_EQ(words_to_start("far", "-x").front(), "ssh");
  setenv("SLURM_JOB_ID", "1", 1);
  EXPECT_EQ(words_to_start("far", "-x").front(), "srun");
  setenv("HEDDLE_REMOTE_SHELL", "rsh -l 'my name'", 1);
  const std::vector<std::string> words = words_to_start("far", "-x");
  ASSERT_EQ(words.size(), 6U);
  EXPECT_EQ(words[0], "rsh");
  EXPECT_EQ(words[2], "my name");
  EXPECT_EQ(words[3], "far");
  EXPECT_EQ(words[5], "-x");
  unsetenv("SLURM_JOB_ID");
  unsetenv("HEDDLE_REMOTE_SHELL");
}

class Line {
 public:
  explicit Line(const std::string& text) {
    EXPECT_EQ(pipe(ends_), 0);
    EXPECT_EQ(write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends_[1]);
  }
  ~Line() { close(ends_[0]); }
  int fd() const { return ends_[0]; }

 private:
  int ends_[2];
};

TEST(NodePlan, TheLineOnStandardInputEndsWhereTheUsersInputBegins) {
  const Summons sent{{"10.0.0.1", "fe80::1"}, 4711, {~0ULL, 5}, 3};
  const Line line(line_of(sent) + "input");
  const Summons come = read_summons(line.fd());
  EXPECT_EQ(come.addresses, sent.addresses);
  EXPECT_EQ(come.port, sent.port);
  EXPECT_EQ(come.secret, sent.secret);
  EXPECT_EQ(come.node, sent.node);
  char rest[16];
  EXPECT_EQ(std::string(rest, static_cast<std::size_t>(read(line.fd(), rest, sizeof rest))), "input");
}

TEST(NodePlan, WhatIsNoSuchLineIsRefused) {
  for (const char* const text : {"", "\n", "2 a\n", "1 10.0.0.1 port 1 2 3\n", "99999999999999999999\n"}) {
    const Line line(text);
    EXPECT_THROW((void)read_summons(line.fd()), std::runtime_error) << text;
  }
}

TEST(NodePlan, ArrivesAsItWasSent) {
  const NodePlan sent{"node1", {0, 4, 8}, 42, "/a b/c", {"-n", "8", "", "prog", "it's"}, {"A=b c", "EMPTY="}};
  const NodePlan come = node_plan_of(text_of_plan(sent));
  EXPECT_EQ(come.host, sent.host);
  EXPECT_EQ(come.first_ranks, sent.first_ranks);
  EXPECT_EQ(come.key, sent.key);
  EXPECT_EQ(come.directory, sent.directory);
  EXPECT_EQ(come.arguments, sent.arguments);
  EXPECT_EQ(come.environment, sent.environment);
}

}  // namespace
