// The guarantees of every network that leads to other nodes (src/network/network.hpp), by one body for each: what is posted
// arrives once, as it was, however often it was refused; in order and bounded by credit behind Remote; and who sleeps on the
// descriptor is woken by what arrives and by room. A network that is a component is tested as one; its tests are skipped where
// there is none.
#include "network/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/every_network.hpp"

namespace heddle::lln {
namespace {

TYPED_TEST_SUITE(EveryNetwork, AllNetworks);

TYPED_TEST(EveryNetwork, DeliverEachMessageOnceAndUnchanged) {
  constexpr std::uint32_t messages = 2000;
  std::uint32_t posted[ranks][ranks] = {};
  std::vector<std::uint32_t> seen[ranks][ranks];
  std::uint64_t left = std::uint64_t{messages} * ranks * (ranks - 1);
  while (left != 0) {
    const int me = static_cast<int>(this->random_() % ranks);
    const int peer = static_cast<int>(this->random_() % ranks);
    if (peer != me && posted[me][peer] < messages &&
        this->post(*this->ends_[me], me, peer, posted[me][peer]) == Posted::done)
      ++posted[me][peer];
    (void)this->ends_[me]->poll(poll_batch,
                                [&](int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
                                  this->expect_message(sender, envelope.header, payload, bytes);
                                  EXPECT_EQ(envelope.sequence, static_cast<std::uint32_t>(envelope.header.tag));
                                  seen[sender][me].push_back(envelope.sequence);
                                  --left;
                                  return true;
                                });
  }
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) {
      std::sort(seen[from][to].begin(), seen[from][to].end());
      for (std::uint32_t i = 0; from != to && i < messages; ++i) ASSERT_EQ(seen[from][to][i], i);
    }
}

// A message of which a part has come waits for the rest, while another peer sends more than all buffers hold.
TYPED_TEST(EveryNetwork, KeepMessagesOfSeveralPeersApart) {
  std::uint32_t posted[ranks] = {}, seen[ranks] = {};
  const auto post = [&](int from) {
    if (this->post(*this->ends_[from], from, 0, posted[from]) == Posted::done) ++posted[from];
    (void)this->ends_[from]->poll(poll_batch, [](auto&&...) { return true; });
  };
  const auto receive = [&] {
    (void)this->ends_[0]->poll(poll_batch,
                               [&](int sender, const Envelope& envelope, const std::byte* payload, std::size_t bytes) {
                                 this->expect_message(sender, envelope.header, payload, bytes);
                                 if (this->ends_[0]->traits().ordered) {
                                   EXPECT_EQ(envelope.sequence, seen[sender]) << "of " << sender;
                                 }
                                 ++seen[sender];
                                 return true;
                               });
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  const auto wait = [&](auto&& step, auto&& holds) {
    while (!holds() && !this->HasFailure() && std::chrono::steady_clock::now() < end) step();
    EXPECT_TRUE(holds());
  };
  for (const int from : {1, 2}) wait([&] { post(from), receive(); }, [&] { return seen[from] != 0; });
  std::uint32_t refused = 0;
  for (std::uint32_t before = posted[1]; refused < 10'000;
       refused = before == posted[1] ? refused + 1 : 0, before = posted[1])
    post(1);
  for (int round = 0; round < 3; ++round) {
    const std::uint32_t all = posted[2] + 5'000;
    wait([&] { post(2), receive(); }, [&] { return seen[2] >= all; });
  }
  wait([&] { (void)this->ends_[1]->poll(poll_batch, [](auto&&...) { return true; }), receive(); },
       [&] { return seen[1] == posted[1]; });
}

TYPED_TEST(EveryNetwork, DeliverInOrderBehindRemote) {
  this->eager_ = std::min(this->eager_, Credits::longest_at_first);
  constexpr std::uint32_t messages = 3000;
  instruments::Counters counters[2];
  Remote sender(counters[0], no_bound);
  sender.open(std::move(this->ends_[0]));
  Remote receiver(counters[1], no_bound);
  receiver.open(std::move(this->ends_[1]));
  instruments::switch_on();
  std::uint64_t sent_bytes = 0;
  std::uint32_t posted = 0;
  std::uint32_t taken = 0;
  while (taken < messages) {
    const std::size_t bytes = this->size_of(posted);
    const auto fill = [&](std::byte* at) {
      for (std::size_t i = 0; i < bytes; ++i) at[i] = this->byte_of(0, posted, i);
    };
    if (posted < messages &&
        sender.post(1, {MessageKind::eager, 0, static_cast<int>(posted), 7}, bytes, fill) == Posted::done) {
      ++posted;
      sent_bytes += bytes;
    }
    (void)poll(receiver, [&](int, const Header& header, const std::byte* payload, std::size_t n) {
      ASSERT_EQ(header.tag, static_cast<int>(taken));
      this->expect_message(0, header, payload, n);
      ++taken;
      receiver.note_matched(0, n);
    });
    (void)poll(sender, unexpected);
  }
  instruments::switch_off();
  const instruments::Totals sent = counters[0].totals();
  EXPECT_EQ(sent[instruments::Count::connections], 1);
  EXPECT_EQ(sent[instruments::Count::bytes_away], sent_bytes);
}

// A message for which there is no memory is offered again, and nothing is lost or doubled.
TYPED_TEST(EveryNetwork, KeepWhatTheSinkRefuses) {
  constexpr std::uint32_t messages = 500;
  instruments::Counters counters[2];
  Remote sender(counters[0], no_bound);
  sender.open(std::move(this->ends_[0]));
  Remote receiver(counters[1], no_bound);
  receiver.open(std::move(this->ends_[1]));
  std::uint32_t posted = 0;
  std::uint32_t taken = 0;
  while (taken < messages) {
    if (posted < messages &&
        sender.post(1, {MessageKind::eager, 0, static_cast<int>(posted), 7}, 0, [](std::byte*) {}) == Posted::done)
      ++posted;
    try {
      (void)poll(receiver, [&](int, const Header& header, const std::byte*, std::size_t) {
        ASSERT_EQ(header.tag, static_cast<int>(taken));
        if (this->random_() % 3 == 0) throw std::bad_alloc();
        ++taken;
        receiver.note_matched(0, 0);
      });
    } catch (const std::bad_alloc&) {
    }
    (void)poll(sender, unexpected);
  }
}

// Takes nothing as long as it is busy, and nothing arrives.
class BusyNetwork final : public Network {
 public:
  explicit BusyNetwork(const bool& busy) : busy_(busy) {}
  const Traits& traits() const override { return traits_; }
  Posted post(int, const Envelope&, std::size_t, Fill) override { return busy_ ? Posted::busy : Posted::done; }
  Posted post_long(int, std::uint64_t, std::span<const std::byte>, std::uint64_t) override { return Posted::busy; }
  void give_up(int) override {}
  void flush() override {}
  int poll(int, Sink) override { return 0; }
  bool arrived() const override { return false; }
  bool any_under_way() const override { return false; }
  int slow_peer() const override { return -1; }
  void want_room(int) override {}
  void forget_room() override {}
  bool arm() override { return true; }
  int wake_fd() const override { return -1; }
  std::int64_t poll_again_after() const override { return 0; }

 private:
  const bool& busy_;
  const Traits traits_{.eager = 1500, .ordered = true, .longs = 0};
};

// A receiver may poll only when there is something to do, and its sender waits for the credit.
TEST(Remote, HasSomethingToDoUntilCreditIsReturned) {
  bool busy = true;
  instruments::Counters counters;
  Remote receiver(counters, no_bound);
  receiver.open(Networks::End(new BusyNetwork(busy)));
  EXPECT_FALSE(receiver.arrived());
  for (std::uint64_t owed = 0; owed < Credits::window / 2; owed += Credits::cost(0)) receiver.note_stored(1, 0);
  EXPECT_TRUE(receiver.arrived());
  (void)poll(receiver, unexpected);
  EXPECT_TRUE(receiver.arrived());
  busy = false;
  (void)poll(receiver, unexpected);
  EXPECT_FALSE(receiver.arrived());
}

// Eager messages that are not received stay below the window; announcements, answers and data need no credit; and what has been
// received may be sent again, by either side at once. A message that the sink refuses returns no credit twice.
TYPED_TEST(EveryNetwork, BoundEagerMessagesBehindRemote) {
  instruments::Counters counters[2];
  Remote ends[] = {Remote(counters[0], no_bound), Remote(counters[1], no_bound)};
  for (int i : {0, 1}) ends[i].open(std::move(this->ends_[static_cast<std::size_t>(i)]));
  std::uint64_t sent[2] = {};
  std::uint64_t received[2] = {};
  std::vector<std::pair<MessageKind, std::size_t>> kept[2];
  std::uint64_t held[2] = {};
  const auto post = [&](int me, MessageKind kind, std::size_t bytes) {
    const Header header{kind, me, static_cast<int>(sent[me]), 7};
    const Posted posted = ends[me].post(1 - me, header, bytes, [](std::byte*) {});
    if (posted == Posted::done) ++sent[me];
    return posted;
  };
  const auto receive = [&](int me) {
    try {
      (void)poll(ends[me], [&](int from, const Header& header, const std::byte*, std::size_t bytes) {
        ASSERT_EQ(from, 1 - me);
        ASSERT_EQ(header.tag, static_cast<int>(received[me]));
        if (this->random_() % 4 == 0) throw std::bad_alloc();
        ++received[me];
        if (!needs_credit(header.kind)) return;
        kept[me].emplace_back(header.kind, bytes);
        held[me] += Credits::cost(bytes);
        ASSERT_LE(held[me], Credits::widest);
      });
    } catch (const std::bad_alloc&) {
    }
  };
  // A network may need both sides for what one sends.
  const auto receive_both = [&] {
    receive(0);
    receive(1);
  };
  for (int round = 0; round < 20; ++round) {
    for (int refused = 0; refused < 2;) {
      const int me = static_cast<int>(this->random_() % 2);
      const auto kind = this->random_() % 5 == 0   ? MessageKind::rts
                        : this->random_() % 2 == 0 ? MessageKind::eager
                                                   : MessageKind::eager_ack;
      const std::size_t bytes = this->random_() % (std::min<std::size_t>(this->eager_, 1500) + 1);
      if (post(me, kind, bytes) != Posted::done && needs_credit(kind) && ends[me].waits_for_credit(1 - me, bytes))
        ++refused;
      receive(static_cast<int>(this->random_() % 2));
    }
    for (int me : {0, 1})
      while (received[me] != sent[1 - me]) receive_both();
    for (int me : {0, 1}) {
      for (const auto& [kind, bytes] : kept[me]) {
        ends[me].note_matched(1 - me, bytes);
        held[me] -= Credits::cost(bytes);
      }
      kept[me].clear();
    }
    // Returned credit has come when a message posted after it has.
    for (int me : {0, 1})
      while (post(me, MessageKind::rts, 0) != Posted::done) receive_both();
    for (int me : {0, 1})
      while (received[me] != sent[1 - me]) receive_both();
  }
  EXPECT_GT(sent[0], 20U * 20);
}

// One thread has armed it and another cannot: what has come in between shows at no descriptor, and a poll has to fetch it.
TYPED_TEST(EveryNetwork, ShowWhatKeepsThemFromBeingArmed) {
  Network& sender = *this->ends_[0];
  Network& receiver = *this->ends_[1];
  this->connect(sender, receiver);
  for (int round = 0; round < 50; ++round) {
    EXPECT_TRUE(this->sleeps(receiver));
    while (this->post(sender, 0, 1, 5) != Posted::done) (void)sender.poll(poll_batch, this->none);
    for (int tries = 0; tries < 200; ++tries) {
      if (sender.any_under_way()) (void)sender.poll(poll_batch, this->none);
      if (!receiver.arm()) {
        EXPECT_TRUE(receiver.arrived());
      }
    }
    while (receiver.poll(poll_batch, this->any) == 0) (void)sender.poll(poll_batch, this->none);
  }
}

TYPED_TEST(EveryNetwork, WakeWhoSleepsForAMessage) {
  Network& sender = *this->ends_[0];
  Network& receiver = *this->ends_[1];
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(this->sleeps(receiver));
    while (this->post(sender, 0, 1, 5) != Posted::done) {
    }
    // Until it has been handed over: it may be held back, and a blocked thread is woken again then.
    for (int handed = 0, tries = 0; handed == 0; ++tries) {
      ASSERT_LT(tries, 10'000);
      if (sender.any_under_way()) (void)sender.poll(poll_batch, this->none);
      if (this->wakes(receiver, sender.any_under_way() ? 1 : 10'000)) handed = receiver.poll(poll_batch, this->any);
    }
  }
  EXPECT_TRUE(this->sleeps(receiver));
}

TYPED_TEST(EveryNetwork, WakeWhoSleepsForRoom) {
  constexpr int most = 1'000'000;
  Network& sender = *this->ends_[0];
  Network& receiver = *this->ends_[1];
  this->connect(sender, receiver);
  std::uint32_t posted = 0;
  // Full: refused so often in a row is no accident, and nothing moves any more.
  for (int refused = 0; refused < 200 || !this->sleeps(sender);) {
    ASSERT_LT(posted, most) << "nothing bounds what is on its way";
    if (this->post(sender, 0, 1, posted) == Posted::done) {
      ++posted;
      refused = 0;
    } else {
      ++refused;
      (void)sender.poll(poll_batch, this->none);
    }
  }
  sender.want_room(1);
  EXPECT_FALSE(this->wakes(sender, 0));
  std::uint32_t taken = 0;
  while (taken < posted) {
    taken += static_cast<std::uint32_t>(receiver.poll(poll_batch, this->any));
    (void)sender.poll(poll_batch, this->none);
  }
  EXPECT_TRUE(this->wakes(sender, 10'000));
  while (this->post(sender, 0, 1, posted) != Posted::done) {
  }
  EXPECT_TRUE(this->wakes(sender, 10'000)) << "others may still want room when one has found some";
  sender.forget_room();
  EXPECT_TRUE(this->sleeps(sender)) << "no thread wants room any more";
}

TYPED_TEST(EveryNetwork, RefuseAPeerThatHasNotComeYet) {
  Table table;
  Table::Of ours = table.of(0);
  const auto early = this->open(ours, 0);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(this->post(*early, 0, 1, 0), Posted::busy);
  early->want_room(1);
  EXPECT_GT(early->poll_again_after(), 0) << "nothing would wake who waits for it";
  Table::Of theirs = table.of(1);
  const auto late = this->open(theirs, 1);
  while (this->post(*early, 0, 1, 0) != Posted::done) {
  }
}

// A message to it may be the end of the job, but no harm to others.
TYPED_TEST(EveryNetwork, LoseOnlyWhatIsSentToAPeerThatHasGone) {
  Network& sender = *this->ends_[0];
  while (this->post(sender, 0, 1, 0) != Posted::done) {
  }
  this->ends_[1].reset();
  for (int i = 0; i < 100; ++i) {
    (void)this->post(sender, 0, 1, 1);
    (void)sender.poll(poll_batch, this->none);
  }
  while (this->post(sender, 0, 2, 2) != Posted::done) {
  }
  int handed = 0;
  while (handed == 0) {
    (void)sender.poll(poll_batch, this->none);
    handed = this->ends_[2]->poll(poll_batch, this->any);
  }
}

// ---- who belongs, and what may be said

// The directory of a foreign process that knows the addresses, but not the secret: sealed with his own.
class Forged final : public Directory {
 public:
  Forged(const Directory& real, const Secret& known) : real_(real), known_(known) {}
  std::span<const std::byte> find(int peer, int vni) const override {
    const Place place{peer, ranks, peer, 1};
    const std::span<const std::byte> address = Membership(secret, place, vni).unseal(peer, real_.find(peer, vni));
    card_ = Membership(known_, place, vni).seal(address);
    return card_;
  }
  bool publish(int, std::span<const std::byte>) override { return true; }

 private:
  const Directory& real_;
  const Secret known_;
  mutable std::vector<std::byte> card_;
};

TYPED_TEST(EveryNetwork, DropForeignPacketsAndReportThem) {
  constexpr int packets = 30'000;
  Network& receiver = *this->ends_[1];
  constexpr Secret other{1, 3};
  Forged forged(*this->directories_[0], other);
  const auto foreign = this->open(forged, 0, other);
  std::vector<std::byte> memory(64 * 1024), taken(64 * 1024);
  Landing landing;
  landing.memory = taken.data();
  landing.bytes = taken.size();
  receiver.landings().announce(landing);
  for (int sent = 0; sent < packets;) {
    const std::size_t bytes = this->random_() % 64;
    const Envelope envelope{{static_cast<MessageKind>(this->random_()), static_cast<int>(this->random_()),
                             static_cast<int>(this->random_()), this->random_()},
                            static_cast<std::uint32_t>(this->random_()),
                            static_cast<std::uint32_t>(this->random_())};
    const auto noise = [&](std::byte* to) {
      for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(this->random_());
    };
    if (foreign->post(1, envelope, bytes, noise) == Posted::done) ++sent;
    (void)foreign->poll(poll_batch, this->any);  // it hears that what was long has left
    (void)receiver.poll(poll_batch, this->none);
  }
  if (foreign->traits().longs != 0)
    while (foreign->post_long(1, landing.name, memory, 7) != Posted::done) {
      (void)foreign->poll(poll_batch, this->any);
      (void)receiver.poll(poll_batch, this->none);
    }
  // A long message may never leave: it is not requested.
  for (int i = 0; i < 1000 && foreign->any_under_way(); ++i) {
    (void)foreign->poll(poll_batch, this->any);
    (void)receiver.poll(poll_batch, this->none);
  }
  EXPECT_GT(this->notes_, 0);
  EXPECT_EQ(this->failures_, 0);
  EXPECT_EQ(taken, std::vector<std::byte>(taken.size()));
  receiver.landings().withdraw(landing);
  // Those who belong go on.
  this->connect(*this->ends_[0], receiver);
}

TYPED_TEST(EveryNetwork, TakeNothingForAPeerWhoseCardIsForged) {
  constexpr Secret other{1, 3};
  Forged forged(*this->directories_[0], other);
  const auto deceived = this->open(forged, 0);
  for (int i = 0; i < 100; ++i) {
    (void)this->post(*deceived, 0, 1, 0);
    (void)this->ends_[1]->poll(poll_batch, this->none);
  }
}

// An ordered network sees that a message is missing when the next message comes, whatever the messages are about. Here another end of the same
// rank has sent what is missing.
TYPED_TEST(EveryNetwork, SayThatAMessageIsMissing) {
  Network& receiver = *this->ends_[1];
  if (!receiver.traits().ordered) GTEST_SKIP() << "it keeps no order";
  Forged same(*this->directories_[0], secret);
  const auto other = this->open(same, 0);
  for (int i = 0; i < 3; ++i) this->connect(*this->ends_[0], receiver);
  EXPECT_EQ(this->failures_, 0);
  while (this->post(*other, 0, 1, 1) != Posted::done) {
  }
  for (int i = 0; i < 100'000 && this->failures_ == 0; ++i) {
    (void)other->poll(poll_batch, this->none);
    (void)receiver.poll(poll_batch, this->any);
  }
  EXPECT_EQ(this->failures_, 1);
  EXPECT_NE(this->failure_.find("a message of rank 0 on another node to rank 1 was lost in the network"),
            std::string::npos)
      << this->failure_;
}

// A long message goes where its sender was told that it may, and nowhere else; a rank that says otherwise is the end of the job.
TYPED_TEST(EveryNetwork, LetNoLongMessageGoWhereItMayNot) {
  Network& receiver = *this->ends_[1];
  const std::size_t bytes = receiver.traits().longs;
  if (bytes == 0) GTEST_SKIP() << "it has no such way";
  std::vector<std::byte> from(bytes, std::byte{1}), to(bytes);
  const std::vector<std::byte> untouched = to;
  const auto refused = [&](const char* what, std::uint64_t name, std::size_t n) {
    // An end of its own: a message without a request may block later ones.
    Forged same(*this->directories_[0], secret);
    const auto sender = this->open(same, 0);
    const int before = this->failures_;
    while (sender->post_long(1, name, std::span(from).first(n), 42) != Posted::done) {
    }
    for (int i = 0; i < 100'000 && this->failures_ == before; ++i) {
      (void)sender->poll(poll_batch, this->any);
      (void)receiver.poll(poll_batch, this->none);
    }
    EXPECT_GT(this->failures_, before) << what;
    EXPECT_EQ(to, untouched) << what;
  };
  const auto landing_of = [&](int peer, std::byte* memory) {
    Landing landing;
    landing.memory = memory;
    landing.bytes = bytes;
    landing.peer = peer;
    return landing;
  };
  refused("this name was not sent", 12345, bytes);
  refused("it is an address", reinterpret_cast<std::uint64_t>(to.data()), bytes);
  Landing others = landing_of(2, to.data()), outwards = landing_of(0, nullptr), right = landing_of(0, to.data());
  for (Landing* one : {&others, &outwards, &right}) receiver.landings().announce(*one);
  refused("it is another's", others.name, bytes);
  refused("it is what we send", outwards.name, bytes);
  refused("it is too short", right.name, bytes - 1);
  const std::uint64_t old = right.name;
  receiver.landings().withdraw(right);
  receiver.landings().announce(right);
  refused("it was taken back", old, bytes);
}

// All that was posted has left when nothing is under way any more after flush(): its sender may end.
TYPED_TEST(EveryNetwork, LeaveNothingBehindAFlush) {
  constexpr std::uint32_t messages = 5;
  std::uint32_t posted = 0;
  while (posted < messages)
    if (this->post(*this->ends_[0], 0, 1, posted) == Posted::done) ++posted;
  this->ends_[0]->flush();
  std::uint32_t taken = 0;
  while (this->ends_[0]->any_under_way()) {
    (void)this->ends_[0]->poll(poll_batch, this->none);
    taken += static_cast<std::uint32_t>(this->ends_[1]->poll(poll_batch, this->any));
  }
  while (taken < messages) taken += static_cast<std::uint32_t>(this->ends_[1]->poll(poll_batch, this->any));
}

// Until all has left, or for long.
template <class Any>
void finish(Network& end, const Any& any) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point limit = Clock::now() + std::chrono::seconds(20);
  end.flush();
  while (end.any_under_way() && Clock::now() < limit) (void)end.poll(poll_batch, any);
  EXPECT_FALSE(end.any_under_way()) << "it waits for rank " << end.slow_peer();
}

// A rank that has all it waits for may end, and the peer, which gets no answer any more, then need not wait either.
TYPED_TEST(EveryNetwork, FlushToAPeerThatHasFinished) {
  Network& late = *this->ends_[0];
  this->connect(late, *this->ends_[1]);
  finish(*this->ends_[1], this->any);
  this->ends_[1].reset();
  for (int i = 0; i < 10'000; ++i) (void)late.poll(poll_batch, this->none);  // the connection has gone
  finish(late, this->any);
  EXPECT_EQ(this->failures_, 0) << this->failure_;
}

// And who has heard all that a peer has to say may end without a word to it, which the peer may not wait for when it flushes again.
TYPED_TEST(EveryNetwork, FlushAgainWhenThePeerHasFinished) {
  Network& late = *this->ends_[0];
  this->connect(late, *this->ends_[1]);
  finish(late, this->any);
  for (int i = 0; i < 10'000; ++i) (void)this->ends_[1]->poll(poll_batch, this->none);
  finish(*this->ends_[1], this->any);
  this->ends_[1].reset();
  for (int i = 0; i < 10'000; ++i) (void)late.poll(poll_batch, this->none);
  finish(late, this->any);
  EXPECT_EQ(this->failures_, 0) << this->failure_;
}

}  // namespace
}  // namespace heddle::lln
