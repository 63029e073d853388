#include "launch/mpiexec/nodes/coordinator.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <system_error>

#include "launch/boot/launched/sockets.hpp"
#include "launch/boot/random_number.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/nodes/beats.hpp"
#include "launch/mpiexec/nodes/shares.hpp"
#include "launch/mpiexec/open_files.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/spawn.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {

using boot::Fields;
using boot::Frame;
using boot::FrameKind;

namespace {

using namespace std::chrono_literals;

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int forwarded_signals[] = {SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM};

bool is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

std::string count_text(int n, const char* what) { return std::to_string(n) + ' ' + what + (n == 1 ? "" : "s"); }

std::string ranks_of(int first, int count) {
  return count == 1 ? "rank " + std::to_string(first)
                    : "ranks " + std::to_string(first) + " to " + std::to_string(first + count - 1);
}

}  // namespace

Coordinator::Coordinator(const Options& options, std::vector<std::string> arguments)
    : options_(options),
      arguments_(std::move(arguments)),
      secret_(lln::random_secret()),
      decisions_([this](const Frame& news) { tell(news); }),
      out_(STDOUT_FILENO),
      err_own_(STDERR_FILENO),
      err_(err_own_.same_file_as(out_) ? out_ : err_own_),
      open_files_(raise_open_files()),
      next_beat_(Clock::now()),
      come_by_(Clock::now() + time_to_come) {
  const std::unique_ptr<char, decltype(&free)> directory(getcwd(nullptr, 0), free);
  if (directory == nullptr) throw UsageError("the working directory of mpiexec does not exist any more");
  directory_ = directory.get();
  int first = 0;
  for (const Share& share : shares_of(options.apps.front())) {
    nodes_.push_back({share.host, first, share.ranks, words_to_start(share.host, serve_option)});
    first += share.ranks;
  }
  for (Node& node : nodes_)
    if (options.stdin_rank >= node.first && options.stdin_rank < node.first + node.ranks) reader_ = &node;
  const Result<boot::Ports> ports = boot::read_ports();
  if (!ports) throw UsageError(ports.failure().text);
  Result<boot::Listener> listener = boot::listen_on_networks(*ports);
  if (!listener) throw std::runtime_error(listener.failure().text);
  listener_ = std::move(listener->socket);
  port_ = listener->port;

  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGCHLD);
  for (const int signal : ending_signals)
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  for (const int signal : forwarded_signals)
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, &old_mask_);
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  for (const int signal : {SIGPIPE, SIGTTIN}) ::signal(signal, SIG_IGN);  // we notice by errors instead
  prctl(PR_SET_CHILD_SUBREAPER, 1);                                       // children of an mpiexec of this machine
  if (options.timeout_seconds > 0)
    time_over_at_ = Clock::now() + std::chrono::milliseconds(static_cast<long>(options.timeout_seconds * 1000));
}

Coordinator::~Coordinator() {
  for (Node& node : nodes_)
    for (const int fd : {node.input, node.streams[0].fd, node.streams[1].fd})
      if (fd >= 0) close(fd);
  close(signals_);
}

int Coordinator::run() {
  for (Node& node : nodes_) {
    if (is_ending_) break;
    start(node);
  }
  while (!finished()) {
    wait_for_something();
    handle_deadlines();
    drain_outputs();
    if (no_children_) close_orphaned_streams();
  }
  out_.drain_until(Clock::now() + 1s);
  err_.drain_until(Clock::now() + 1s);
  return exit_code();
}

// ---- Start

void Coordinator::start(Node& node) {
  int in[2], out[2][2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out[0], O_CLOEXEC) != 0 || pipe2(out[1], O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const std::vector<char*> arguments = pointers_to(node.words);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGTTIN}) sigaddset(&defaults, signal);
  App app;
  app.command = {node.words.front()};
  const std::string path = find_program(app);
  const Spawned shell = spawn({.path = path.c_str(),
                               .arguments = arguments.data(),
                               .script_arguments = nullptr,
                               .environment = environ,
                               .directory = nullptr,
                               .cpus = nullptr,
                               .cpus_bytes = 0,
                               .in = in[0],
                               .out = out[0][1],
                               .err = out[1][1],
                               .inherited = {},
                               .signal_mask = &old_mask_,
                               .default_signals = &defaults,
                               .open_files = &open_files_});
  for (const int fd : {in[0], out[0][1], out[1][1]}) close(fd);
  node.input = in[1];
  fcntl(node.input, F_SETFL, O_NONBLOCK);
  for (int i = 0; i < 2; ++i) {
    node.streams[static_cast<std::size_t>(i)].fd = out[i][0];
    node.streams[static_cast<std::size_t>(i)].sink = i == 0 ? &out_ : &err_;
    fcntl(out[i][0], F_SETFL, O_NONBLOCK);
  }
  node.shell = shell.pid;
  if (shell.error != 0)
    return give_up("cannot " + std::string(shell.step) + " that starts ranks on " + node.host + " (" +
                       node.words.front() + "): " + strerror(shell.error),
                   exit_code_of_start(shell.error));
  node.unsent = line_of({boot::own_addresses(), port_, secret_, static_cast<int>(&node - nodes_.data())});
  pass_on_input(node);
  if (options_.verbose) say("started an mpiexec for " + ranks_of(node.first, node.ranks) + " on " + node.host);
}

void Coordinator::hear_guests() {
  for (boot::Connection link = boot::accept_from_network(listener_); link.is_open();
       link = boot::accept_from_network(listener_)) {
    const std::uint64_t nonce = boot::challenge(link);
    guests_.push_back({std::move(link), nonce, Clock::now()});
  }
  for (Guest& guest : guests_) hear_guest(guest);
  std::erase_if(guests_, [](const Guest& guest) { return !guest.link.is_open(); });
}

void Coordinator::hear_guest(Guest& guest) {
  guest.link.read();
  const std::optional<Frame> frame = guest.link.next(guest.is_known ? Frame::longest : Frame::longest_unverified);
  if (!guest.is_known && Clock::now() > guest.since + time_to_prove) guest.link.close();
  if (!frame) return;
  if (!guest.is_known) {
    guest.is_known = boot::is_proof(guest.link, *frame, secret_, guest.nonce);
    if (!guest.is_known) guest.link.close();
    return;
  }
  Fields fields(*frame);
  const auto number = static_cast<std::size_t>(fields.number());
  if (frame->kind() != FrameKind::serve || !fields.complete() || number >= nodes_.size() || nodes_[number].has_come)
    return guest.link.close();
  Node& node = nodes_[number];
  node.link = std::move(guest.link);
  node.has_come = true;
  set_connection_timeout(node.link.fd());
  if (std::ranges::all_of(nodes_, &Node::has_come) && !is_ending_) begin_job();
}

void Coordinator::begin_job() {
  has_begun_ = true;
  come_by_ = Clock::time_point::max();
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  NodePlan plan{.host = host,
                .first_ranks = {},
                .key = boot::random_number(),
                .directory = directory_,
                .arguments = arguments_,
                .environment = {}};
  for (const Node& node : nodes_) plan.first_ranks.push_back(node.first);
  plan.first_ranks.push_back(nodes_.back().first + nodes_.back().ranks);
  for (char** entry = environ; *entry != nullptr; ++entry) plan.environment.emplace_back(*entry);
  const std::string text = text_of_plan(plan);
  for (Node& node : nodes_) node.link.send(Frame(FrameKind::plan).add(std::string_view(text)));
}

// ---- The loop

bool Coordinator::finished() const {
  const auto is_over = [](const Node& node) {
    return node.streams[0].fd < 0 && node.streams[1].fd < 0 && !node.link.is_open() && !node.lost_at;
  };
  return (no_children_ && std::ranges::all_of(nodes_, is_over)) || Clock::now() >= give_up_at_;
}

void Coordinator::wait_for_something() {
  std::vector<pollfd> wanted{{signals_, POLLIN, 0}, {listener_.get(), POLLIN, 0}};
  for (const Guest& guest : guests_) wanted.push_back({guest.link.fd(), POLLIN, 0});
  for (const Node& node : nodes_) {
    const short events = node.link.waits_for_room() ? POLLIN | POLLOUT : POLLIN;
    wanted.push_back({node.link.fd(), events, 0});
    for (const Stream& stream : node.streams)
      wanted.push_back({stream.fd >= 0 && !is_full(stream) ? stream.fd : -1, POLLIN, 0});
    wanted.push_back({!node.unsent.empty() ? node.input : -1, POLLOUT, 0});
  }
  if (wants_input()) wanted.push_back({STDIN_FILENO, POLLIN, 0});
  for (const Sink* sink : {&out_, &err_})
    if (sink->waiting()) wanted.push_back({sink->fd(), POLLOUT, 0});
  if (poll(wanted.data(), wanted.size(), milliseconds_to_next_deadline()) <= 0) return;

  // Output first: a rank's output before its death comes before the report of its death.
  for (Node& node : nodes_) {
    for (Stream& stream : node.streams)
      if (stream.fd >= 0) (void)read_stream(stream);
    pass_on_input(node);
  }
  if (wants_input()) read_input();
  hear_guests();
  for (Node& node : nodes_) serve(node);
  if (wanted[0].revents != 0) read_signals();
}

int Coordinator::milliseconds_to_next_deadline() const {
  Clock::time_point next = std::min({next_beat_, come_by_, time_over_at_, kill_at_, give_up_at_});
  for (const Node& node : nodes_) {
    if (node.lost_at) next = std::min(next, *node.lost_at);
    for (const Stream& stream : node.streams)
      if (!stream.partial.empty()) next = std::min(next, stream.partial_since + idle_line);
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 1 << 30));
}

void Coordinator::handle_deadlines() {
  const Clock::time_point now = Clock::now();
  for (Node& node : nodes_) {
    if (node.lost_at && now >= *node.lost_at) tell_of_lost(node);
    for (Stream& stream : node.streams)
      if (!stream.partial.empty() && now >= stream.partial_since + idle_line) flush_partial(stream);
  }
  if (now >= next_beat_) {
    next_beat_ = now + between_beats;
    for (Node& node : nodes_) node.link.send(Frame(FrameKind::beat));
  }
  if (now >= come_by_) {
    const auto absent = std::ranges::find(nodes_, false, &Node::has_come);
    give_up("the mpiexec on " + absent->host + " has not connected within " +
                std::to_string(std::chrono::seconds(time_to_come).count()) +
                " s. Check that it can connect to this machine over TCP",
            1);
  }
  if (now >= time_over_at_) time_over();
  if (now >= kill_at_) kill_shells();
}

// ---- Frames of nodes

void Coordinator::serve(Node& node) {
  if (!node.link.is_open()) return;
  node.link.flush();
  node.link.read();
  while (const std::optional<Frame> frame = node.link.next()) take(node, *frame);
  if (!node.link.is_open()) node_is_gone(node);
}

void Coordinator::take(Node& node, const Frame& frame) {
  Fields fields(frame);
  switch (frame.kind()) {
    case FrameKind::contribute:
    case FrameKind::revoke:
    case FrameKind::leave:
      decisions_.hear(frame);
      break;
    case FrameKind::failed:
      if (const int rank = fields.index(); is_of(node, rank)) decisions_.lose(rank);
      break;
    case FrameKind::agree:
      take_agreement(frame);
      break;
    case FrameKind::card: {
      (void)fields.index();
      if (initialized_ < 0) initialized_ = fields.index();
      for (Node& other : nodes_)
        if (&other != &node) other.link.send(frame);
      look_for_missing_ranks();
      break;
    }
    case FrameKind::missing:
      if (const int rank = fields.index(); is_of(node, rank)) missing_.insert(rank);
      look_for_missing_ranks();
      break;
    case FrameKind::end:
      if (const int code = fields.index(); fields.complete()) end_job(code);
      break;
    case FrameKind::finished:
      node.has_finished = true;
      node.exit_code = fields.index();
      node.ended_well = fields.index() != 0;
      node.link.end_sending();
      break;
    default:
      break;
  }
}

// The first proposal stands.
void Coordinator::take_agreement(const Frame& frame) {
  Fields fields(frame);
  const std::uint32_t word = fields.number();
  const std::uint64_t proposal = fields.long_number();
  if (!fields.complete() || word >= agreed_.size() || proposal == 0) return;
  if (agreed_[word] == 0) agreed_[word] = proposal;
  for (Node& node : nodes_) node.link.send(Frame(FrameKind::agreed).add(word).add(agreed_[word]).add(0));
}

// A rank that has ended without ever initializing MPI, in a job where others have: they would wait for it for ever.
void Coordinator::look_for_missing_ranks() {
  if (initialized_ < 0 || is_ending_) return;
  for (const int rank : missing_) {
    if (gone_.contains(rank)) continue;
    say("rank " + std::to_string(rank) + " exited without calling MPI_Init, but rank " + std::to_string(initialized_) +
        " has called it; the job goes on with " + count_text(living() - 1, "rank"));
    decisions_.lose(rank);
  }
}

void Coordinator::tell(const Frame& news) {
  if (news.kind() == FrameKind::failed) gone_.insert(Fields(news).index());
  for (Node& node : nodes_) node.link.send(news);
}

// The rest of it ends now: its mpiexec has, or loses the connection as we do.
void Coordinator::node_is_gone(Node& node) {
  if (node.has_finished || is_ending_) return;
  if (!has_begun_)  // the placement has not been sent to the others yet
    return give_up("the mpiexec on " + node.host + " has ended before the job began", 1);
  node.is_lost = true;
  node.lost_at = Clock::now() + (node.link.timed_out() ? time_to_end_ranks : 0ms);
  if (node.shell > 0) kill(-node.shell, SIGKILL);
}

void Coordinator::tell_of_lost(Node& node) {
  node.lost_at.reset();
  kill_orphans();
  std::vector<int> ranks;
  for (int rank = node.first; rank < node.first + node.ranks; ++rank)
    if (!gone_.contains(rank)) ranks.push_back(rank);
  const int left = living() - static_cast<int>(ranks.size());
  const bool is_last = std::ranges::none_of(nodes_, [this](const Node& other) { return owes(other); });
  say("node " + node.host + " with " + ranks_of(node.first, node.ranks) + " is lost (" +
      (node.link.timed_out() ? "its connection is dead" : "its mpiexec has ended") + ')' +
      (is_last ? "" : "; the job goes on with " + count_text(left, "rank")));
  for (const int rank : ranks) decisions_.lose(rank);
}

int Coordinator::living() const { return nodes_.back().first + nodes_.back().ranks - static_cast<int>(gone_.size()); }

}  // namespace heddle::mpiexec
