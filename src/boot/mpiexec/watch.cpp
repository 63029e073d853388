#include "boot/mpiexec/watch.hpp"

#include <algorithm>
#include <chrono>

#include "boot/mpiexec/obituary.hpp"

namespace heddle::boot {

void Watch::look(Clock::time_point now) {
  last_ = now;
  seen_.resize(static_cast<std::size_t>(segment_.header->size), std::vector<Seen>(thread_records));
  suspended_.resize(seen_.size());
  for (std::size_t rank = 0; rank < seen_.size(); ++rank) {
    const RankRecord& record = segment_.records[rank];
    // Looking at a page makes it exist, so not before there is something to see.
    if (record.state.load() != RankState::inited) continue;
    for (int i = 0; i < thread_records; ++i) {
      Seen& seen = seen_[rank][static_cast<std::size_t>(i)];
      const std::uint32_t thread = record.threads[i].owner.load();
      const std::uint64_t calls = record.threads[i].calls.load();
      const bool same_thread = thread == seen.thread;
      if (same_thread && calls == seen.calls) {
        seen.moving = false;
      } else {
        seen = {thread, calls, same_thread, now};
      }
    }
    if (record.user_level.load() != 0) look_at_suspended(record, suspended_[rank]);
  }
}

void Watch::look_at_suspended(const RankRecord& record, std::vector<SeenSuspended>& seen) const {
  std::vector<SeenSuspended> now;
  for (std::uint16_t call = 0; call < calls_shown; ++call) {
    const std::uint64_t word = record.suspended[call].load();
    if (suspended_now(word) == 0) continue;
    const auto before =
        std::find_if(seen.begin(), seen.end(), [&](const SeenSuspended& other) { return other.call == call; });
    const bool known = before != seen.end(), moving = known && before->word != word;
    now.push_back({call, word, moving, known && !moving ? before->since : last_});
  }
  seen = std::move(now);
}

std::string Watch::where_it_is(int rank) const {
  struct Place {
    std::uint16_t call;
    std::string duration;
    Clock::time_point since;
    int threads;
    bool suspended = false;
  };
  std::vector<Place> places;
  for (const Seen& seen : seen_[static_cast<std::size_t>(rank)]) {
    if (seen.thread == 0) continue;
    const Place here{call_of(seen.calls), duration(seen.moving, call_of(seen.calls) != 0, seen.since), seen.since, 1};
    const auto known = std::find_if(places.begin(), places.end(), [&](const Place& place) {
      return place.call == here.call && place.duration == here.duration;
    });
    if (known == places.end())
      places.push_back(here);
    else
      ++known->threads;
  }
  for (const SeenSuspended& seen : suspended_[static_cast<std::size_t>(rank)])
    places.push_back({seen.call, duration(seen.moving, true, seen.since), seen.since, suspended_now(seen.word), true});
  if (places.empty()) return "";
  // Who waits longest comes first: the others may wait for it. Threads outside MPI last.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return (a.call == 0) != (b.call == 0) ? a.call != 0 : a.since < b.since;
  });
  if (places.size() == 1 && places[0].threads == 1)
    return ' ' + place_text(places[0].call, places[0].suspended) + places[0].duration;
  std::string text;
  for (const Place& place : places) {
    text += (text.empty() ? " (threads: " : ", ") + std::to_string(place.threads) + ' ' +
            place_text(place.call, place.suspended) + place.duration;
  }
  return text + ')';
}

std::string Watch::duration(bool moving, bool in_call, Clock::time_point since) const {
  if (moving) return in_call ? " again and again" : " now and then";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(last_ - since).count();
  return seconds == 0 ? "" : " for " + std::to_string(seconds) + " s";
}

}  // namespace heddle::boot
