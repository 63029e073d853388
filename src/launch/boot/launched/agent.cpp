#include "launch/boot/launched/agent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "launch/boot/card.hpp"
#include "launch/boot/join.hpp"
#include "launch/boot/launched/job_text.hpp"
#include "launch/boot/launched/thread.hpp"
#include "launch/boot/standstill/thread_report.hpp"

namespace heddle::boot {
namespace {

// Milliseconds. A launcher that ends a job when a rank dies has done so by then.
constexpr int patience_with_launcher = 400;
// If a node's agent is gone, its neighbours report it first, then the root or else the first of the other nodes.
constexpr int patience_with_node = 800;
constexpr int patience_of_others = 1'500;
// A launcher whose connection to a node is broken ends nothing there, and may wait for that node elsewhere.
constexpr int time_of_launcher_cut_off = 300;
constexpr std::int64_t time_to_tell = 300;
// Milliseconds between two beats of a node. A node whose agent is stopped, by a debugger for example, is sent no more
// than it can store.
constexpr std::int64_t between_beats = 500;
constexpr int most_unheard = 100;
constexpr std::int64_t between_reports = 1'000;
constexpr std::int64_t longest_sleep = 3'600'000;
constexpr int exit_code_of_timeout = 124;  // as mpiexec's

constexpr int roots_node = 0;

// True if the refusal has reached ranks of this node and agents of others: they close their end then.
bool have_heard(const std::vector<Connection*>& locals, const std::vector<Connection*>& nodes) {
  bool all = true;
  for (Connection* link : locals) {
    link->flush();
    all &= !link->waits_for_room();
  }
  for (Connection* link : nodes) {
    link->flush();
    if (!link->waits_for_room()) link->end_sending();
    link->read();
    while (link->next()) continue;  // the refusal comes too late
    all &= !link->is_open();
  }
  return all;
}

}  // namespace

Agent::Agent(Gathered gathered, JobHeader& header, int rank, Ending& ending, int seconds)
    : at_(std::move(gathered)),
      header_(header),
      ending_(ending),
      rank_(rank),
      is_root_(at_.is_root()),
      unheard_(at_.nodes.size() + 1),
      seconds_(seconds) {
  if (is_root_ && seconds > 0) time_over_at_ = milliseconds_now() + std::int64_t{1000} * seconds;
  count_others();
}

void Agent::start() {
  start_thread([this] { run(); });
}

int Agent::node_of(int rank) const {
  const std::int32_t* const first = first_ranks(&header_);
  return static_cast<int>(std::upper_bound(first, first + header_.nodes, rank) - first) - 1;
}

void Agent::run() {
  // Ranks that died before they got the segment, and frames and disconnections that came during the wire-up.
  for (const LocalRank& local : at_.locals)
    if (!local.link.is_open()) local_is_gone(local);
  if (is_root_)
    for (std::size_t node = 1; node < at_.nodes.size(); ++node)
      take_from_node(static_cast<int>(node), at_.nodes[node].link);
  else
    take_from_node(roots_node, at_.root);
  while (true) {
    poll_all();
    if (stopped_.load()) break;
    for (LocalRank& local : at_.locals) read_local(local);
    for (std::size_t node = 1; node < at_.nodes.size(); ++node) read_node(static_cast<int>(node), at_.nodes[node].link);
    read_node(roots_node, at_.root);
    if (has_other_nodes()) beat();
    if (milliseconds_now() >= time_over_at_) time_over();
    count_others();
  }
  at_ = Gathered();  // with all connections
}

void Agent::poll_all() {
  std::vector<pollfd> waiting;
  const auto add = [&](const Connection& link) {
    if (!link.is_open()) return;
    const short room = link.waits_for_room() ? POLLOUT : 0;
    waiting.push_back({.fd = link.fd(), .events = static_cast<short>(POLLIN | room), .revents = 0});
  };
  for (const LocalRank& local : at_.locals) add(local.link);
  for (const NodeLink& node : at_.nodes) add(node.link);
  add(at_.root);
  const std::int64_t next = std::min(has_other_nodes() ? next_beat_ : never, time_over_at_);
  const std::int64_t left = std::clamp<std::int64_t>(next - milliseconds_now(), 0, longest_sleep);
  (void)poll(waiting.data(), waiting.size(), next == never ? -1 : static_cast<int>(left));
}

void Agent::beat() {
  const std::int64_t now = milliseconds_now();
  if (now < next_beat_) return;
  next_beat_ = now + between_beats;
  const auto tell = [](Connection& link, int& unheard) {
    if (!link.is_open() || unheard == most_unheard) return;
    ++unheard;
    link.send(Frame(FrameKind::beat));
  };
  tell(at_.root, unheard_[roots_node]);
  for (std::size_t node = 1; node < at_.nodes.size(); ++node) tell(at_.nodes[node].link, unheard_[node]);
}

void Agent::read_local(LocalRank& local) {
  if (!local.link.is_open()) return;
  local.link.flush();
  local.link.read();
  while (const std::optional<Frame> frame = local.link.next()) from_local(local, *frame);
  if (!local.link.is_open()) local_is_gone(local);
}

void Agent::read_node(int node, Connection& link) {
  if (!link.is_open()) return;
  link.flush();
  link.read();
  take_from_node(node, link);
}

// A node that is gone may have sent frames before.
void Agent::take_from_node(int node, Connection& link) {
  while (const std::optional<Frame> frame = link.next()) {
    unheard_[static_cast<std::size_t>(node)] = 0;
    from_node(node, *frame);
  }
  if (!link.is_open()) node_is_gone(node, link);
}

// ---- requests of this node's ranks

void Agent::from_local(const LocalRank& local, const Frame& frame) {
  Fields fields(frame);
  switch (frame.kind()) {
    case FrameKind::agree:
      // On the root's node the ranks use its segment themselves.
      at_.root.send(frame);
      break;
    case FrameKind::ask:
      if (const int peer = fields.index(); is_rank(peer) && asked_.insert(peer).second) ask_for_card(peer, at_.node);
      break;
    case FrameKind::published:
      for (Subscription& subscription : wanted_[local.rank]) send_card(local.rank, subscription);
      break;
    case FrameKind::left:
      at_.root.send(frame);
      for (NodeLink& node : at_.nodes) node.link.send(frame);
      told_left_.store(true, std::memory_order_release);
      break;
    case FrameKind::report:
      if (!is_root_) at_.root.send(frame);
      report(frame);
      break;
    case FrameKind::end:
      end_all(frame, true);
      break;
    default:
      break;
  }
}

void Agent::ask_for_card(int peer, int node) {
  const int its_node = node_of(peer);
  if (its_node != at_.node) {
    towards(its_node).send(Frame(FrameKind::ask).add(peer).add(node));
  } else if (node != at_.node) {
    std::vector<Subscription>& all = wanted_[peer];
    send_card(peer, all.emplace_back(Subscription{node, 0}));
  }
}

void Agent::send_card(int peer, Subscription& subscription) {
  const Card& card = cards(&header_)[peer];
  const std::uint32_t used = card.used.load(std::memory_order_acquire);
  if (used == subscription.sent) return;
  Frame frame(FrameKind::card);
  frame.add(subscription.node).add(peer).add(subscription.sent);
  frame.add(
      std::string_view(reinterpret_cast<const char*>(card.entries + subscription.sent), used - subscription.sent));
  subscription.sent = used;
  towards(subscription.node).send(frame);
}

// ---- frames of other nodes

void Agent::from_node(int node, const Frame& frame) {
  Fields fields(frame);
  switch (frame.kind()) {
    case FrameKind::agree:
      if (is_root_) answer_agree(frame, towards(node));
      break;
    case FrameKind::agreed:
      take_agreed(frame);
      break;
    case FrameKind::ask: {
      const int peer = fields.index(), from = fields.index();
      if (is_rank(peer) && is_node(from) && (is_root_ || node_of(peer) == at_.node)) ask_for_card(peer, from);
      break;
    }
    case FrameKind::card: {
      const int to = fields.index(), peer = fields.index();
      const std::uint32_t offset = fields.number();
      if (!fields.complete() || !is_node(to) || !is_rank(peer)) break;
      if (to != at_.node) {
        if (is_root_) towards(to).send(frame);
      } else if (node_of(peer) != at_.node) {
        const std::string_view bytes = fields.rest();
        (void)add_bytes(cards(&header_)[peer], offset,
                        {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
      }
      break;
    }
    case FrameKind::left:
      left_.insert(node);
      break;
    case FrameKind::report:
      report(frame);
      break;
    case FrameKind::end:
      end_all(frame, false);
      break;
    default:
      break;
  }
}

// A proposal of 0 is no proposal.
void Agent::answer_agree(const Frame& frame, Connection& to) {
  Fields fields(frame);
  const int word = fields.index();
  const std::uint64_t proposal = fields.long_number();
  const int rank = fields.index();
  if (!fields.complete() || word < 0 || word >= agreed_words || !is_rank(rank)) return;
  std::atomic<std::uint64_t>& there = header_.agreed[word];
  const std::uint64_t value = proposal != 0 ? first_proposal(there, proposal) : there.load(std::memory_order_relaxed);
  to.send(Frame(FrameKind::agreed).add(word).add(value).add(rank));
}

void Agent::take_agreed(const Frame& frame) {
  Fields fields(frame);
  const int word = fields.index();
  const std::uint64_t value = fields.long_number();
  const int rank = fields.index();
  if (is_root_ || !fields.complete() || word < 0 || word >= agreed_words) return;
  if (value != 0) header_.agreed[word].store(value, std::memory_order_relaxed);
  for (LocalRank& local : at_.locals)
    if (local.rank == rank) local.link.send(frame);
}

// ---- reports of where the threads are

// Reports this node's ranks; the root has every other node report, too.
void Agent::report(const Frame& frame) {
  const std::int64_t now = milliseconds_now();
  if (now < next_report_) return;
  next_report_ = now + between_reports;
  for (NodeLink& node : at_.nodes) node.link.send(frame);
  RanksView view;
  view.header = &header_;
  view.first = at_.locals.front().rank;
  view.records = rank_records(&header_) + view.first;
  for (const LocalRank& local : at_.locals) view.processes.push_back(local.link.is_open() ? local.process : 0);
  view.number = [this](int place) {
    const int rank = at_.locals[static_cast<std::size_t>(place)].rank;
    return header_.renumbered != 0 ? launcher_ranks(&header_)[rank] : rank;
  };
  // Through the kernel: an unused part of the memory may not be accessible.
  const Descriptor memory(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  view.read = [&](std::uint64_t offset, void* to, std::size_t bytes) {
    const auto at = reinterpret_cast<std::uintptr_t>(&header_) + header_.heap_offset + offset;
    return pread(memory.get(), to, bytes, static_cast<off_t>(at)) == static_cast<ssize_t>(bytes);
  };
  view.names_host = has_other_nodes();
  write_line(("heddle: " + frame.fields() + "; " + std::to_string(view.ranks()) + " of " +
              std::to_string(header_.size) + " ranks, on " + own_host() + ':' + where_threads_are(view))
                 .c_str());
}

// ---- ends

// The other nodes report where their threads are before they receive the end, which comes behind.
void Agent::time_over() {
  time_over_at_ = never;
  if (ending_job_) return;
  next_report_ = 0;
  report(Frame(FrameKind::report)
             .add("the job has not ended in " + std::to_string(seconds_) + " s (HEDDLE_TIMEOUT); ending it"));
  end_all(Frame(FrameKind::end).add(exit_code_of_timeout).add(ending_.time_to_be_ended()), false);
  ending_.end(exit_code_of_timeout, Ending::time_of_launcher);
}

// To all nodes except the sender.
void Agent::end_all(const Frame& end, bool tell_root) {
  if (ending_job_) return;
  ending_job_ = true;
  std::vector<Connection*> locals, nodes;
  for (LocalRank& local : at_.locals)
    if (local.rank != rank_) locals.push_back(&local.link);
  for (NodeLink& node : at_.nodes) nodes.push_back(&node.link);
  if (tell_root) nodes.push_back(&at_.root);
  for (Connection* link : locals) link->send(end);
  for (Connection* link : nodes) link->send(end);
  for (const std::int64_t by = milliseconds_now() + time_to_tell;
       !have_heard(locals, nodes) && milliseconds_now() < by;)
    usleep(1000);
  // This process last: it may end as soon as it is told, and the others would take that for the reason.
  for (LocalRank& local : at_.locals)
    if (local.rank == rank_) local.link.send(end);
  told_end_.store(true, std::memory_order_release);
}

void Agent::local_is_gone(const LocalRank& local) {
  if (ending_job_ || rank_records(&header_)[local.rank].state.load() == RankState::finalized) return;
  char text[200];
  std::snprintf(text, sizeof text, "rank %d (process %d) has ended without MPI_Finalize: the job ends",
                header_.renumbered != 0 ? launcher_ranks(&header_)[local.rank] : local.rank, local.process);
  lose(text, patience_with_launcher);
}

void Agent::node_is_gone(int node, const Connection& link) {
  if (ending_job_ || left_.contains(node)) return;
  char text[256];
  const std::int32_t* const first = first_ranks(&header_);
  std::snprintf(text, sizeof text, "node %d%s%s with %d of the ranks is gone: its connection to %s %s; the job ends",
                node, is_root_ ? ", " : "", is_root_ ? at_.nodes[static_cast<std::size_t>(node)].host.c_str() : "",
                first[node + 1] - first[node], is_root_ ? "rank 0" : "this node",
                link.timed_out() ? "is dead (a cable, or the machine)" : "has ended");
  const bool is_first = is_root_ || at_.node == 1;
  // No neighbour knows more of a machine that does not answer.
  if (link.timed_out()) return lose(text, is_first ? 0 : patience_with_node, time_of_launcher_cut_off);
  lose(text, is_first ? patience_with_node : patience_of_others);
}

// The others end with us, and leave the report to us.
void Agent::lose(const char* text, int patience, int time_of_launcher) {
  usleep(static_cast<unsigned>(patience) * 1000);
  ending_.say(text);
  end_all(Frame(FrameKind::end).add(1).add(std::min(ending_.time_to_be_ended(), time_of_launcher)), true);
  ending_.end(1, time_of_launcher);
}

void Agent::count_others() {
  const std::lock_guard guard(mutex_);
  others_ = 0;
  for (const LocalRank& local : at_.locals)
    if (local.link.is_open() && local.rank != rank_) ++others_;
  for (const NodeLink& node : at_.nodes)
    if (node.link.is_open()) ++others_;
  if (others_ == 0) fewer_.notify_all();
}

// The launcher's process outlives this one, or has been killed: in the latter case the rest of the job has to end
// itself.
void Agent::wait_for_others() {
  const pid_t starter = getppid();
  std::unique_lock lock(mutex_);
  while (!fewer_.wait_for(lock, std::chrono::seconds(1), [this] { return others_ == 0; }))
    if (getppid() != starter) return;
}

}  // namespace heddle::boot
