// The choices of the outbox's strategies, in packets: behind them a network that takes so many and no more.
#include "messaging/message/outbox/outbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "messaging/message/outbox/priority.hpp"
#include "network/header.hpp"
#include "objects/object/comm.hpp"

namespace heddle::message {
namespace {

constexpr int peer = 3;
constexpr std::size_t short_bytes = 8;
constexpr std::size_t long_bytes = PriorityStrategy::long_from;
constexpr std::uint64_t world = lln::most_vnis * contexts_apart;
constexpr std::uint64_t other = world + contexts_apart;

// Messages that wait in an outbox of one strategy, and a network. Departures are recorded: messages by what they are called, those of
// a packet together, pieces as "-".
class Waiting {
 public:
  explicit Waiting(const std::string& strategy) : outbox_(4, make_strategy(strategy)) {}
  ~Waiting() { (void)leave(1'000'000); }

  void send(const std::string& name, std::size_t bytes, std::uint64_t context = world, int tag = 0) {
    Request& request = requests_.emplace_back();
    request.peer = peer;
    request.context = context;
    request.tag = tag;
    request.capacity = bytes;
    append(&request, name, bytes);
  }
  void answer(const std::string& name) { append(nullptr, name, 16); }
  void send_long(int pieces) {
    longs_.push_back(std::make_unique<Long>());
    longs_.back()->pieces = pieces;
    outbox_.append_long(peer, *longs_.back());
  }
  // The packets that a network with room for so many takes.
  std::vector<std::string> leave(int room) {
    room_ = room;
    left_.clear();
    while (outbox_.any()) {
      const std::size_t before = left_.size();
      flush();
      if (left_.size() == before) break;
    }
    return left_;
  }
  // The same in one poll.
  std::vector<std::string> leave_at_once(int room) {
    room_ = room;
    left_.clear();
    flush();
    return left_;
  }
  // As much again may be on its way.
  void hear() { on_their_way_ = 0; }
  bool holds() { return outbox_.holds(peer); }
  bool empty() const { return !outbox_.any(); }

 private:
  struct Long : OutboxLong {
    int pieces = 0;
  };
  class Network final : public Packets {
   public:
    explicit Network(Waiting& of) : of_(of) {}
    bool any_pieces() const { return any_pieces_; }
    std::size_t bytes(const OutboxItem& item) const override { return item.bytes; }
    std::size_t fit(const OutboxItem& first) override {
      std::size_t n = 0, sum = 0;
      for (const OutboxItem* item = &first; item != nullptr && (n == 0 || sum + item->bytes <= 8192);
           item = item->next) {
        sum += item->bytes;
        ++n;
      }
      return n;
    }
    bool post(const OutboxItem& first, std::size_t n) override {
      if (of_.room_ == 0) return false;
      --of_.room_;
      std::string names;
      const OutboxItem* item = &first;
      for (std::size_t i = 0; i < n; ++i, item = item->next) names += of_.names_[item->header.tag];
      of_.left_.push_back(names);
      return true;
    }
    bool post_piece() override {
      auto* const first = static_cast<Long*>(of_.outbox_.first_long(peer));
      const int ahead = of_.outbox_.pieces_ahead();
      if (first == nullptr || of_.room_ == 0 || (ahead != 0 && of_.on_their_way_ == ahead)) return false;
      --of_.room_;
      ++of_.on_their_way_;
      of_.left_.emplace_back("-");
      if (--first->pieces == 0) of_.outbox_.end_first_long(peer);
      any_pieces_ = true;
      return true;
    }

   private:
    Waiting& of_;
    bool any_pieces_ = false;
  };

  void flush() {
    (void)outbox_.flush([this](OutboxPeer&, auto&& send_by) { send_by(Network(*this)); });
  }
  void append(Request* request, const std::string& name, std::size_t bytes) {
    OutboxItem& item = outbox_.make();
    item.request = request;
    item.bytes = bytes;
    item.header.tag = static_cast<int>(names_.size());
    names_.push_back(name);
    outbox_.append(peer, item);
  }

  Outbox outbox_;
  std::deque<Request> requests_;
  std::vector<std::unique_ptr<Long>> longs_;
  std::vector<std::string> names_;
  std::vector<std::string> left_;
  int room_ = 0;
  int on_their_way_ = 0;
};

using Left = std::vector<std::string>;

std::vector<std::string> names(int n) {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) all.push_back(std::string(strategy_name(i)));
  return all;
}

TEST(Strategies, LeaveTheRestOfALongQueueToTheNextPoll) {
  constexpr std::size_t messages = 400, most = 128;  // 64 packets before and after the pieces of a long message
  for (const std::string& name : names(5)) {
    Waiting waiting(name);
    for (std::size_t i = 0; i < messages; ++i) waiting.send("a", 8192);
    waiting.send_long(2);
    Left left = waiting.leave_at_once(1'000'000);
    const auto first = static_cast<std::size_t>(std::ranges::count(left, "a"));
    EXPECT_GT(first, 0U) << name;
    EXPECT_LE(first, most) << name;
    left = waiting.leave(1'000'000);
    EXPECT_EQ(first + static_cast<std::size_t>(std::ranges::count(left, "a")), messages) << name;
  }
}

TEST(Strategies, HaveNumbersAndNames) {
  for (const std::string& name : names(5)) {
    EXPECT_TRUE(is_strategy(name));
    EXPECT_EQ(strategy_name(strategy_number(name)), name);
  }
  EXPECT_TRUE(is_strategy(default_strategy));
  EXPECT_FALSE(is_strategy("best"));
  EXPECT_EQ(no_strategy("best"), "strategy=best is none of direct, aggregate, priority, auto, split");
  EXPECT_TRUE(no_strategy("agregate").ends_with("; did you mean aggregate?")) << no_strategy("agregate");
}

// Nothing is lost or doubled, and messages that one receive could take leave as they came; by seed.
TEST(Strategies, KeepTheOrderOfMPI) {
  const unsigned seed = std::random_device()();
  std::printf("seed %u\n", seed);
  std::mt19937 random(seed);
  for (const std::string& strategy : names(5)) {
    Waiting waiting(strategy);
    std::vector<std::vector<std::string>> sent(6), left(6);
    int number = 0, pieces = 0, pieces_left = 0;
    while (number < 20'000 || !waiting.empty()) {
      for (unsigned i = random() % 20; i != 0 && number < 20'000; --i, ++number) {
        const unsigned what = random() % 8;
        const auto name_in = [&](unsigned stream) {
          std::string name{static_cast<char>('a' + stream)};
          name += std::to_string(number) + ' ';
          sent[stream].push_back(name);
          return name;
        };
        const std::size_t bytes = random() % 3 == 0 ? long_bytes : short_bytes;
        if (what < 4) {
          const unsigned stream = random() % 2;
          waiting.send(name_in(stream), bytes, stream == 0 ? world : other, static_cast<int>(random() % 3));
        } else if (what < 6) {  // where no receive has MPI_ANY_TAG, a message with another tag may pass
          const unsigned tag = random() % 3;
          waiting.send(name_in(2 + tag), bytes, (other + contexts_apart) | promise_no_any_tag, static_cast<int>(tag));
        } else if (what == 6) {
          waiting.answer(name_in(5));
        } else {
          const int n = 1 + static_cast<int>(random() % 30);
          waiting.send_long(n);
          pieces += n;
        }
      }
      waiting.hear();
      for (const std::string& packet : waiting.leave(static_cast<int>(random() % 20))) {
        if (packet == "-") ++pieces_left;
        for (std::size_t at = 0; packet != "-" && at < packet.size();) {
          const std::size_t end = packet.find(' ', at) + 1;
          left[static_cast<std::size_t>(packet[at] - 'a')].push_back(packet.substr(at, end - at));
          at = end;
        }
      }
    }
    EXPECT_EQ(left, sent) << strategy;
    EXPECT_EQ(pieces_left, pieces) << strategy;
  }
}

TEST(Strategies, LetMessagesGoTogether) {
  for (const std::string& strategy : names(5)) {
    Waiting waiting(strategy);
    for (const char* name : {"a", "b", "c"}) waiting.send(name, short_bytes);
    EXPECT_EQ(waiting.leave(100), strategy == "direct" ? (Left{"a", "b", "c"}) : Left{"abc"});
  }
}

// The messages have waited behind pieces of a long one and behind eager ones that are long.
TEST(Priority, LetsAShortMessageLeaveFirst) {
  Waiting direct("direct"), priority("priority");
  for (Waiting* waiting : {&direct, &priority}) {
    waiting->send_long(1000);
    for (int i = 0; i < 5; ++i) waiting->send("L", long_bytes);
    waiting->send("s", short_bytes, other);
    waiting->answer("a");
  }
  EXPECT_EQ(direct.leave(3), (Left{"L", "L", "L"}));
  EXPECT_EQ(priority.leave(3), (Left{"saLLL", "LL", "-"}));
}

TEST(Priority, PassesNothingThatAReceiveCouldTakeInItsStead) {
  Waiting waiting("priority");
  waiting.send("L", long_bytes, world, 1);
  waiting.send("l", long_bytes, world | promise_no_any_tag, 1);
  waiting.send("x", short_bytes, world, 2);  // MPI_ANY_TAG would take it
  waiting.send("y", short_bytes, world | promise_no_any_tag, 1);
  waiting.send("z", short_bytes, world | promise_no_any_tag, 2);
  EXPECT_EQ(waiting.leave(100), Left{"zLlxy"});
}

TEST(Priority, BoundsWhatIsOnItsWay) {
  Waiting waiting("priority");
  waiting.send_long(100);
  EXPECT_EQ(waiting.leave(100), Left(PriorityStrategy::most_pieces, "-"));
  waiting.send("s", short_bytes);
  EXPECT_EQ(waiting.leave(100), Left{"s"});
  waiting.hear();
  EXPECT_EQ(waiting.leave(100), Left(PriorityStrategy::most_pieces, "-"));
}

// However many short ones come, long ones leave.
TEST(Priority, StarvesNothingLong) {
  Waiting waiting("priority");
  for (int i = 0; i < 4; ++i) waiting.send("L", 8192);  // a packet each
  int packets = 0, longs = 0;
  for (; packets < 1000 && longs < 4; ++packets) {
    waiting.send("s", short_bytes, other);
    waiting.send("s", short_bytes, other);
    for (const std::string& packet : waiting.leave(1)) longs += static_cast<int>(std::ranges::count(packet, 'L'));
  }
  EXPECT_EQ(longs, 4);
  EXPECT_LE(packets, 4 * (PriorityStrategy::most_passing + 1));
  waiting.send_long(10);
  int pieces = 0;
  for (packets = 0; packets < 1000 && pieces < 10; ++packets) {
    waiting.send("s", short_bytes);
    waiting.send("s", short_bytes);
    for (const std::string& packet : waiting.leave(1)) pieces += packet == "-" ? 1 : 0;
    waiting.hear();
  }
  EXPECT_EQ(pieces, 10);
  EXPECT_LE(packets, 10 * (PriorityStrategy::most_before + 1));
}

TEST(Priority, HoldsNothingBesideALongMessage) {
  Waiting waiting("priority");
  EXPECT_TRUE(waiting.holds());
  waiting.send_long(1);
  EXPECT_FALSE(waiting.holds());
  (void)waiting.leave(1);
  EXPECT_TRUE(waiting.holds());
}

// A sender that has waited without result repeatedly waits no more, but for a trial now and then; and once it has found company, again.
TEST(Auto, HoldsWhereThatBringsCompany) {
  Waiting waiting("auto");
  int held = 0;
  const auto one = [&](int together) {
    const bool holds = waiting.holds();
    held += holds ? 1 : 0;
    for (int i = 0; i < together && holds; ++i) waiting.send("m", short_bytes);
    (void)waiting.leave(1);
    return holds;
  };
  for (int i = 0; i < 1000; ++i) one(1);
  EXPECT_GE(held, 4);
  EXPECT_LE(held, 4 + 1000 / 32);
  int passed = 0;
  while (!one(3)) ASSERT_LE(++passed, 32);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(one(3)) << i;
}

}  // namespace
}  // namespace heddle::message
