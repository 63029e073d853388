// Which way a long message from another process is copied: through shared memory (staged) or by the kernel, whichever has been faster for
// messages of its length so far.
//
// The two differ by factors, and neither is best everywhere: it depends on how far the cores are from each other, on what a system call and
// the pinning of pages cost, on whether both sides have time or have messages of their own to see to. So each is tried on the first messages
// of a kind, and then the faster one is taken; now and then the other is tried again, since cores move, and partners change what they do.
// STAR-MPI (Faraj, Yuan, Lowenthal 2006) chooses the algorithms of collectives so.
//
// With more ranks than cores nothing is chosen (docs/adr/0081).
//
// A way is tried with some messages in a row, the first of which do not count: they find in the caches what the other way has left there,
// and pages that nobody has touched. Others may have the core in a try, so the loser of the first one is tried again soon.
//
// Two ranks that answer each other have to take the same way: a stage in which each writes what it has read before is several times as
// fast as one that is used in one direction while the kernel copies in the other, so each would find staging slow for as long as the other
// does. Therefore the one of lower rank tells the other with its own messages which way it takes (Wish), and that one follows, with all
// of them: of several that are under way none may go another way.
//
// A kind: messages of at least a power of two of bytes and less than twice that, received while this rank has long messages of its own under
// way, or not (Transfers::course_of).
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
    bool busy;  // with long messages of its own
  };

  // Messages of a try: those that do not count, and those whose mean does. A long one is many chunks, so fewer tell as much.
  struct Try {
    std::uint32_t uncounted, counted;
    constexpr std::uint32_t all() const { return uncounted + counted; }
  };
  static constexpr Try try_of(std::size_t bytes) { return bytes < 512 * 1024 ? Try{3, 4} : Try{1, 2}; }
  // Messages after which the other way is tried again: soon, since the first try may have been at a bad moment, and ever later; later still if
  // it took twice as long.
  static constexpr std::uint32_t first_again = 16, last_again = 512, last_again_if_far_behind = 4096;
  // Messages that tell of a choice.
  static constexpr std::uint32_t wishes = 8;

  // The way for the next message, where the other end has no wish.
  Copying choose(const Kind& kind) {
    History& past = of(kind);
    const Copying way = choose(past, try_of(kind.bytes));
    past.wish = way == Copying::staged ? Wish::staged : Wish::by_kernel;
    past.wishes_left = wishes;
    return way;
  }
  // What has been chosen last for messages of the kind, if that is not long ago: who sends much more than it receives knows too little.
  Wish wish(const Kind& kind) {
    History& past = of(kind);
    if (past.wishes_left == 0) return Wish::none;
    --past.wishes_left;
    return past.wish;
  }

  // So long has one taken, in whatever unit.
  void note(const Kind& kind, Copying way, std::uint64_t time) {
    History& past = of(kind);
    Record& record = past[way];
    past.run = way == past.noted ? past.run + 1 : 1;
    past.noted = way;
    // Where messages of both ways are under way none may ever come in a row.
    const Try attempt = try_of(kind.bytes);
    if (past.run <= attempt.uncounted && (record.cost() != 0 || ++record.passed_over < 2 * attempt.all())) return;
    record.add(static_cast<float>(std::max<std::uint64_t>(time, 1)) / static_cast<float>(kind.bytes), attempt.counted);
  }

 private:
  static constexpr std::size_t lengths = 10;  // from less than 16 KiB to 4 MiB and more

  // What a byte has taken: the least of the last blocks, each the mean of some messages in a row. Of several messages that are under way the
  // first takes long and the others follow at once; and who else has had the core only ever makes it longer.
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
    float cost() const { return cost_ < unknown ? cost_ : 0; }  // 0: it is not known

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
    std::uint32_t left = 0;  // messages of the try
    std::uint32_t run = 0;   // of the way that has been noted last
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
