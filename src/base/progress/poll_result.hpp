// The result of a poll of everything that could move.
#pragma once

namespace heddle::progress {

struct PollResult {
  bool made_progress = false;  // something did
  bool complete =
      true;  // nothing was left out because another thread was busy with it: only then is there nothing to do
};

inline void add(PollResult& result, PollResult more) {
  result.made_progress |= more.made_progress;
  result.complete &= more.complete;
}

}  // namespace heddle::progress
