// What a look at everything that could move has found.
#pragma once

namespace heddle::progress {

struct Pass {
  bool moved = false;  // something did
  bool complete =
      true;  // nothing was left out because another thread was busy with it: only then is there nothing to do
};

inline void add(Pass& pass, Pass more) {
  pass.moved |= more.moved;
  pass.complete &= more.complete;
}

}  // namespace heddle::progress
