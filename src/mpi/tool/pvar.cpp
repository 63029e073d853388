#include "mpi/tool/pvar.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/instruments/ticks.hpp"
#include "messaging/engine/vni.hpp"
#include "messaging/p2p/requests.hpp"
#include "mpi/tool/interface.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::tool {

using instruments::Count;
using instruments::Time;
using instruments::Totals;
using Figure = Pvar::Figure;
using Source = Pvar::Source;

// ---- the list of variables

namespace {

struct CountFigure {
  Count what;
  const char* name;
  const char* description;
};
constexpr std::array vni_counts{
    CountFigure{Count::sent, "messages_sent", "Messages that left"},
    CountFigure{Count::sent_away, "messages_sent_to_other_nodes", "Messages that left for ranks of other nodes"},
    CountFigure{Count::packets, "packets_sent_to_other_nodes",
                "Packets that left for ranks of other nodes: a message each, or several, or an answer, or a piece"},
    CountFigure{
        Count::alone, "packets_of_one_message_behind_another",
        "Packets for ranks of other nodes with one short message, which left right behind another packet to the "
        "same rank"},
    CountFigure{Count::waited, "messages_waited_in_outbox",
                "Messages and answers to ranks of other nodes that waited in the outbox"},
    CountFigure{Count::bytes_away, "bytes_sent_to_other_nodes", "Bytes that left for ranks of other nodes"},
    CountFigure{Count::bytes_first_rail, "bytes_sent_over_rail_0",
                "Bytes that left for other nodes over their first rail"},
    CountFigure{Count::bytes_second_rail, "bytes_sent_over_rail_1", "Bytes that left for other nodes over the second"},
    CountFigure{Count::bytes_third_rail, "bytes_sent_over_rail_2", "Bytes that left for other nodes over the third"},
    CountFigure{Count::bytes_fourth_rail, "bytes_sent_over_rail_3", "Bytes that left for other nodes over the fourth"},
    CountFigure{Count::connections, "connections_opened",
                "Connections to ranks of other nodes that were opened, each by the first message to it"},
    CountFigure{Count::deferred, "messages_deferred", "Messages whose submission was left to an idle core"},
    CountFigure{Count::uncredited, "messages_uncredited",
                "Short messages that were sent to another node by rendezvous for lack of credit at their receiver"},
    CountFigure{Count::received, "messages_received", "Messages that arrived"},
    CountFigure{Count::unexpected, "messages_unexpected", "Messages that arrived before their receive was posted"},
    CountFigure{
        Count::buffered, "bytes_buffered",
        "Bytes of eager messages from other nodes that were stored since they arrived before their receive was posted"},
    CountFigure{Count::staged, "messages_staged",
                "Long messages of another process that came through chunks of shared memory"},
    CountFigure{Count::polls, "polls", "Polls of the network"},
    CountFigure{Count::empty_polls, "polls_empty", "Polls of the network that found nothing"},
    CountFigure{Count::acquisitions, "lock_acquisitions", "Entries into the critical section"},
    CountFigure{Count::contended, "lock_contended", "Entries into the critical section that had to wait for the lock"},
    CountFigure{Count::refused, "lock_refused", "Attempts to enter that found the lock taken, and left"},
    CountFigure{Count::wasted, "lock_wasted", "Entries into the critical section that found nothing to do"},
    CountFigure{Count::combined, "combined", "Operations that a lock holder executed for other threads"},
    CountFigure{Count::wakeups, "wakeups", "Blocked threads that were woken"},
    CountFigure{Count::idle_wakeups, "wakeups_idle", "Woken threads that found nothing to do"},
};

struct TimeFigure {
  Time what;
  const char* name;
  const char* description;
};
constexpr std::array vni_times{
    TimeFigure{Time::issue, "time_issue", "Seconds that threads spent starting operations"},
    TimeFigure{Time::poll, "time_poll", "Seconds that threads spent polling and moving what they found"},
    TimeFigure{Time::empty, "time_empty", "Seconds in the critical section with nothing to do"},
    TimeFigure{Time::lock, "time_lock", "Seconds that threads waited for the lock"},
    TimeFigure{Time::combiner, "time_combiner",
               "Seconds that threads waited until another had executed their operation"},
    TimeFigure{Time::wait, "time_wait", "Seconds that threads spun for requests, between polls"},
    TimeFigure{Time::blocked, "time_blocked", "Seconds that threads were blocked"},
};

constexpr std::array comm_counts{
    CountFigure{Count::sends, "comm_sends", "Point-to-point sends that the program started on the communicator"},
    CountFigure{Count::receives, "comm_receives", "Receives that the program started on the communicator"},
};

std::vector<Pvar> make_pvars() {
  std::vector<Pvar> all;
  const auto add_of_vni = [&](Source source, const char* prefix, const char* where) {
    const auto text = [&](const char* description) { return std::string(description) + where; };
    for (const auto& [what, name, description] : vni_counts)
      all.push_back({.name = std::string(prefix) + name,
                     .description = text(description),
                     .figure = Figure::count,
                     .source = source,
                     .count = what});
    for (const auto& [what, name, description] : vni_times)
      all.push_back({.name = std::string(prefix) + name,
                     .description = text(description) + "; an estimate from samples",
                     .figure = Figure::time,
                     .source = source,
                     .time = what});
    all.push_back(
        {.name = std::string(prefix) + "time_in_outbox",
         .description = text("Seconds that messages and answers to ranks of other nodes waited in the outbox, "
                             "added up"),
         .figure = Figure::ticks,
         .source = source,
         .count = Count::waited_ticks});
    all.push_back({.name = std::string(prefix) + "combined_max",
                   .description = text("Most operations that were done for other threads in one critical section"),
                   .figure = Figure::largest,
                   .source = source});
  };
  add_of_vni(Source::all_vnis, "vni_", ", on all VNIs of the rank");
  add_of_vni(Source::vni_of_comm, "comm_vni_", ", on the VNI that carries the communicator");
  for (const auto& [what, name, description] : comm_counts)
    all.push_back(
        {.name = name, .description = description, .figure = Figure::count, .source = Source::comm, .count = what});
  all.push_back({.name = "comm_threads",
                 .description = "Threads that have used the communicator while anything was counted",
                 .figure = Figure::threads,
                 .source = Source::comm});
  return all;
}

}  // namespace

const std::vector<Pvar>& pvars() {
  static const std::vector<Pvar> all = make_pvars();
  return all;
}

int Pvar::var_class() const {
  switch (figure) {
    case Figure::count:
      return MPI_T_PVAR_CLASS_COUNTER;
    case Figure::time:
    case Figure::ticks:
      return MPI_T_PVAR_CLASS_TIMER;
    case Figure::largest:
      return MPI_T_PVAR_CLASS_HIGHWATERMARK;
    case Figure::threads:
      return MPI_T_PVAR_CLASS_LEVEL;
  }
  return MPI_T_PVAR_CLASS_GENERIC;
}

// ---- handles

namespace {

bool totals_of(Rank& rank, Source source, MPI_Comm handle, Totals& totals) {
  if (source == Source::all_vnis) {
    totals = rank.counter_registry.all_vnis();
    return true;
  }
  Comm* comm = object(handle);
  if (comm == nullptr) return false;
  totals = source == Source::comm ? comm->counters.totals()
                                  : p2p::vni_of(*comm, Plane::collective, 0, 0).counters().totals();
  return true;
}

// All started high-water marks of the rank are updated; then a new one can begin.
void forget_recent(Rank& rank) {
  rank.tool->sessions.for_each(
      [&](PvarSession& session) { session.handles.for_each([&](PvarHandle& handle) { handle.notice(rank); }); });
  rank.counter_registry.for_each_vni([](int, instruments::Counters& vni) { vni.forget_recent(); });
}

}  // namespace

PvarHandle::PvarHandle(const Pvar& variable, MPI_Comm comm) : variable_(variable), comm_(comm) {
  if (variable_.continuous()) instruments::switch_on();
}

PvarHandle::~PvarHandle() {
  if (started_ || variable_.continuous()) instruments::switch_off();
}

bool PvarHandle::read_total(Rank& rank, std::uint64_t& now) const {
  Totals totals;
  if (!totals_of(rank, variable_.source, comm_, totals)) return false;
  switch (variable_.figure) {
    case Figure::count:
    case Figure::ticks:
      now = totals[variable_.count];
      break;
    case Figure::time:
      now = totals[variable_.time];
      break;
    case Figure::largest:
      now = totals.recent_largest;
      break;
    case Figure::threads:
      now = totals.threads;
      break;
  }
  return true;
}

void PvarHandle::add_up(std::uint64_t now) {
  if (variable_.figure == Figure::largest) {
    value_.number = std::max(value_.number, now);
  } else if (variable_.in_seconds()) {
    value_.seconds += instruments::seconds(now - since_);
  } else {
    value_.number += now - since_;
  }
  since_ = now;
}

void PvarHandle::notice(Rank& rank) {
  std::uint64_t now;
  if (started_ && variable_.figure == Figure::largest && read_total(rank, now)) add_up(now);
}

bool PvarHandle::start(Rank& rank) {
  if (started_) return true;
  if (variable_.figure == Figure::largest) forget_recent(rank);
  if (!read_total(rank, since_)) return false;
  started_ = true;
  instruments::switch_on();
  return true;
}

bool PvarHandle::stop(Rank& rank) {
  if (!started_) return true;
  std::uint64_t now;
  if (!read_total(rank, now)) return false;
  add_up(now);
  started_ = false;
  instruments::switch_off();
  return true;
}

bool PvarHandle::read(Rank& rank, void* buf) {
  std::uint64_t now;
  if (!read_total(rank, now)) return false;
  if (variable_.continuous()) {
    value_.number = now;
  } else if (started_) {
    add_up(now);
  }
  if (variable_.in_seconds()) {
    std::memcpy(buf, &value_.seconds, sizeof value_.seconds);
  } else {
    std::memcpy(buf, &value_.number, sizeof value_.number);
  }
  return true;
}

bool PvarHandle::write(Rank& rank, const void* buf) {
  if (variable_.figure == Figure::largest) forget_recent(rank);
  if (!read_total(rank, since_)) return false;
  if (variable_.in_seconds()) {
    std::memcpy(&value_.seconds, buf, sizeof value_.seconds);
  } else {
    std::memcpy(&value_.number, buf, sizeof value_.number);
  }
  return true;
}

bool PvarHandle::read_and_reset(Rank& rank, void* buf) {
  if (!read(rank, buf)) return false;
  if (variable_.figure == Figure::largest) forget_recent(rank);
  value_ = {};
  return true;
}

}  // namespace heddle::tool
