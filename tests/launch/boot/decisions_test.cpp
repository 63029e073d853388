// Decisions for communicators between nodes, and their records in a node's segment.
#include "launch/boot/decisions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <new>
#include <random>

#include "launch/boot/news.hpp"

namespace {

using namespace heddle::boot;
using Operation = Contribution::Operation;

// A segment of a job of 8 ranks, and what hears for it.
class Segment {
 public:
  static constexpr int ranks = 8;

  Segment() : memory_(new (std::align_val_t{4096}) std::byte[bytes]()) {
    header().capacity = header().size = ranks;
    header().nodes = 2;
  }
  ~Segment() { operator delete[](memory_, std::align_val_t{4096}); }
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  JobHeader& header() { return *reinterpret_cast<JobHeader*>(memory_); }
  DecidedComms& comms() { return *comms_; }
  News& news() { return news_; }
  // Null: not yet.
  const Decision* decision(std::uint64_t context, std::uint32_t number) {
    const DecidedComm* const comm = find_decided(comms(), context);
    return comm != nullptr ? find_decision(*comm, number) : nullptr;
  }

 private:
  static constexpr std::size_t bytes = heap_offset(ranks, 2);
  std::byte* memory_;
  const std::unique_ptr<DecidedComms> comms_ = std::make_unique<DecidedComms>();
  News news_{header(), comms_.get(), {}};
};

class Decided : public testing::Test {
 protected:
  static constexpr std::uint64_t context = 0;  // as of MPI_COMM_WORLD
  const std::vector<int> members{1, 4, 6};

  Proposer of(int rank, std::uint64_t c = context) const { return {rank, c, members}; }
  void agree(int rank, std::uint32_t number, int flag, std::uint32_t acknowledged = 0) {
    decisions.hear(proposal_to_agree(of(rank), number, {Operation::agree, flag, acknowledged, 0}));
  }
  void shrink(int rank, std::uint32_t number) {
    decisions.hear(proposal_to_agree(of(rank), number, {Operation::shrink, 0, 0, 1000u + static_cast<unsigned>(rank)}));
  }
  const Decision* decision(std::uint32_t number) { return segment.decision(context, number); }

  Segment segment;
  Decisions decisions{[this](const Frame& news) { segment.news().take(news); }};
};

TEST_F(Decided, WhenAllHaveContributed) {
  agree(1, 1, 0b110);
  agree(6, 1, 0b011);
  EXPECT_EQ(decision(1), nullptr);
  agree(4, 1, 0b111);
  ASSERT_NE(decision(1), nullptr);
  EXPECT_EQ(decision(1)->flag, 0b010);
  EXPECT_EQ(decision(1)->verdict, Verdict::fine);
  EXPECT_EQ(decision(2), nullptr);
}

TEST_F(Decided, WhenWhoIsMissingHasFailed) {
  agree(1, 1, 3);
  agree(6, 1, 2);
  decisions.lose(4);
  ASSERT_NE(decision(1), nullptr);
  EXPECT_EQ(decision(1)->flag, 2);
  EXPECT_EQ(decision(1)->verdict, Verdict::failed);
  EXPECT_EQ(decision(1)->failures, 1u);
  agree(1, 2, 3, 1);
  agree(6, 2, 3, 1);
  EXPECT_EQ(decision(2)->verdict, Verdict::fine) << "all have acknowledged it";
  agree(1, 3, 3, 1);
  agree(6, 3, 3, 0);
  EXPECT_EQ(decision(3)->verdict, Verdict::failed) << "one has not";
}

TEST_F(Decided, WhoFailsAfterContributingCounts) {
  agree(4, 1, 4);
  decisions.lose(4);
  agree(1, 1, 7);
  agree(6, 1, 7);
  EXPECT_EQ(decision(1)->flag, 4);
  EXPECT_EQ(decision(1)->verdict, Verdict::fine);
}

TEST_F(Decided, TheDeadAreNotHeard) {
  decisions.lose(4);
  agree(4, 1, 0);
  agree(1, 1, 7, 1);
  agree(6, 1, 7, 1);
  EXPECT_EQ(decision(1)->flag, 7);
}

TEST_F(Decided, AShrinkTakesTheContextOfTheFirstThatLives) {
  shrink(1, 1);
  shrink(4, 1);
  decisions.lose(1);
  EXPECT_EQ(decision(1), nullptr);
  shrink(6, 1);
  EXPECT_EQ(decision(1)->context, 1004u);
  EXPECT_EQ(decision(1)->failures, 1u);
}

TEST_F(Decided, MixedOperations) {
  shrink(1, 1);
  agree(4, 1, 1);
  shrink(6, 1);
  EXPECT_EQ(decision(1)->verdict, Verdict::mixed);
}

TEST_F(Decided, RevocationIsToldOnceAlsoOfTheDead) {
  decisions.lose(4);
  const std::uint32_t before = failure_log(&segment.header()).trouble;
  decisions.hear(proposal_to_revoke(of(4)));
  decisions.hear(proposal_to_revoke(of(1)));
  ASSERT_NE(find_decided(segment.comms(), context), nullptr);
  EXPECT_EQ(find_decided(segment.comms(), context)->revoked, 1u);
  EXPECT_EQ(failure_log(&segment.header()).trouble, before + 1);
}

TEST_F(Decided, AnEntryGoesWithItsLastMember) {
  decisions.hear(proposal_to_revoke(of(1)));
  decisions.hear(word_of_leaving(1, context));
  decisions.lose(4);
  EXPECT_NE(find_decided(segment.comms(), context), nullptr);
  decisions.hear(word_of_leaving(6, context));
  EXPECT_EQ(find_decided(segment.comms(), context), nullptr);
  decisions.hear(proposal_to_agree(of(1, 77), 1, {Operation::agree, 1, 0, 0}));
  decisions.hear(proposal_to_agree(of(6, 77), 1, {Operation::agree, 1, 0, 0}));
  EXPECT_EQ(segment.comms().used, 1u) << "its place is taken again";
  EXPECT_EQ(find_decided(segment.comms(), 77)->revoked, 0u);
}

TEST_F(Decided, WhereNoPlaceIsLeftItIsTold) {
  for (std::uint64_t c = 0; c < decided_comms; ++c) decisions.hear(proposal_to_revoke(of(1, c)));
  EXPECT_EQ(segment.comms().overflow, 0u);
  decisions.hear(proposal_to_revoke(of(1, decided_comms)));
  EXPECT_EQ(segment.comms().overflow, 1u);
}

TEST_F(Decided, NonsenseIsDropped) {
  decisions.hear(Frame(FrameKind::contribute));
  decisions.hear(Frame(FrameKind::revoke).add(1));
  decisions.hear(Frame(FrameKind::beat));
  decisions.hear(word_of_leaving(1, 5));
  segment.news().take(Frame(FrameKind::failed).add(Segment::ranks));
  EXPECT_EQ(segment.comms().used, 0u);
  EXPECT_EQ(failure_log(&segment.header()).failures, 0u);
}

// Any order in which proposals and failures may be heard: each agreement ends once all that live have contributed, with the flags of those
// that were heard before they failed.
TEST_F(Decided, AnyOrder) {
  const unsigned first = std::random_device{}();
  std::printf("seed %u\n", first);
  for (unsigned seed = first; seed != first + 500; ++seed) {
    std::mt19937 random(seed);
    Segment one;
    Decisions decide([&](const Frame& news) { one.news().take(news); });
    std::vector<int> all{0, 1, 2, 3, 4, 5, 6, 7};
    std::vector<std::uint32_t> numbers(all.size(), 0);
    std::vector<bool> alive(all.size(), true);
    constexpr std::uint32_t rounds = decisions_kept;
    std::vector<int> flags(rounds + 1, -1);
    for (int step = 0; step < 200; ++step) {
      const std::size_t r = random() % all.size();
      if (alive[r] && random() % 40 == 0 && std::count(alive.begin(), alive.end(), true) > 1) {
        alive[r] = false;
        decide.lose(static_cast<int>(r));
      } else if (alive[r] && numbers[r] < rounds) {
        const auto flag = static_cast<int>(random());
        flags[++numbers[r]] &= flag;
        decide.hear(proposal_to_agree({static_cast<int>(r), 9, all}, numbers[r], {Operation::agree, flag, 8, 0}));
      }
      for (std::uint32_t n = 1; n <= rounds; ++n) {
        bool over = true;
        for (std::size_t m = 0; m < all.size(); ++m) over &= numbers[m] >= n || !alive[m];
        const Decision* const there = one.decision(9, n);
        const bool begun = std::any_of(numbers.begin(), numbers.end(), [&](std::uint32_t done) { return done >= n; });
        ASSERT_EQ(there != nullptr, over && begun) << "seed " << seed << ", agreement " << n;
        if (there != nullptr) {
          ASSERT_EQ(there->flag, flags[n]) << "seed " << seed;
        }
      }
    }
  }
}

}  // namespace
