#include "launch/mpiexec/exit_report.hpp"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include <algorithm>
#include <vector>

#include "base/functions.hpp"  // linked into mpiexec: a rank that died can't be asked

namespace heddle::mpiexec {
namespace {

bool aborted(const boot::RankRecord& record) { return record.state.load() == boot::RankState::aborted; }

std::string signal_text(int signal) {
  const char* abbreviation = sigabbrev_np(signal);
  const char* description = sigdescr_np(signal);
  std::string text = "signal " + std::to_string(signal);
  if (abbreviation != nullptr && description != nullptr) {
    text += std::string(" (SIG") + abbreviation + ", " + description + ")";
  }
  return text;
}

struct Place {
  std::uint16_t call;
  int threads;
  bool suspended = false;
};

std::vector<Place> places_of_threads(const boot::RankRecord& record) {
  std::vector<Place> places;
  for (const boot::ThreadRecord& thread : record.threads) {
    if (thread.owner.load() == 0) continue;
    const std::uint16_t call = boot::call_of(thread.calls.load());
    const auto known =
        std::find_if(places.begin(), places.end(), [&](const Place& place) { return place.call == call; });
    if (known == places.end())
      places.push_back({call, 1});
    else
      ++known->threads;
  }
  if (record.user_level.load() != 0) {
    for (std::uint16_t call = 0; call < boot::calls_shown; ++call)
      if (const int threads = boot::suspended_now(record.suspended[call].load()))
        places.push_back({call, threads, true});
  }
  // Threads outside MPI last: the others are more useful to the reader.
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return (a.call == 0 ? 0 : a.threads) > (b.call == 0 ? 0 : b.threads);
  });
  return places;
}

}  // namespace

std::string place_text(std::uint16_t call, bool suspended) {
  if (call == 0) return "outside MPI";
  return std::string(suspended ? "suspended in " : "in ") + name(Function{call});
}

std::string where_it_was(const boot::RankRecord& record) {
  const std::vector<Place> places = places_of_threads(record);
  if (places.empty()) return "";
  if (places.size() == 1 && places[0].threads == 1) return ' ' + place_text(places[0].call, places[0].suspended);
  std::string text;
  for (const Place& place : places) {
    text += (text.empty() ? " (threads: " : ", ") + std::to_string(place.threads) + ' ' +
            place_text(place.call, place.suspended);
  }
  return text + ')';
}

bool ended_well(int status, const boot::RankRecord& record) {
  const boot::RankState state = record.state.load();
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 && state != boot::RankState::inited &&
         state != boot::RankState::aborted;
}

int job_exit_code(int status, const boot::RankRecord& record) {
  if (aborted(record)) return record.abort_code.load();
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  return std::max(WEXITSTATUS(status), ended_well(status, record) ? 0 : 1);
}

std::string how_it_ended(int status, const boot::RankRecord& record) {
  if (aborted(record)) {
    return "aborted with code " + std::to_string(record.abort_code.load()) + where_it_was(record);
  }
  if (WIFSIGNALED(status)) {
    std::string text = "was killed by " + signal_text(WTERMSIG(status)) + where_it_was(record);
    return WCOREDUMP(status) ? text + ", core dumped" : text;
  }
  std::string text = "exited with code " + std::to_string(WEXITSTATUS(status));
  if (record.state.load() == boot::RankState::inited) text += " without calling MPI_Finalize";
  return text;
}

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "exited with code " + std::to_string(WEXITSTATUS(status));
  return "was killed by " + signal_text(WTERMSIG(status)) + (WCOREDUMP(status) ? ", core dumped" : "");
}

}  // namespace heddle::mpiexec
