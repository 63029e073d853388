// A network in a job that survives failures (src/network/fault_tolerant.hpp), of which a peer is killed, or stops for ever, while
// messages go to and fro: the survivor gives it up, waits for nothing any more, and goes on with others.
//
// Peers are processes of their own, this program again: `failing_test --peer NETWORK RANK DESCRIPTOR SEED`.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "network/every_network.hpp"
#include "network/fault_tolerant.hpp"

namespace heddle::lln {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int survivor = 0, victim = 1, other = 2;
constexpr auto at_once = 1s;

// Shared by the processes of a test.
struct Board {
  static constexpr std::size_t longest = 8192;
  struct Card {
    std::atomic<std::uint32_t> bytes;
    std::byte address[longest];
  };
  Card cards[ranks][most_rails];

  static Board& at(int fd) {
    void* const memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) std::abort();
    return *static_cast<Board*>(memory);
  }
};

class OnBoard final : public Directory {
 public:
  OnBoard(Board& board, int rank) : board_(board), rank_(rank) {}
  std::span<const std::byte> find(int peer, int vni) const override {
    const Board::Card& card = board_.cards[peer][vni / most_vnis];
    return {card.address, card.bytes.load(std::memory_order_acquire)};
  }
  bool publish(int vni, std::span<const std::byte> address) override {
    Board::Card& card = board_.cards[rank_][vni / most_vnis];
    if (address.size() > Board::longest) return false;
    std::copy(address.begin(), address.end(), card.address);
    card.bytes.store(static_cast<std::uint32_t>(address.size()), std::memory_order_release);
    return true;
  }

 private:
  Board& board_;
  int rank_;
};

std::byte byte_of(int from, std::uint32_t number, std::size_t at) {
  return static_cast<std::byte>(from * 89 + number * 31 + at);
}
std::size_t size_of(std::uint32_t number, std::size_t eager) { return number * 97 % (eager + 1); }

Posted post(Network& network, int from, int to, std::uint32_t number) {
  const std::size_t bytes = size_of(number, network.traits().eager);
  const auto fill = [&](std::byte* at) {
    for (std::size_t i = 0; i < bytes; ++i) at[i] = byte_of(from, number, i);
  };
  return network.post(to, {{MessageKind::eager, from, static_cast<int>(number), 7}, number, 0}, bytes, fill);
}

bool is_whole(const Network& network, int from, std::uint32_t number, const std::byte* payload, std::size_t bytes) {
  if (bytes != size_of(number, network.traits().eager)) return false;
  for (std::size_t i = 0; i < bytes; ++i)
    if (payload[i] != byte_of(from, number, i)) return false;
  return true;
}

// The victim posts as much as goes; the other sends back what has come. Until they are killed.
int be_peer(Network& network, int rank) {
  std::uint32_t next = 0;
  std::deque<std::uint32_t> owed;
  for (;;) {
    if (rank == victim && post(network, rank, survivor, next) == Posted::done) ++next;
    if (!owed.empty() && post(network, rank, survivor, owed.front()) == Posted::done) owed.pop_front();
    (void)network.poll(poll_batch, [&](int from, const Envelope& envelope, const std::byte*, std::size_t) {
      if (rank == other && from == survivor) owed.push_back(envelope.sequence);
      return true;
    });
  }
}

template <class Which>
Networks::End open(Directory& directory, int rank, std::uint64_t seed, const std::function<void(const char*)>& fail,
                   FunctionRef<void(int, const char*)> lost, const std::function<void(const char*)>& note,
                   std::string& why) {
  return Which::open({directory, {rank, ranks, rank, 1}, secret, 0, fail, lost, note, "", true}, seed, why);
}

using Kinds = std::tuple<OverLoopback, OverRails, OverComponent<ucx>, OverComponent<ofi>>;
template <class Which, std::size_t i = 0>
constexpr std::size_t number_of() {
  if constexpr (std::is_same_v<Which, std::tuple_element_t<i, Kinds>>) {
    return i;
  } else {
    return number_of<Which, i + 1>();
  }
}

template <class Which>
int be_peer(int rank, int fd, std::uint64_t seed) {
  OnBoard directory(Board::at(fd), rank);
  const std::function<void(const char*)> say = [](const char* text) { std::fprintf(stderr, "a peer: %s\n", text); };
  const auto lost = [](int, const char*) {};
  std::string why;
  const Networks::End end = open<Which>(directory, rank, seed, say, lost, say, why);
  return end ? be_peer(*end, rank) : EXIT_FAILURE;
}

class Process {
 public:
  Process(std::size_t network, int rank, int fd, std::uint64_t seed) {
    std::string words[] = {"failing_test",       "--peer",           std::to_string(network),
                           std::to_string(rank), std::to_string(fd), std::to_string(seed)};
    std::array<char*, std::size(words) + 1> arguments{};
    std::ranges::transform(words, arguments.begin(), [](std::string& word) { return word.data(); });
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv("/proc/self/exe", arguments.data());
    _exit(EXIT_FAILURE);
  }
  ~Process() { end(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void stop() const { kill(pid_, SIGSTOP); }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_;
};

template <class Which>
class FailingPeer : public testing::Test {
 protected:
  FailingPeer() : seed_(std::random_device()()), random_(static_cast<std::mt19937::result_type>(seed_)) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
  }
  // Opens the survivor's end, and starts its peers.
  void begin(std::chrono::nanoseconds patience) {
    fd_ = memfd_create("board", 0);
    ASSERT_EQ(ftruncate(fd_, sizeof(Board)), 0);
    directory_.emplace(Board::at(fd_), survivor);
    const auto open_end = [&](FaultTolerant::Lost lost) {
      told_ = [this, lost](int peer, const char* text) {
        ++losses_;
        lost(peer, text);
      };
      return open<Which>(*directory_, survivor, seed_, fail_, told_, note_, why_);
    };
    {
      OnBoard nowhere(Board::at(fd_), survivor);
      const auto ignored = [](int, const char*) {};
      if (!open<Which>(nowhere, survivor, seed_, fail_, ignored, note_, why_)) GTEST_SKIP() << why_;
    }
    end_ = std::make_unique<FaultTolerant>(
        open_end, fail_, [this](int) { return is_gone_; }, patience.count());
    for (const int rank : {victim, other})
      peers_[static_cast<std::size_t>(rank)] = std::make_unique<Process>(number_of<Which>(), rank, fd_, seed_);
  }
  void TearDown() override {
    if (fd_ >= 0) close(fd_);
  }
  Process& process(int rank) { return *peers_[static_cast<std::size_t>(rank)]; }

  // Takes what has come.
  void take() {
    (void)end_->poll(poll_batch, [&](int from, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
      EXPECT_TRUE(is_whole(*end_, from, envelope.sequence, payload, bytes)) << "of " << from;
      ++came_[from];
      if (from == other) {
        EXPECT_LT(envelope.sequence, posted_[other]);
        EXPECT_TRUE(is_owed_[envelope.sequence]) << envelope.sequence << " has come twice";
        is_owed_[envelope.sequence] = false;
      }
      return true;
    });
  }
  // Posts the next one to it, where there is room.
  void send(int to) {
    if (to == other && is_owed_.size() == posted_[other]) is_owed_.push_back(true);
    if (post(*end_, survivor, to, posted_[to]) == Posted::done) ++posted_[to];
  }
  // step() until holds(). False: not in time.
  template <class Step, class Holds>
  bool wait(Clock::duration limit, Step&& step, Holds&& holds) {
    for (const auto end = Clock::now() + limit; !holds(); step())
      if (Clock::now() >= end || this->HasFailure()) return false;
    return true;
  }
  // Messages go in all directions. The victim is asked for nothing, and need not take anything.
  void talk(Clock::duration time) {
    const auto end = Clock::now() + time;
    ASSERT_TRUE(wait(
        30s,
        [&] {
          send(victim);
          if (posted_[other] - came_[other] < 20) send(other);
          take();
        },
        [&] { return came_[victim] != 0 && came_[other] != 0 && Clock::now() >= end; }));
  }
  void exchange(std::uint32_t more) {
    const std::uint32_t all = posted_[other] + more;
    ASSERT_TRUE(wait(
        30s,
        [&] {
          if (posted_[other] < all) send(other);
          take();
        },
        [&] { return came_[other] == all; }))
        << came_[other] << " of " << all;
  }
  std::chrono::milliseconds up_to(int most) {
    return std::chrono::milliseconds(std::uniform_int_distribution<>(0, most)(random_));
  }

  // Until the victim, which takes nothing any more, is sent nothing more either.
  void fill() {
    std::uint32_t before = posted_[victim];
    auto since = Clock::now();
    (void)wait(
        10s,
        [&] {
          send(victim), take();
          if (posted_[victim] != before) before = posted_[victim], since = Clock::now();
        },
        [&] { return Clock::now() - since > 50ms; });
  }
  // `is_killed`: else it stops, and its connection stays.
  void survive(bool is_killed) {
    begin(300ms);
    if (this->IsSkipped() || this->HasFatalFailure()) return;
    EXPECT_EQ(end_->traits().longs, 0U) << "a library would have memory of the program";
    talk(up_to(100));
    if (this->HasFatalFailure()) return;
    is_killed ? process(victim).end() : process(victim).stop();
    if (random_() % 2 == 0) {  // the network may notice before it is told
      const auto until = Clock::now() + up_to(50);
      (void)wait(
          1s, [&] { send(victim), take(); }, [&] { return Clock::now() >= until; });
    }
    if (!is_killed) fill();
    if (!is_killed || random_() % 2 == 0) end_->flush();
    end_->want_room(victim);
    is_gone_ = true;
    end_->give_up(victim);
    EXPECT_NE(end_->slow_peer(), victim);
    EXPECT_EQ(post(*end_, survivor, victim, 1), Posted::done);
    const bool left = wait(
        at_once, [&] { take(); }, [&] { return !end_->any_under_way(); });
    EXPECT_TRUE(left) << "it waits for rank " << end_->slow_peer();
    exchange(500);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(post(*end_, survivor, victim, 1), Posted::done);
    end_->forget_room();
    end_->flush();
    const bool flushed = wait(
        at_once, [&] { take(); }, [&] { return !end_->any_under_way(); });
    EXPECT_TRUE(flushed) << "it waits for rank " << end_->slow_peer();
    // Longer than one who is lost is waited for.
    const auto until = Clock::now() + 400ms;
    (void)wait(
        1s, [&] { take(); }, [&] { return Clock::now() >= until; });
    end_->give_up(victim);
    const auto begin = Clock::now();
    end_.reset();
    EXPECT_LT(Clock::now() - begin, at_once) << "to close it";
    EXPECT_EQ(failures_, 0) << failure_;
  }
  // Until the network has noticed that the victim is gone; where it notices nothing it is told.
  void lose() {
    talk(20ms);
    if (this->HasFatalFailure()) return;
    process(victim).end();
    constexpr bool notices = number_of<Which>() >= number_of<OverComponent<ucx>>();
    const bool noticed = notices && wait(
                                        10s, [&] { send(victim), take(); }, [&] { return losses_ != 0; });
    if (!noticed) told_(victim, "rank 0 cannot reach rank 1 on another node any more");
    ASSERT_FALSE(this->HasFailure());
  }

  std::uint64_t seed_;
  std::mt19937 random_;
  int fd_ = -1;
  std::optional<OnBoard> directory_;
  std::string why_;
  int failures_ = 0;
  std::string failure_;
  std::function<void(const char*)> fail_ = [this](const char* text) {
    ++failures_;
    failure_ = text;
  };
  std::function<void(const char*)> note_ = [](const char* text) { ADD_FAILURE() << text; };
  int losses_ = 0;
  std::function<void(int, const char*)> told_;
  bool is_gone_ = false;
  std::unique_ptr<FaultTolerant> end_;
  std::array<std::unique_ptr<Process>, ranks> peers_;
  std::array<std::uint32_t, ranks> posted_{}, came_{};
  std::vector<bool> is_owed_;  // by the other
};
TYPED_TEST_SUITE(FailingPeer, AllNetworks);

TYPED_TEST(FailingPeer, IsGivenUpWhenItWasKilled) { this->survive(true); }
TYPED_TEST(FailingPeer, IsGivenUpWhenItAnswersNoMore) { this->survive(false); }

// All threads may sleep when the time is over.
TYPED_TEST(FailingPeer, EndsTheJobWhenItIsLostAndHasNotFailed) {
  constexpr auto patience = 300ms;
  this->begin(patience);
  if (this->IsSkipped() || this->HasFatalFailure()) return;
  this->lose();
  if (this->HasFatalFailure()) return;
  EXPECT_EQ(this->failures_, 0) << "it has time";
  Network& end = *this->end_;
  const auto limit = Clock::now() + 10s;
  while (this->failures_ == 0 && Clock::now() < limit) {
    if (end.arm()) {
      pollfd readable{.fd = end.wake_fd(), .events = POLLIN, .revents = 0};
      EXPECT_EQ(::poll(&readable, 1, 5000), 1) << "no thread wakes";
      EXPECT_TRUE(end.arrived());
    }
    this->take();
  }
  EXPECT_EQ(this->failures_, 1);
  EXPECT_NE(this->failure_.find("rank 0 cannot reach rank 1 on another node any more"), std::string::npos)
      << this->failure_;
}

// It was reported, and the thread that polls first does not know it.
TYPED_TEST(FailingPeer, EndsNothingWhenItIsKnownToHaveFailed) {
  this->begin(100ms);
  if (this->IsSkipped() || this->HasFatalFailure()) return;
  this->is_gone_ = true;
  this->lose();
  const auto until = Clock::now() + 200ms;
  (void)this->wait(
      1s, [&] { this->take(); }, [&] { return Clock::now() >= until; });
  EXPECT_EQ(this->failures_, 0) << this->failure_;
}

// Nor when it is given up in time, whatever became of its messages.
TYPED_TEST(FailingPeer, EndsNothingWhenItIsGivenUpInTime) {
  this->begin(300ms);
  if (this->IsSkipped() || this->HasFatalFailure()) return;
  this->lose();
  if (this->HasFatalFailure()) return;
  this->is_gone_ = true;
  this->end_->give_up(victim);
  const auto until = Clock::now() + 400ms;
  (void)this->wait(
      1s, [&] { this->send(victim), this->take(); }, [&] { return Clock::now() >= until; });
  EXPECT_EQ(this->failures_, 0) << this->failure_;
  this->exchange(50);
}

template <std::size_t... i>
int be_peer(std::size_t network, int rank, int fd, std::uint64_t seed, std::index_sequence<i...>) {
  int result = EXIT_FAILURE;
  (void)((network == i && (result = be_peer<std::tuple_element_t<i, Kinds>>(rank, fd, seed), true)) || ...);
  return result;
}

}  // namespace

int be_peer_of(char** words) {
  return be_peer(std::strtoul(words[0], nullptr, 10), std::atoi(words[1]), std::atoi(words[2]),
                 std::strtoull(words[3], nullptr, 10), std::make_index_sequence<std::tuple_size_v<Kinds>>());
}

}  // namespace heddle::lln

int main(int argc, char** argv) {
  if (argc == 6 && std::string(argv[1]) == "--peer") return heddle::lln::be_peer_of(argv + 2);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
