// Communicators that a rank has freed while they had no shared state: another member that frees its own later may
// revoke it first, and the state that it shares then must not wait for this rank.
//
// The members of a communicator number them one after the other (objects/object/context.hpp), and most are freed, so runs of
// numbers are kept.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

#include "objects/object/comm.hpp"

namespace heddle::ft {

class LeftContexts {
 public:
  bool any() const { return !runs_.empty(); }

  void add(Context context) {
    std::uint64_t first = context / contexts_apart, last = first;
    const auto after = runs_.upper_bound(first);
    if (after != runs_.end() && after->first == last + 1) {
      last = after->second;
      runs_.erase(after);
    }
    const auto before = find(first - 1);
    if (before != runs_.end()) {
      first = before->first;
      runs_.erase(before);
    }
    runs_.emplace(first, last);
  }

  // True if it was among them; it is removed.
  bool take(Context context) {
    const std::uint64_t number = context / contexts_apart;
    const auto found = find(number);
    if (found == runs_.end()) return false;
    const auto [first, last] = *found;
    runs_.erase(found);
    if (first < number) runs_.emplace(first, number - 1);
    if (number < last) runs_.emplace(number + 1, last);
    return true;
  }

  // Runs that are kept; each takes some 50 bytes.
  std::size_t runs() const { return runs_.size(); }

 private:
  using Runs = std::map<std::uint64_t, std::uint64_t>;  // the first number of each, and the last

  Runs::iterator find(std::uint64_t number) {
    const auto after = runs_.upper_bound(number);
    if (after == runs_.begin() || std::prev(after)->second < number) return runs_.end();
    return std::prev(after);
  }

  Runs runs_;
};

}  // namespace heddle::ft
