// The rules of the report's last line, the most telling first.
#include <algorithm>
#include <cstdio>

#include "tool/figures.hpp"

namespace heddle::tool {

using instruments::Count;
using instruments::Time;

namespace {

int percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<int>((100 * part + whole / 2) / whole);
}

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

const char* shown(const CommFigures& comm) { return comm.name.empty() ? "(unnamed)" : comm.name.c_str(); }

// The communicator of the VNI that most threads share; null if none has two.
const CommFigures* most_shared(const Figures& figures, int vni) {
  const CommFigures* found = nullptr;
  for (const CommFigures& comm : figures.comms)
    if (comm.vni == vni && comm.totals.threads > 1 && (!found || comm.totals.threads > found->totals.threads))
      found = &comm;
  return found;
}

const VniFigures& busiest(const Figures& figures) {
  return *std::ranges::max_element(figures.vnis, {}, [](const VniFigures& vni) { return time_in_library(vni.totals); });
}

}  // namespace

std::string advice(const Figures& figures) {
  constexpr int much = 20;
  constexpr int most = 80;
  if (figures.vnis.empty()) return "nothing was counted";
  const auto& [vni, t] = busiest(figures);
  const std::uint64_t whole = time_in_library(t);
  if (whole == 0) return "no time was spent in communication";

  if (const int lost = percent(time_of_contention(t), whole); lost >= much) {
    const char* way = figures.vnis.size() > 1
                          ? "give each thread a duplicate of it (MPI_Comm_dup), so that they use different VNIs"
                          : "choose a model with several VNIs (HEDDLE_MODEL=per-vni) and give each thread a duplicate "
                            "of it (MPI_Comm_dup), or one that combines (csync)";
    if (const CommFigures* comm = most_shared(figures, vni))
      return text("%llu threads share communicator %s: %d%% of their time goes to waiting for VNI %d; %s",
                  static_cast<unsigned long long>(comm->totals.threads), shown(*comm), lost, vni, way);
    return text("%llu threads use VNI %d: %d%% of their time goes to waiting for it; choose a model with more VNIs",
                static_cast<unsigned long long>(t.threads), vni, lost);
  }
  if (const int empty = percent(t[Time::empty], whole); empty >= much)
    return text(
        "%d%% of the time is spent in critical sections with nothing to do (%.1f polls per message); choose a model "
        "whose waiting threads sleep (HEDDLE_MODEL=clh-usc)",
        empty,
        static_cast<double>(t[Count::polls]) / static_cast<double>(std::max<std::uint64_t>(t[Count::received], 1)));
  if (const int early = percent(t[Count::unexpected], t[Count::received]); early >= most)
    return text(
        "%d%% of the messages came before their receive was posted, and were copied once more; post receives "
        "earlier",
        early);
  if (const int waiting = percent(t[Time::wait] + t[Time::asleep], whole); waiting >= most)
    return text("%d%% of the time is spent waiting for messages: the peers, or the balance of work, decide", waiting);
  return "nothing stands out";
}

}  // namespace heddle::tool
