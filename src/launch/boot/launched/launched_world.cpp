#include "launch/boot/launched/launched_world.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <system_error>

#include "launch/boot/card.hpp"
#include "launch/boot/foreign_launcher.hpp"
#include "launch/boot/join.hpp"
#include "launch/boot/launched/gather.hpp"
#include "launch/boot/launched/node_segment.hpp"
#include "launch/boot/launched/thread.hpp"
#include "launch/boot/peer_memory.hpp"

namespace heddle::boot {
namespace {

constexpr int time_to_tell = 500;  // milliseconds in which the agent has told the others, unless a node does not answer
// milliseconds in which rank 0's node decides which rank is the first to end the job
constexpr int time_to_be_first = 3000;
constexpr int time_of_ranks = 200;  // milliseconds in which ranks end after the order to

// `otherwise` where the variable is not set.
Result<int> read_number(const char* variable, const char* what, int otherwise) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  int number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  if (error == std::errc() && *end == '\0' && number >= 1) return number;
  return refuse("invalid value %.40s for %s: must be a number of %s, at least 1", text, variable, what);
}

// The agent's own link to itself.
Result<void> connect_itself(Gathered& gathered, int rank) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return refuse("cannot make a local socket: %s", std::strerror(errno));
  gathered.agent = Connection(Descriptor(ends[0]));
  for (LocalRank& local : gathered.locals)
    if (local.rank == rank) local.link = Connection(Descriptor(ends[1]));
  return {};
}

// The job's number for a rank of the launcher.
int number_in(void* segment, int launcher_rank) {
  auto* const header = static_cast<JobHeader*>(segment);
  if (header->renumbered == 0) return launcher_rank;
  const std::int32_t* const all = launcher_ranks(header);
  return static_cast<int>(std::find(all, all + header->size, launcher_rank) - all);
}

// The last of the words that ranks agree on: 1 plus the rank that reports why the job ends.
constexpr int first_to_abort = agreed_words - 1;

template <class Condition>
void wait_until(Condition&& holds) {
  const std::int64_t by = milliseconds_now() + time_to_tell;
  while (!holds() && milliseconds_now() < by) usleep(100);
}

[[noreturn]] void exit_after(int milliseconds, int code) {
  usleep(static_cast<unsigned>(milliseconds) * 1000);
  _exit(code);
}

}  // namespace

Result<std::unique_ptr<World>> LaunchedWorld::join(std::unique_ptr<Wireup>& wireup) {
  const Result<int> nodes = read_number("HEDDLE_NODES", "nodes", 1);
  if (!nodes) return nodes.failure();
  const Result<int> timeout = read_number(timeout_variable, "seconds", 0);
  if (!timeout) return timeout.failure();
  const Result<Ports> ports = read_ports();
  if (!ports) return ports.failure();
  if (*nodes > wireup->size() && wireup->size() > 1)
    return refuse(
        "invalid value %d for HEDDLE_NODES: this job has %d ranks, and each node needs one. Set it to %d or less",
        *nodes, wireup->size(), wireup->size());
  Result<Gathered> all = gather(*wireup, {.nodes = *nodes, .ports = *ports});
  if (!all) return all.failure();
  Gathered& gathered = *all;
  int agent_rank = number_of(wireup->rank(), gathered.order);
  const Result<Segment> segment = gathered.is_agent ? make_node_segment(gathered, *wireup, *nodes > 1)
                                                    : receive_node_segment(gathered.agent, agent_rank);
  if (!segment) {
    refuse_all(gathered, segment.failure().text);
    return segment.failure();
  }
  if (gathered.is_agent)
    if (const Result<void> connected = connect_itself(gathered, agent_rank); !connected) return connected.failure();
  std::unique_ptr<LaunchedWorld> joined(
      new LaunchedWorld(*segment, std::move(wireup), std::move(gathered.agent), agent_rank));
  try {
    joined->begin(std::move(gathered), *timeout);
  } catch (const std::system_error& error) {
    return refuse("cannot start the thread that watches the job: %s. Raise the limit of threads (ulimit -u)",
                  error.what());
  }
  return joined;
}

LaunchedWorld::LaunchedWorld(const std::shared_ptr<platform::SparseMemory>& segment, std::unique_ptr<Wireup> wireup,
                             Connection agent, int agent_rank)
    : World(segment, number_in(segment->start(), wireup->rank())),
      wireup_(std::move(wireup)),
      member_(std::move(agent), header(), rank(), agent_rank, *this),
      asked_(static_cast<std::size_t>(capacity())) {}

void LaunchedWorld::begin(Gathered gathered, int timeout) {
  record().appnum = wireup_->appnum();
  record().pid.store(getpid());
  record().state.store(RankState::inited);
  publish_key(record());
  if (gathered.is_agent) {
    agent_ = std::make_unique<Agent>(std::move(gathered), header(), rank(), *this, timeout);
    agent_->start();
    on_exit(linger, this);
  }
  member_.start();
  // A child of this process is not a rank of the job.
  setenv(launcher_variable, "0", 1);
}

// On the root's node the segment has all agreed words; on another one, those that its ranks have requested.
std::uint64_t LaunchedWorld::agreed(int word) const {
  std::uint64_t value = header().agreed[word].load(std::memory_order_relaxed);
  if (value == 0 && header().first_node != 0) (void)member_.agree(word, 0, value);
  return value;
}
std::uint64_t LaunchedWorld::agree(int word, std::uint64_t proposal) {
  if (header().first_node == 0) return first_proposal(header().agreed[word], proposal);
  std::uint64_t value = header().agreed[word].load(std::memory_order_relaxed);
  if (value != 0 || member_.agree(word, proposal, value)) return value;
  boot::abort(this, 1, "rank 0 of the job does not answer a request for a value that all ranks agree on");
}

std::span<const std::byte> LaunchedWorld::find(int peer, int vni) const {
  const std::span<const std::byte> entry = find_entry(cards(&header())[peer], vni);
  if (entry.empty() && !is_local(peer) && !asked_[static_cast<std::size_t>(peer)].exchange(true))
    member_.send(Frame(FrameKind::ask).add(peer));
  return entry;
}

bool LaunchedWorld::publish(int vni, std::span<const std::byte> address) {
  const std::lock_guard guard(mutex_);
  if (!add_entry(cards(&header())[rank()], vni, address)) return false;
  if (nodes() > 1) member_.send(Frame(FrameKind::published));
  return true;
}

std::vector<ProcessSet> LaunchedWorld::process_sets() {
  std::vector<ProcessSet> sets = wireup_->process_sets();
  for (ProcessSet& set : sets)
    for (int& member : set.ranks) member = number_in(&header(), member);
  std::erase_if(sets, [&](const ProcessSet& set) {
    return std::find(set.ranks.begin(), set.ranks.end(), rank()) == set.ranks.end();
  });
  return sets;
}

// ---- ends

void LaunchedWorld::leave() {
  World::leave();
  if (left_.exchange(true)) return;
  if (agent_) {
    member_.send(Frame(FrameKind::left));
    wait_until([this] { return agent_->has_told_left(); });
  }
  wireup_->finalize();
}

void LaunchedWorld::end_in_process() {
  if (agent_) agent_->stop();
  member_.shut();
}

// Other ranks may still need this node's agent. A forked child is none.
void LaunchedWorld::linger(int, void* agents_world) {
  LaunchedWorld& world = *static_cast<LaunchedWorld*>(agents_world);
  if (world.record().state.load() == RankState::finalized && world.record().pid.load() == getpid())
    world.agent_->wait_for_others();
}

// Ranks that end the job at once have the same reason most often; one of them reports it.
bool LaunchedWorld::is_first_to_abort() try {
  const std::uint64_t own = static_cast<std::uint64_t>(rank()) + 1;
  if (header().first_node == 0) return first_proposal(header().agreed[first_to_abort], own) == own;
  std::uint64_t first = 0;
  return !member_.agree(first_to_abort, own, first, time_to_be_first) || first == own;
} catch (const std::bad_alloc&) {
  return true;  // two ranks may report their reasons
}

// Before the launcher is asked to end the job: time to pass the output on, or for ranks to end by themselves.
void LaunchedWorld::leave_time() const {
  if (wireup_->keeps_abort_code())
    let_launcher_pass_on();
  else
    usleep(time_of_ranks * 1000);
}

Result<std::string> LaunchedWorld::ask_launcher(const std::string&) {
  return refuse(
      "this job was started by another launcher, and only Heddle's mpiexec can start processes. Start the job with it");
}

void LaunchedWorld::abort(int code, const char* text) {
  std::int32_t unset = 0;
  if (!record().abort_code.compare_exchange_strong(unset, exit_code(code))) {
    while (true) pause();  // another thread was first: its reason stands, and it is about to end the process
  }
  std::snprintf(record().abort_text, sizeof record().abort_text, "%s", text);
  record().state.store(RankState::aborted);
  if (is_first_to_abort())
    write_line(text);
  else
    usleep(time_of_launcher * 1000);  // the first one ends us after its report; we would end it before
  member_.send(Frame(FrameKind::end).add(exit_code(code)).add(time_to_be_ended()));
  if (agent_) wait_until([this] { return agent_->has_told_end(); });
  leave_time();
  wireup_->abort(exit_code(code), text);
  _exit(exit_code(code));
}

int LaunchedWorld::time_to_be_ended() const { return wireup_->keeps_abort_code() ? time_of_launcher : 0; }

void LaunchedWorld::say(const char* text) {
  std::int32_t unset = 0;
  if (!record().abort_code.compare_exchange_strong(unset, 1)) {
    while (true) pause();
  }
  record().state.store(RankState::aborted);
  std::int32_t unclaimed = 0;
  if (header().teller.compare_exchange_strong(unclaimed, rank() + 1))
    write_line((std::string("heddle: ") + text).c_str());
  else
    usleep(time_of_launcher * 1000);  // the reporting rank ends us
}

void LaunchedWorld::end(int code, int milliseconds) {
  leave_time();
  // A launcher whose connection to us is broken may not answer.
  try {
    start_thread([milliseconds, code] { exit_after(milliseconds, code); });
  } catch (const std::system_error&) {  // then we wait for it
  }
  wireup_->abort(code, record().abort_text);
  exit_after(milliseconds, code);
}

}  // namespace heddle::boot
