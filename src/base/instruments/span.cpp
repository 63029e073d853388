#include "base/instruments/span.hpp"

namespace heddle::instruments {

namespace {

// Charges the innermost span, if it was chosen, with the time since its mark.
void charge(Clock& clock, std::uint64_t now) {
  if (clock.cell != nullptr) clock.cell->charge(clock.what, (now - clock.mark) * sampling_period);
  clock.mark = now;
}

// Uniform in [1, 2 * sampling_period - 1], by Marsaglia's xorshift.
std::uint32_t next_choice(Clock& clock) {
  std::uint32_t x = clock.random;
  x ^= x << 13;
  x ^= x >> 17;
  x ^= x << 5;
  clock.random = x;
  return 1 + x % (2 * sampling_period - 1);
}

}  // namespace

void Span::open(Cells& cells, Counters& counters, Time what) {
  Clock& clock = cells.clock;
  const bool chosen = clock.depth == 0 || --clock.rest == 0;
  if (chosen) clock.rest = next_choice(clock);
  clock_ = &clock;
  outer_cell_ = clock.cell;
  outer_what_ = clock.what;
  charge(clock, ticks());
  clock.cell = chosen ? &cells.of(counters) : nullptr;
  clock.what = what;
  ++clock.depth;
  clock.skip = 1;
}

void Span::close() {
  Clock& clock = *clock_;
  charge(clock, ticks());
  clock.cell = outer_cell_;
  clock.what = outer_what_;
  if (--clock.depth == 0) clock.skip = clock.rest;
}

void ExactSpan::open() {
  clock_ = &cells_of_thread()->clock;  // it has a cell, so there is one
  begin_ = ticks();
  charge(*clock_, begin_);
}

void ExactSpan::close() {
  const std::uint64_t now = ticks();
  cell_->charge(what_, now - begin_);
  clock_->mark = now;
}

}  // namespace heddle::instruments
