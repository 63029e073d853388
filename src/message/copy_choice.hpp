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
// and pages that nobody has touched.
//
// Two ranks that answer each other have to take the same way: a stage in which each writes what it has read before is several times as
// fast as one that is used in one direction while the kernel copies in the other, so each would find staging slow for as long as the other
// does. Therefore the one of lower rank tells the other with its own messages which way it takes (Wish), and that one follows.
//
// A kind: messages of at least a power of two of bytes and less than twice that, received while this rank has long messages of its own under
// way, or not.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heddle::message {

enum class Copying : std::uint8_t { staged, by_kernel };
// What the one end asks of the other.
enum class Wish : std::uint32_t { none, staged, by_kernel };

// For one thread at a time.
class CopyChoice {
 public:
  static constexpr std::uint32_t in_a_row = 6, uncounted = 3;  // messages of a try
  static constexpr std::uint32_t again = 512;                  // messages after which the other way is tried again
  static constexpr std::uint32_t much_slower = 8;              // ... if it took twice as long, one in so many times

  struct Kind {
    std::size_t bytes;
    bool busy;  // with long messages of its own
  };

  // The way for the next message, where the other end has no wish.
  Copying choose(const Kind& kind) {
    History& past = of(kind);
    const Copying way = choose(past);
    past.wish = way == Copying::staged ? Wish::staged : Wish::by_kernel;
    return way;
  }
  // What has been chosen for messages of the kind since this was asked last.
  Wish wish(const Kind& kind) { return std::exchange(of(kind).wish, Wish::none); }

  // So long has one taken, in whatever unit.
  void note(const Kind& kind, Copying way, std::uint64_t time) {
    History& past = of(kind);
    Record& record = past[way];
    past.run = way == past.noted ? past.run + 1 : 1;
    past.noted = way;
    // Where messages of both ways are under way none may ever come in a row.
    if (past.run <= uncounted && (record.cost != 0 || ++record.passed_over < 2 * in_a_row)) return;
    const float cost = static_cast<float>(std::max<std::uint64_t>(time, 1)) / static_cast<float>(kind.bytes);
    if (record.cost == 0) {
      record.cost = cost;
    } else if (cost < record.cost) {
      record.cost = (record.cost + cost) / 2;
    } else {  // slowly: somebody may have had its core
      record.cost += (std::min(cost, 4 * record.cost) - record.cost) / 8;
    }
  }

 private:
  static constexpr std::size_t lengths = 10;  // from less than 16 KiB to 4 MiB and more

  struct Record {
    float cost = 0;  // time of a byte; 0: it is not known
    std::uint32_t passed_over = 0;
  };
  struct History {
    std::array<Record, 2> records;
    std::uint32_t messages = 0;
    std::uint32_t left = 0;  // messages of the try
    std::uint32_t run = 0;   // of the way that has been noted last
    Copying tried = Copying::staged;
    Copying noted = Copying::staged;
    Wish wish = Wish::none;

    Record& operator[](Copying way) { return records[static_cast<std::size_t>(way)]; }
  };

  static constexpr Copying other_than(Copying way) {
    return way == Copying::staged ? Copying::by_kernel : Copying::staged;
  }
  static Copying choose(History& past) {
    if (past.left != 0) {
      --past.left;
      return past.tried;
    }
    for (Copying way : {Copying::staged, Copying::by_kernel})
      if (past[way].cost == 0) return begin(past, way);
    const Copying best =
        past[Copying::by_kernel].cost < past[Copying::staged].cost ? Copying::by_kernel : Copying::staged;
    if (++past.messages % again != 0) return best;
    const Copying other = other_than(best);
    const bool far_behind = past[other].cost >= 2 * past[best].cost;
    return far_behind && past.messages / again % much_slower != 0 ? best : begin(past, other);
  }
  static Copying begin(History& past, Copying way) {
    past.tried = way;
    past.left = in_a_row - 1;
    return way;
  }
  History& of(const Kind& kind) {
    const auto length = static_cast<std::size_t>(std::bit_width(kind.bytes / (std::size_t{16} * 1024)));
    return histories_[kind.busy ? 1 : 0][std::min(length, lengths - 1)];
  }

  std::array<std::array<History, lengths>, 2> histories_{};
};

}  // namespace heddle::message
