#include "boot/mpiexec/watch.hpp"

#include <algorithm>
#include <chrono>

#include "boot/mpiexec/obituary.hpp"

namespace heddle::boot {

void Watch::look(Clock::time_point now) {
  last_ = now;
  seen_.resize(static_cast<std::size_t>(segment_.header->size), std::vector<Seen>(thread_records));
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
  }
}

std::string Watch::where_it_is(int rank) const {
  struct Place {
    std::uint16_t call;
    std::string duration;
    Clock::time_point since;
    int threads;
  };
  std::vector<Place> places;
  for (const Seen& seen : seen_[static_cast<std::size_t>(rank)]) {
    if (seen.thread == 0) continue;
    const Place here{call_of(seen.calls), duration(seen), seen.since, 1};
    const auto known = std::find_if(places.begin(), places.end(), [&](const Place& place) {
      return place.call == here.call && place.duration == here.duration;
    });
    if (known == places.end())
      places.push_back(here);
    else
      ++known->threads;
  }
  if (places.empty()) return "";
  // Who waits longest comes first: the others may wait for it. Threads outside MPI last.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return (a.call == 0) != (b.call == 0) ? a.call != 0 : a.since < b.since;
  });
  if (places.size() == 1 && places[0].threads == 1) return ' ' + place_text(places[0].call) + places[0].duration;
  std::string text;
  for (const Place& place : places) {
    text += (text.empty() ? " (threads: " : ", ") + std::to_string(place.threads) + ' ' + place_text(place.call) +
            place.duration;
  }
  return text + ')';
}

std::string Watch::duration(const Seen& seen) const {
  if (seen.moving) return call_of(seen.calls) == 0 ? " now and then" : " again and again";
  const auto seconds = std::chrono::floor<std::chrono::seconds>(last_ - seen.since).count();
  return seconds == 0 ? "" : " for " + std::to_string(seconds) + " s";
}

}  // namespace heddle::boot
