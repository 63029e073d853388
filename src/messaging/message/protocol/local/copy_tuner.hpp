// Chooses how a long message from another process is copied: through shared memory (staged), or by the kernel. It chooses the way that
// has been faster for messages of that length so far.
//
// The two ways differ by factors, and neither is best everywhere. The result depends on the distance of the cores, on the cost of a
// system call and of pinning pages, and on whether both sides have time or messages of their own to handle. So the tuner tries each way
// on the first messages of a kind and then takes the faster one. Now and then it tries the other way again, since threads move to other
// cores, and partners change what they do. STAR-MPI (Faraj, Yuan, Lowenthal 2006) chooses the algorithms of collectives like this.
//
// With more ranks than cores the tuner is not used (docs/adr/0081).
//
// A try is several messages in a row. The first ones do not count: they find data of the other way in the caches, and pages that no
// thread has touched. Other threads may have the core during a try, so the loser of the first try is tried again soon.
//
// Two ranks that answer each other have to use the same way. A stage that each rank writes after it has read it is several times as fast
// as a stage that is used in one direction while the kernel copies in the other. So each rank would find staging slow for as long as the
// other one does not stage. Therefore the rank of lower number tells the other one with its messages which way it uses (Wish). The other
// rank follows for all its messages, so that all messages under way use the same way.
//
// A kind of messages: a length from a power of two to less than twice that, and whether this rank has long messages of its own under way
// when it receives one (Transfers::course_of).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "messaging/message/choose.hpp"
#include "messaging/message/wire.hpp"

namespace heddle::message {

// For one thread at a time.
class CopyTuner {
 public:
  struct Kind {
    std::size_t bytes;
    bool busy;  // this rank has long messages of its own under way
  };

  // The messages of a try: uncounted ones, and ones that enter the mean. A long message is many chunks, so fewer messages suffice.
  struct Try {
    std::uint32_t uncounted, counted;
    constexpr std::uint32_t all() const { return uncounted + counted; }
  };
  static constexpr Try try_of(std::size_t bytes) { return bytes < 512 * 1024 ? Try{3, 4} : Try{1, 2}; }
  // The number of messages after which the other way is tried again. The first retry comes soon, since the first try may have been at a
  // bad moment. Each later one comes after more messages; the limit is higher if the other way took twice as long.
  static constexpr std::uint32_t first_again = 16, last_again = 512, last_again_if_far_behind = 4096;
  // The number of messages that carry a wish after a choice.
  static constexpr std::uint32_t wishes = 8;

  // The way for the next message, if the other end has no wish.
  Copying choose(const Kind& kind) {
    History& past = of(kind);
    const Copying way = choose(past, try_of(kind.bytes));
    past.wish = way == Copying::staged ? Wish::staged : Wish::by_kernel;
    past.wishes_left = wishes;
    return way;
  }
  // The last choice for messages of this kind, if it is recent: a rank that sends much more than it receives knows too little.
  Wish wish(const Kind& kind) {
    History& past = of(kind);
    if (past.wishes_left == 0) return Wish::none;
    --past.wishes_left;
    return past.wish;
  }

  // Records the time that one message has taken, in any unit.
  void note(const Kind& kind, Copying way, std::uint64_t time) {
    History& past = of(kind);
    Record& record = past[way];
    past.run = way == past.noted ? past.run + 1 : 1;
    past.noted = way;
    // If messages of both ways are under way, their completions alternate, and no run becomes long enough: then accept short runs.
    const Try attempt = try_of(kind.bytes);
    if (past.run <= attempt.uncounted && (record.cost() != 0 || ++record.passed_over < 2 * attempt.all())) return;
    record.add(static_cast<float>(std::max<std::uint64_t>(time, 1)) / static_cast<float>(kind.bytes), attempt.counted);
  }

 private:
  static constexpr std::size_t lengths = 10;  // from less than 16 KiB to 4 MiB and more

  // The cost of a byte: the least of the last blocks, where a block is the mean of several messages in a row. A mean, since of several
  // messages under way the first takes long and the others follow at once. The least, since other threads on the core can only increase
  // the time.
  class Record {
   public:
    void add(float cost, std::uint32_t block) {
      sum_ += cost;
      if (++in_block_ < block) return;
      means_[blocks_++ % means_.size()] = sum_ / static_cast<float>(block);
      sum_ = 0;
      in_block_ = 0;
      cost_ = *std::ranges::min_element(means_);
    }
    float cost() const { return cost_ < unknown ? cost_ : 0; }  // 0: unknown

    std::uint32_t passed_over = 0;

   private:
    static constexpr float unknown = std::numeric_limits<float>::max();
    float cost_ = unknown;
    float sum_ = 0;
    std::uint32_t in_block_ = 0;
    std::uint32_t blocks_ = 0;
    std::array<float, 4> means_{unknown, unknown, unknown, unknown};
  };
  struct History {
    std::array<Record, 2> records;
    std::uint32_t messages = 0;  // since the last try
    std::uint32_t again = first_again;
    std::uint32_t left = 0;  // messages of the present try
    std::uint32_t run = 0;   // messages in a row of the way that was recorded last
    Copying tried = Copying::staged;
    Copying noted = Copying::staged;
    Wish wish = Wish::none;
    std::uint32_t wishes_left = 0;

    Record& operator[](Copying way) { return records[static_cast<std::size_t>(way)]; }
  };

  static constexpr Copying other_than(Copying way) {
    return way == Copying::staged ? Copying::by_kernel : Copying::staged;
  }
  static Copying choose(History& past, const Try& attempt) {
    if (past.left != 0) {
      --past.left;
      return past.tried;
    }
    for (Copying way : {Copying::staged, Copying::by_kernel})
      if (past[way].cost() == 0) return begin(past, way, attempt);
    const Copying best =
        past[Copying::by_kernel].cost() < past[Copying::staged].cost() ? Copying::by_kernel : Copying::staged;
    if (++past.messages <= past.again) return best;
    past.messages = 0;
    const Copying other = other_than(best);
    const bool far_behind = past[other].cost() >= 2 * past[best].cost();
    past.again = far_behind ? std::min(4 * past.again, last_again_if_far_behind) : std::min(2 * past.again, last_again);
    return begin(past, other, attempt);
  }
  static Copying begin(History& past, Copying way, const Try& attempt) {
    past.tried = way;
    past.left = attempt.all() - 1;
    return way;
  }
  History& of(const Kind& kind) {
    const auto length = static_cast<std::size_t>(std::bit_width(kind.bytes / (std::size_t{16} * 1024)));
    return histories_[kind.busy ? 1 : 0][std::min(length, lengths - 1)];
  }

  std::array<std::array<History, lengths>, 2> histories_{};
};

}  // namespace heddle::message
