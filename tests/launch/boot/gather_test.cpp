// The ranks of a job find each other: who is admitted, and how ranks are numbered.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "launch/boot/launched/root.hpp"
#include "launch/boot/launched/sockets.hpp"

namespace heddle::boot {
namespace {

NodeLink node_of(std::vector<int> ranks) {
  return {.host = "n", .agent = ranks.front(), .ranks = std::move(ranks), .link = {}};
}

Gathered nodes_of(std::vector<std::vector<int>> ranks) {
  Gathered gathered;
  for (std::vector<int>& of_node : ranks) gathered.nodes.push_back(node_of(std::move(of_node)));
  return gathered;
}

TEST(NumberRanks, KeepsBlocks) {
  Gathered gathered = nodes_of({{0, 1, 2}, {3}, {4, 5}});
  ASSERT_TRUE(number_ranks(6, gathered));
  EXPECT_EQ(gathered.first_ranks, (std::vector<int>{0, 3, 4, 6}));
  EXPECT_TRUE(gathered.order.empty());
}

TEST(NumberRanks, NumbersOthersNodeByNode) {
  Gathered gathered = nodes_of({{0, 2, 4}, {1, 3}});
  ASSERT_TRUE(number_ranks(5, gathered));
  EXPECT_EQ(gathered.first_ranks, (std::vector<int>{0, 3, 5}));
  EXPECT_EQ(gathered.order, (std::vector<int>{0, 2, 4, 1, 3}));
  EXPECT_EQ(number_of(1, gathered.order), 3);
}

TEST(NumberRanks, RefusesWhatIsNoJob) {
  Gathered twice = nodes_of({{0, 1}, {1}}), missing = nodes_of({{0}, {2}}), beyond = nodes_of({{0, 1}, {7}});
  EXPECT_FALSE(number_ranks(3, twice));
  EXPECT_FALSE(number_ranks(3, missing));
  EXPECT_FALSE(number_ranks(3, beyond));
}

// Rank 0 with one other node to come, and other connections.
class RootTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(listener_.port, 0);
    gathered_ = nodes_of({{0}});
    root_ = std::thread([this] { done_ = gather_agents(listener_.socket, secret_, 2, gathered_); });
  }
  void join_node() {
    Connection link = connect_to({"127.0.0.1"}, listener_.port, secret_, milliseconds_now() + 10'000);
    ASSERT_TRUE(link.is_open());
    link.send(Frame(FrameKind::node).add(1).add(std::uint32_t{1}).add(1).add("other"));
    const std::optional<Frame> answer = link.receive_by(milliseconds_now() + 10'000);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->kind(), FrameKind::nodes);
  }
  void finish() {
    root_.join();
    EXPECT_TRUE(done_) << done_.failure().text;
    EXPECT_EQ(gathered_.nodes.back().host, "other");
  }

  Listener listener_ = *listen_on_networks(Ports());
  Secret secret_{random_word(), random_word()};
  Gathered gathered_;
  Result<void> done_ = Failure{};
  std::thread root_;
};

TEST_F(RootTest, AdmitsWhoKnowsTheSecret) {
  join_node();
  finish();
}

TEST_F(RootTest, LeavesOutWhoDoesNot) {
  EXPECT_FALSE(connect_to({"127.0.0.1"}, listener_.port, {1, 2}, milliseconds_now() + 2'000).is_open());
  join_node();
  finish();
}

// Packets of a foreign process: noise, noise that looks like lengths, and frames that are almost right.
std::string packet(std::mt19937& random) {
  std::string bytes(random() % 200, '\0');
  for (char& c : bytes) c = static_cast<char>(random() % (random() % 2 == 0 ? 256 : 4));
  if (random() % 2 == 0) return bytes;
  bytes.resize(bytes.size() % Frame::longest_unverified);
  bytes = Frame(static_cast<FrameKind>(1 + random() % last_frame_kind), bytes).encode();
  if (random() % 2 == 0) bytes[random() % bytes.size()] = static_cast<char>(random());
  return bytes;
}

TEST_F(RootTest, IsNotDisturbedByGarbage) {
  constexpr int packets = 100'000, of_one = 2'000;
  int sent = 0, foreign_count = 0;
  for (std::uint32_t seed = 0; sent < packets; ++seed, ++foreign_count) {
    std::mt19937 random(seed);
    const Descriptor foreign(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(listener_.port));
    ASSERT_EQ(connect(foreign.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    // Until it is thrown out, or its packets are not read.
    for (int i = 0; i < of_one; ++i, ++sent) {
      const std::string bytes = packet(random);
      if (send(foreign.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0) break;
    }
    ++sent;
  }
  EXPECT_GT(foreign_count, packets / of_one);
  join_node();
  finish();
}

// A process that knows the secret and sends malformed frames does no harm either.
TEST_F(RootTest, LeavesOutNodesThatMakeNoSense) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Connection link = connect_to({"127.0.0.1"}, listener_.port, secret_, milliseconds_now() + 10'000);
    ASSERT_TRUE(link.is_open());
    Frame frame(FrameKind::node);
    frame.add(1).add(std::uint32_t{1}).add(1).add("damaged");
    // Its agent, its number of ranks or its rank: each is the only right one.
    std::string fields = frame.fields();
    fields[random() % 12] ^= static_cast<char>(1 + random() % 255);
    link.send(Frame(FrameKind::node, random() % 4 == 0 ? fields.substr(0, random() % 12) : fields));
    EXPECT_FALSE(link.receive_by(milliseconds_now() + 10'000));
    EXPECT_FALSE(link.is_open());
  }
  join_node();
  finish();
}

// More nodes than the usual limit of descriptors permits. Another process plays their agents; it says how long they have waited and
// how much they were told.
TEST(Root, HasRoomForThousandsOfNodes) {
  constexpr int nodes = 1'500, of_each = 64, size = nodes * of_each;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2 * nodes) GTEST_SKIP() << "the limit of descriptors (ulimit -Hn) is " << limit.rlim_max;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_cur, 1024);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  const Listener listener = *listen_on_networks(Ports());
  ASSERT_NE(listener.port, 0);
  const Secret secret{random_word(), random_word()};
  const pid_t others = fork();
  ASSERT_GE(others, 0);
  if (others == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<Connection> links;
    for (int node = 1; node < nodes; ++node) {
      Connection& link =
          links.emplace_back(connect_to({"127.0.0.1"}, listener.port, secret, milliseconds_now() + 30'000));
      Frame mine(FrameKind::node);
      mine.add(node * of_each).add(std::uint32_t{of_each});
      for (int i = 0; i < of_each; ++i) mine.add(node * of_each + i);
      link.send(mine.add("node"));
    }
    const std::int64_t since = milliseconds_now();
    bool told = true;
    std::size_t bytes = 0;
    for (int node = 1; node < nodes; ++node) {
      const std::optional<Frame> answer =
          links[static_cast<std::size_t>(node - 1)].receive_by(milliseconds_now() + 30'000);
      told &= answer && answer->kind() == FrameKind::nodes && Fields(*answer).index() == node;
      if (answer) bytes = answer->fields().size();
    }
    std::printf("the last of %d nodes has its answer of %zu bytes %lld ms after the last has come\n", nodes, bytes,
                static_cast<long long>(milliseconds_now() - since));
    std::fflush(stdout);
    _exit(told ? 0 : 1);
  }
  std::vector<int> own(of_each);
  std::iota(own.begin(), own.end(), 0);
  Gathered gathered = nodes_of({own});
  const std::int64_t since = milliseconds_now();
  const Result<void> done = gather_agents(listener.socket, secret, size, gathered);
  EXPECT_TRUE(done) << done.failure().text;
  std::printf("rank 0 has gathered them in %lld ms\n", static_cast<long long>(milliseconds_now() - since));
  int status = 0;
  ASSERT_EQ(waitpid(others, &status, 0), others);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(gathered.node_count(), nodes);
  EXPECT_EQ(gathered.first_ranks.back(), size);
}

TEST(Ports, AreARange) {
  const Result<Ports> range = read_ports("5000-5003"), one = read_ports("5000");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->first, 5000);
  EXPECT_EQ(range->last, 5003);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->last, 5000);
  for (const char* const text : {"", "-", "5000-", "-5000", "5003-5000", "0", "0-10", "5000-65536", "5000:5003",
                                 "5000-5003,", "5000 - 5003", "ssh", "99999999999"}) {
    const Result<Ports> ports = read_ports(text);
    ASSERT_FALSE(ports) << text;
    EXPECT_NE(ports.failure().text.find(std::string("'") + text + "' for HEDDLE_PORTS"), std::string::npos);
  }
}

TEST(NetworkSockets, ListenAtTheFirstPortThatIsFree) {
  // Two neighbouring ports that are free just now; another process may take one before we do.
  for (int round = 0; round < 100; ++round) {
    const Listener taken = *listen_on_networks(Ports());
    ASSERT_NE(taken.port, 0);
    if (taken.port == 65535) continue;
    const Ports pair{taken.port, taken.port + 1};
    const Result<Listener> next = listen_on_networks(pair);
    if (!next) continue;
    EXPECT_EQ(next->port, pair.last);
    const Result<Listener> none = listen_on_networks(pair);
    ASSERT_FALSE(none);
    const std::string range = std::to_string(pair.first) + '-' + std::to_string(pair.last);
    EXPECT_NE(none.failure().text.find("HEDDLE_PORTS=" + range), std::string::npos) << none.failure().text;
    return;
  }
  FAIL() << "no two neighbouring ports are free";
}

TEST(NetworkSockets, ListenAgainWhereAJobHasEnded) {
  Listener first = *listen_on_networks(Ports());
  ASSERT_NE(first.port, 0);
  const Secret secret{random_word(), random_word()};
  Connection accepted;
  std::thread client([&] { (void)connect_to({"127.0.0.1"}, first.port, secret, milliseconds_now() + 10'000); });
  while (!accepted.is_open()) accepted = accept_from_network(first.socket);
  accepted.close();  // before the other end: the port stays with this side for a while
  client.join();
  first.socket.reset();
  EXPECT_EQ(listen_on_networks({first.port, first.port})->port, first.port);
}

// An agent that ends has beats in its socket that it has not read, so the kernel resets the connection. Its earlier frames come
// all the same, and only then that it is gone.
TEST(NetworkSockets, TheLastWordComesThoughTheOtherHasNotReadAll) {
  const Listener listener = *listen_on_networks(Ports());
  ASSERT_NE(listener.port, 0);
  for (int round = 0; round < 200; ++round) {
    Descriptor made(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(listener.port));
    ASSERT_EQ(connect(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    Connection leaving(std::move(made)), staying;
    while (!staying.is_open()) staying = accept_from_network(listener.socket);
    for (int beat = 0; beat < 1 + round % 20; ++beat) staying.send(Frame(FrameKind::beat));
    leaving.send(Frame(FrameKind::end).add(round).add(0));
    leaving.close();
    staying.send(Frame(FrameKind::beat));
    const std::optional<Frame> last = staying.receive_by(milliseconds_now() + 10'000);
    ASSERT_TRUE(last) << "round " << round;
    EXPECT_EQ(last->kind(), FrameKind::end);
    EXPECT_EQ(Fields(*last).index(), round);
    EXPECT_FALSE(staying.receive_by(milliseconds_now() + 10'000));
    EXPECT_FALSE(staying.is_open());
  }
}

TEST(LocalSockets, ANameHasOneOwner) {
  const std::string name = "heddle-test-" + std::to_string(random_word());
  EXPECT_FALSE(connect_locally(name).is_open());
  Descriptor owner = listen_locally(name);
  ASSERT_TRUE(owner);
  EXPECT_FALSE(listen_locally(name));
  Connection link = connect_locally(name);
  ASSERT_TRUE(link.is_open());
  int foreign_count = 0;
  Connection accepted = accept_locally(owner, foreign_count);
  ASSERT_TRUE(accepted.is_open());
  EXPECT_FALSE(accept_locally(owner, foreign_count).is_open());
  EXPECT_EQ(foreign_count, 0);
  link.send(Frame(FrameKind::left));
  EXPECT_TRUE(accepted.receive_by(milliseconds_now() + 10'000));
  owner.reset();
  EXPECT_TRUE(listen_locally(name));
}

}  // namespace
}  // namespace heddle::boot
