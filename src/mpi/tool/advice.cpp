// The rules of the report's last line, the most telling first. They rest on counts alone: a share of the time depends
// on the machine's other load as much as on the program.
#include <algorithm>
#include <cstdio>

#include "base/safety/model.hpp"
#include "mpi/tool/figures.hpp"

namespace heddle::tool {

using instruments::Count;
using instruments::Time;
using instruments::Totals;

namespace {

constexpr std::uint64_t few_messages = 100;  // sent and received: too few to judge by
constexpr int many_contended = 20;           // percent of the attempts to enter a VNI
constexpr std::uint64_t many_polls = 1000;   // empty acquisitions for each message received
constexpr int many_unexpected = 50;          // percent of the messages received
constexpr int many_alone = 50;               // percent of the packets to other nodes
constexpr int mostly_waiting = 80;           // percent of the time in the library
constexpr int threads_of_library = 3;        // at most, beside those of the program, where ranks are processes

int percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<int>((100 * part + whole / 2) / whole);
}

template <class... Values>
std::string text(const char* format, Values... values) {
  char line[512];
  std::snprintf(line, sizeof line, format, values...);
  return line;
}

using Number = unsigned long long;

const char* shown(const CommFigures& comm) { return comm.name.empty() ? "(unnamed)" : comm.name.c_str(); }

// The communicator of the VNI, or with lanes, that most threads share; null if none has two.
const CommFigures* most_shared(const Figures& figures, int vni) {
  const CommFigures* found = nullptr;
  for (const CommFigures& comm : figures.comms)
    if ((comm.vni == vni || comm.vni == instruments::over_lanes) && comm.totals.threads > 1 &&
        (!found || comm.totals.threads > found->totals.threads))
      found = &comm;
  return found;
}

std::uint64_t messages(const Totals& vni) { return vni[Count::sent] + vni[Count::received]; }
// Attempts to enter that found another thread inside.
std::uint64_t found_taken(const Totals& vni) { return vni[Count::contended] + vni[Count::refused]; }
std::uint64_t attempts(const Totals& vni) { return vni[Count::acquisitions] + vni[Count::refused]; }

const VniFigures& busiest(const Figures& figures) {
  return *std::ranges::max_element(figures.vnis, {}, [](const VniFigures& vni) { return attempts(vni.totals); });
}

// For threads that contend in a VNI: a VNI for each. Communicators are mapped to VNIs in turn, so there must be a
// communicator for each, too. Over lanes there must be a tag for each.
std::string separate(const Figures& figures, const VniFigures& busy) {
  const int share = percent(found_taken(busy.totals), attempts(busy.totals));
  const CommFigures* comm = most_shared(figures, busy.index);
  const std::uint64_t threads = comm != nullptr ? comm->totals.threads : busy.totals.threads;
  const std::uint64_t vnis = std::min<std::uint64_t>(threads, safety::most_vnis);
  const bool too_few = figures.vnis.size() < vnis;
  std::string more = text("HEDDLE_MODEL=auto,vnis=%llu", static_cast<Number>(vnis));
  if (comm == nullptr)
    return text("%llu threads use VNI %d, and %d%% of their attempts to enter found it taken; use more VNIs: %s",
                static_cast<Number>(threads), busy.index, share, more.c_str());
  if (comm->vni == instruments::over_lanes)
    return text(
        "%llu threads use communicator %s, and %d%% of the attempts to enter VNI %d found it taken; give each thread "
        "a tag of its own, with numbers that follow each other%s",
        static_cast<Number>(threads), shown(*comm), share, busy.index,
        too_few ? (", and use more VNIs: " + more).c_str() : "");
  return text(
      "%llu threads share communicator %s, and %d%% of the attempts to enter VNI %d found it taken; give each thread a "
      "duplicate of it (MPI_Comm_dup)%s",
      static_cast<Number>(threads), shown(*comm), share, busy.index,
      too_few ? (", and use more VNIs: " + more).c_str() : "");
}

// The model with another strategy, as HEDDLE_MODEL spells it.
std::string with_strategy(const std::string& model, const char* strategy) {
  std::string text;
  for (std::size_t at = 0; at < model.size();) {
    const std::size_t end = std::min(model.find(',', at), model.size());
    const std::string part = model.substr(at, end - at);
    if (!part.starts_with("strategy=")) text += part + ',';
    at = end + 1;
  }
  return text + "strategy=" + strategy;
}

}  // namespace

std::string advice(const Figures& figures) {
  std::uint64_t all = 0;
  for (const VniFigures& vni : figures.vnis) all += messages(vni.totals);
  if (all < few_messages) return text("none: %llu messages are too few to judge by", static_cast<Number>(all));
  const VniFigures& busy = busiest(figures);
  const Totals& t = busy.totals;
  const std::uint64_t received = std::max<std::uint64_t>(t[Count::received], 1);

  if (t.threads > 1 && percent(found_taken(t), attempts(t)) >= many_contended) return separate(figures, busy);
  if (figures.never_sleep && t[Count::wasted] / received >= many_polls)
    return text(
        "waiting threads never block, and polled %llu times without result for each message; let them block: %s",
        static_cast<Number>(t[Count::wasted] / received), figures.may_sleep ? "HEDDLE_WAIT=spin" : "HEDDLE_MODEL=auto");
  if (const int alone = percent(t[Count::alone], t[Count::packets]);
      figures.strategy == "direct" && alone >= many_alone)
    return text(
        "%d%% of the packets to other nodes carried one short message, right behind another; let them go together: "
        "HEDDLE_MODEL=%s",
        alone, with_strategy(figures.model, "aggregate").c_str());
  if (const int early = percent(t[Count::unexpected], t[Count::received]); early >= many_unexpected)
    return text(
        "%d%% of the messages came before their receive was posted, and were copied once more; post receives earlier",
        early);
  const int waiting = percent(t[Time::wait] + t[Time::blocked], time_in_library(t));
  // OpenMP's threads spin while they wait for each other, and keep the cores from the rank that is waited for.
  if (waiting >= mostly_waiting && figures.ranks > 1 && figures.threads > figures.cores + threads_of_library)
    return text(
        "%d%% of the time in the library is spent waiting for other ranks, and this process has %d threads for %d of "
        "the cores; start fewer (OMP_NUM_THREADS=%d), or let them block (OMP_WAIT_POLICY=passive)",
        waiting, figures.threads, figures.cores, figures.cores);
  if (waiting >= mostly_waiting)
    return text("none: %d%% of the time in the library is spent waiting for messages, which other ranks decide",
                waiting);
  return "none: nothing stands out";
}

}  // namespace heddle::tool
