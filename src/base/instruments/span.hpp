// A thread's time, by scope.
//
// Reading the clock twice costs as much as a tenth of a short message, so not every span is timed: one in 32 of a
// thread's is, chosen at random so that no pattern of the program biases it, and counts 32 times. Rare and long spans
// (sleeping, queueing for a taken lock) are an ExactSpan and timed always.
//
// Spans of one thread nest, and each is charged only with the rest after the inner ones: the sums over all kinds of
// time are the time in the outermost spans. So inside a span that is timed the clock is read for each other one too,
// but only those that were chosen themselves are charged.
#pragma once

#include <cstdint>

#include "base/instruments/cells.hpp"
#include "base/instruments/counters.hpp"
#include "base/instruments/ticks.hpp"

namespace heddle::instruments {

inline constexpr std::uint32_t sampling_period = 32;  // mean number of spans for one that is timed

class Span {
 public:
  [[gnu::always_inline]] Span(Counters& counters, Time what) {
    if (counting()) [[unlikely]]
      enter(counters, what);
  }
  [[gnu::always_inline]] ~Span() {
    if (clock_ != nullptr) [[unlikely]]
      close();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  // It was time of another kind: a poll that has found nothing. Not while an inner span is open.
  void was(Time what) {
    if (clock_ != nullptr) [[unlikely]]
      clock_->what = what;
  }

 private:
  // Inlined: most spans are not timed and need no more than this.
  void enter(Counters& counters, Time what) {
    Cells* cells = cells_of_thread();
    if (cells != nullptr && --cells->clock.skip == 0) [[unlikely]]
      open(*cells, counters, what);
  }
  [[gnu::noinline]] void open(Cells& cells, Counters& counters, Time what);
  [[gnu::noinline]] void close();

  Clock* clock_ = nullptr;  // null: counting is off, or the clock does not stop for this one
  Cell* outer_cell_;        // of the span around this one
  Time outer_what_;
};

// No span may be opened inside.
class ExactSpan {
 public:
  ExactSpan(Counters& counters, Time what) : cell_(own_cell(counters)), what_(what) {
    if (cell_ != nullptr) [[unlikely]]
      open();
  }
  ~ExactSpan() {
    if (cell_ != nullptr) [[unlikely]]
      close();
  }
  ExactSpan(const ExactSpan&) = delete;
  ExactSpan& operator=(const ExactSpan&) = delete;

 private:
  [[gnu::noinline]] void open();
  [[gnu::noinline]] void close();

  Cell* cell_;
  Time what_;
  Clock* clock_;
  std::uint64_t begin_;
};

}  // namespace heddle::instruments
