#include "launch/mpiexec/supervisor.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "launch/boot/standstill/thread_report.hpp"
#include "launch/mpiexec/children.hpp"
#include "launch/mpiexec/exit_report.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/relay.hpp"

namespace heddle::mpiexec {
namespace {

using namespace std::chrono_literals;

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr int forwarded_signals[] = {SIGUSR1, SIGUSR2, SIGWINCH, SIGALRM};

bool is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Supervisor::Supervisor(const Options& options, const Segment& segment, CoordinatorLink* coordinator)
    : options_(options),
      segment_(segment),
      children_(static_cast<std::size_t>(segment.ranks)),
      streams_(children_.size() * 2),
      out_(STDOUT_FILENO),
      err_own_(STDERR_FILENO),
      err_(options.merge_stderr || err_own_.same_file_as(out_) ? out_ : err_own_),
      files_(options.files, segment.first_rank, segment.ranks,
             std::max(segment.header->size, segment.first_rank + segment.ranks)),
      input_(options.stdin_rank),
      coordinator_(coordinator) {
  sigset_t watched;
  sigemptyset(&watched);
  for (int signal : {SIGCHLD, SIGTSTP, SIGCONT, SIGQUIT, boot::abort_signal()}) sigaddset(&watched, signal);
  // Signals ignored when we started (nohup, a script's background job) stay ignored, for us and the ranks.
  for (int signal : ending_signals) {
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  }
  for (int signal : forwarded_signals) {
    if (!is_ignored(signal)) sigaddset(&watched, signal);
  }
  sigprocmask(SIG_BLOCK, &watched, &rank_mask_);
  signals_ = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals_ < 0) throw std::system_error(errno, std::generic_category(), "signalfd");

  sigemptyset(&rank_defaults_);
  for (int signal : {SIGPIPE, SIGTTIN, SIGXFSZ}) {
    if (is_ignored(signal)) continue;
    sigaddset(&rank_defaults_, signal);
    ::signal(signal, SIG_IGN);  // we notice by errors instead
  }
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (options.survive_failures) failures_.emplace(segment, coordinator);
  if (failures_ && segment.header->nodes > 1) listener_.emplace(*segment.header, *failures_);
  if (options.timeout_seconds > 0) {
    time_over_at_ = Clock::now() + std::chrono::milliseconds(static_cast<long>(options.timeout_seconds * 1000));
  }
}

Supervisor::Ends Supervisor::make_ends(int rank) {
  int ends[2][2];
  for (int i = 0; i < 2; ++i) {
    if (pipe2(ends[i], O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    Stream& stream = streams_[2 * static_cast<std::size_t>(rank) + static_cast<std::size_t>(i)];
    stream.fd = ends[i][0];
    fcntl(stream.fd, F_SETFL, O_NONBLOCK);
    Sink* file = files_.of(rank, i == 1);
    stream.sink = i == 0 ? &out_ : &err_;
    if (file != nullptr) (options_.files.copy ? stream.second : stream.sink) = file;
    stream.prefix = label_text(options_.label, segment_.first_rank + rank, i == 1);
  }
  return {rank < segment_.ranks ? input_.descriptor_for(rank) : null_, ends[0][1], ends[1][1]};
}

void Supervisor::expect(int ranks) {
  if (null_ < 0) null_ = open("/dev/null", O_RDONLY | O_CLOEXEC);  // the input of all that are spawned
  children_.resize(children_.size() + static_cast<std::size_t>(ranks));
  streams_.resize(2 * children_.size());
}

void Supervisor::listen(Answerer& answerer) {
  try {
    listener_.emplace(*segment_.header, answerer);
  } catch (const std::system_error& error) {
    if (options_.verbose) say(error.what());
  }
}

void Supervisor::withdraw(int rank) {
  Child& child = children_[static_cast<std::size_t>(rank)];
  if (!child.alive) return;
  child.withdrawn = true;
  if (child.pid > 0)
    kill(-child.pid, SIGKILL);
  else
    child.alive = false;
}

void Supervisor::started(int rank, pid_t pid, const std::string& program, const Ends& ends) {
  children_[static_cast<std::size_t>(rank)] = {pid, true, false, false, program};
  close(ends.out);
  close(ends.err);
  if (options_.verbose) say("started " + who(rank));
}

void Supervisor::start_failed(const std::string& sentence, int exit_code) {
  decided_ = true;
  exit_code_ = exit_code;
  say(sentence);
  end_job(SIGTERM, 0ms);
}

int Supervisor::run() {
  input_.close_ranks_ends();
  reap();
  look_for_foreign_mpi();
  while (!finished()) {
    wait_for_something();
    handle_deadlines();
    drain_outputs();
    if (living() == 0 && !no_children_ && phase_ == Phase::running) end_job();
    if (no_children_) close_orphaned_streams();
  }
  if (!no_children_) {
    for (pid_t pid : own_children()) say("process " + std::to_string(pid) + " of the job cannot be ended");
  }
  const int code = !decided_ && !ended_well_ ? lost_code_ : exit_code_;  // a job without survivors has failed
  if (coordinator_ != nullptr) coordinator_->finish(code, ended_well_);
  return code;
}

bool Supervisor::finished() const {
  if (Clock::now() >= give_up_at_) return true;
  const bool closed = std::all_of(streams_.begin(), streams_.end(), [](const Stream& s) { return s.fd < 0; });
  return no_children_ && closed && !out_.waiting() && !err_.waiting() && !files_.waiting();
}

void Supervisor::wait_for_something() {
  std::vector<pollfd> wanted{{signals_, POLLIN, 0}};
  const int terminal = input_.terminal();
  const int rest = input_.pipe_for_rest();
  if (terminal >= 0) wanted.push_back({terminal, POLLIN, 0});
  if (rest >= 0) wanted.push_back({rest, POLLOUT, 0});
  if (out_.waiting()) wanted.push_back({out_.fd(), POLLOUT, 0});
  if (&err_ != &out_ && err_.waiting()) wanted.push_back({err_.fd(), POLLOUT, 0});
  if (coordinator_ != nullptr) coordinator_->add_to(wanted);
  const std::size_t first_request = wanted.size();
  if (listener_) listener_->add_to(wanted);
  const std::size_t first_stream = wanted.size();
  std::vector<Stream*> polled;
  for (Stream& stream : streams_) {
    if (stream.fd < 0 || is_full(stream)) continue;
    wanted.push_back({stream.fd, POLLIN, 0});
    polled.push_back(&stream);
  }
  if (poll(wanted.data(), wanted.size(), milliseconds_to_next_deadline()) <= 0) return;

  // Output before signals: a rank's output before its death comes before the report of its death.
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (wanted[first_stream + i].revents != 0) read_stream(*polled[i]);
  }
  for (std::size_t i = 1; i < first_request; ++i) {
    if (wanted[i].revents == 0) continue;
    if (wanted[i].fd == terminal)
      input_.read_terminal();
    else if (wanted[i].fd == rest)
      input_.write_rest();
  }
  if (wanted[0].revents != 0) read_signals();
  if (listener_) listener_->serve(&wanted[first_request]);  // may add streams, so `polled` is no more
  if (coordinator_ == nullptr) return;
  for (const Order& order : coordinator_->serve()) obey(order);
}

int Supervisor::milliseconds_to_next_deadline() const {
  Clock::time_point next =
      std::min({kill_at_, give_up_at_, time_over_at_, check_again_at_, tell_at_, look_for_foreign_at_});
  for (const Stream& stream : streams_) {
    if (!stream.partial.empty()) next = std::min(next, stream.partial_since + idle_line);
  }
  if (input_.waits_for_terminal()) next = std::min(next, Clock::now() + terminal_retry);
  if (files_.waiting()) next = std::min(next, Clock::now() + file_retry);
  if (coordinator_ != nullptr) next = std::min(next, coordinator_->next_beat());
  if (next == Clock::time_point::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, 1 << 30));
}

void Supervisor::handle_deadlines() {
  const Clock::time_point now = Clock::now();
  flush_idle_partials();
  if (now >= time_over_at_) time_over();
  if (now >= check_again_at_) look_for_missing_ranks();
  if (now >= tell_at_) tell_of_failures();
  if (now >= look_for_foreign_at_) look_for_foreign_mpi();
  if (now >= kill_at_) kill_job();
  if (coordinator_ != nullptr) coordinator_->beat();
}

void Supervisor::read_signals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info) handle_signal(static_cast<int>(info.ssi_signo));
}

void Supervisor::handle_signal(int signal) {
  if (signal == SIGCHLD) {
    reap();
  } else if (signal == boot::abort_signal()) {
    look_at_records();
  } else if (signal == SIGTSTP) {
    suspend();
  } else if (signal == SIGQUIT && relay_ != nullptr && relay_->all_initialized()) {
    signal_job(SIGQUIT);  // the ranks of each node report
  } else if (signal == SIGQUIT) {
    say("got SIGQUIT, and goes on; " + ranks_text(living()) + ':' + where_threads_are());
  } else if (std::count(std::begin(ending_signals), std::end(ending_signals), signal) != 0) {
    interrupt(signal);
  } else {
    signal_job(signal);
  }
}

void Supervisor::interrupt(int signal) {
  if (phase_ != Phase::running) {
    kill_job();
    return;
  }
  const bool from_terminal = signal == SIGINT;
  if (coordinator_ == nullptr)  // it has printed that
    say(std::string("got SIG") + sigabbrev_np(signal) + (from_terminal ? " (Ctrl-C)" : "") + ", ending " +
        ranks_text(living()) + (from_terminal ? "; once more kills them at once" + where_threads_are() : ""));
  decided_ = true;
  exit_code_ = 128 + signal;
  end_job(signal, interrupt_grace);
}

void Supervisor::obey(const Order& order) {
  switch (order.kind) {
    case Order::Kind::signal:
      return handle_signal(order.number);
    case Order::Kind::end:
      if (!std::exchange(decided_, true)) exit_code_ = order.number;
      if (phase_ == Phase::running) end_job();
      return;
    case Order::Kind::cut_off:
      if (living() != 0)
        say("lost the connection to the mpiexec that has started the job; ending " + ranks_text(living()));
      if (!std::exchange(decided_, true)) exit_code_ = 1;
      end_job(SIGKILL, 0ms);
  }
}

// Ctrl-Z: the ranks stop, then we do; SIGCONT reaches us like any other signal and is passed on.
void Supervisor::suspend() {
  signal_job(SIGTSTP);
  raise(SIGSTOP);
}

void Supervisor::time_over() {
  time_over_at_ = Clock::time_point::max();
  if (phase_ != Phase::running) return;
  decided_ = true;
  exit_code_ = exit_code_of_timeout;
  say("the job has not ended in time (--timeout); ending " + ranks_text(living()) + where_threads_are());
  end_job();
}

void Supervisor::end_job() { end_job(SIGTERM, end_grace); }

void Supervisor::end_job(int signal, std::chrono::milliseconds grace) {
  phase_ = Phase::ending;
  if (coordinator_ != nullptr && decided_) coordinator_->say_end(exit_code_);
  time_over_at_ = Clock::time_point::max();
  kill_at_ = Clock::now() + grace;
  give_up_at_ = kill_at_ + last_wait;
  signal_job(signal);
  signal_job(SIGCONT);  // a stopped process would not notice
}

void Supervisor::kill_job() {
  if (phase_ != Phase::killing) give_up_at_ = std::min(give_up_at_, Clock::now() + last_wait);
  phase_ = Phase::killing;
  kill_at_ = no_children_ ? Clock::time_point::max() : Clock::now() + sweep_every;
  signal_job(SIGKILL);
}

void Supervisor::signal_job(int signal) {
  pid_t last = 0;
  for (const Child& child : children_) {
    if (child.alive && child.pid != last) kill(-(last = child.pid), signal);
  }
  // The group of a rank that is gone is only safe to signal while a member is our child: then its number is taken.
  if (no_children_) return;
  for (pid_t pid : own_children()) {
    if (rank_of(pid) >= 0) continue;
    const pid_t group = getpgid(pid);
    kill(group > 0 && group != getpgrp() ? -group : pid, signal);
  }
}

int Supervisor::rank_of(pid_t pid) const {
  const auto found = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& child) { return child.alive && child.pid == pid; });
  return found != children_.end() ? static_cast<int>(found - children_.begin()) : -1;
}

int Supervisor::living() const {
  return static_cast<int>(std::count_if(children_.begin(), children_.end(), [](const Child& c) { return c.alive; }));
}

std::string Supervisor::where_threads_are() const {
  boot::RanksView view;
  view.header = segment_.header;
  view.records = segment_.records;
  view.first = segment_.first_here;
  for (const Child& child : children_) view.processes.push_back(child.alive ? child.pid : 0);
  view.number = [this](int rank) { return segment_.first_rank + rank; };
  view.read = [this](std::uint64_t offset, void* to, std::size_t bytes) {
    const auto at = static_cast<off_t>(segment_.header->heap_offset + offset);
    return pread(segment_.fd, to, bytes, at) == static_cast<ssize_t>(bytes);
  };
  view.names_host = coordinator_ != nullptr || relay_ != nullptr;
  return boot::where_threads_are(view);
}

void Supervisor::read_rank(int rank) {
  for (std::size_t i : {2 * static_cast<std::size_t>(rank), 2 * static_cast<std::size_t>(rank) + 1}) {
    if (streams_[i].fd < 0) continue;
    read_stream(streams_[i]);
    flush_partial(streams_[i]);
  }
}

void Supervisor::drain_outputs() {
  for (Sink* sink : {&out_, &err_}) {
    sink->drain();
    if (sink->broken()) output_lost(sink == &out_ ? "standard output" : "standard error", sink->error());
  }
  int error = 0;
  if (const std::string* path = files_.drain(error)) output_lost("the file " + *path, error);
}

// Output of ranks would be lost without a message, so the job fails, as a program does whose reader is gone.
void Supervisor::output_lost(const std::string& where, int error) {
  if (!output_lost_) {
    output_lost_ = true;
    const bool unread = error == EPIPE;
    if (exit_code_ == 0) exit_code_ = unread ? 128 + SIGPIPE : exit_code_of_lost_output;
    const std::string cure = error == ENOSPC || error == EDQUOT ? " (free some space, or write elsewhere)"
                             : error == EFBIG                   ? " (a limit on file size, ulimit -f?)"
                                                                : "";
    if (!decided_)
      say("cannot write to " + where + ": " + (unread ? "its reader is gone" : strerror(error)) + cure +
          (living() != 0 ? "; ending " + ranks_text(living()) : ""));
    decided_ = true;
  }
  if (phase_ == Phase::running && living() != 0) end_job();
}

void Supervisor::flush_idle_partials() {
  const Clock::time_point now = Clock::now();
  for (Stream& stream : streams_) {
    if (!stream.partial.empty() && now >= stream.partial_since + idle_line) flush_partial(stream);
  }
}

// When nothing of the job is left, the rest in its pipes is the end of its output, even if another process still holds
// one of their descriptors.
void Supervisor::close_orphaned_streams() {
  for (Stream& stream : streams_) {
    if (stream.fd < 0 || !read_stream(stream) || is_full(stream)) continue;
    flush_partial(stream);
    close(stream.fd);
    stream.fd = -1;
  }
}

void Supervisor::say(const std::string& sentence) {
  print("mpiexec: " + sentence);
  err_.drain();
}

void Supervisor::print(std::string text) {
  if (text.back() != '\n') text += '\n';
  err_.add(mpiexec_itself, "", text.data(), text.size());
}

std::string Supervisor::ranks_text(int n) { return std::to_string(n) + (n == 1 ? " rank" : " ranks"); }

std::string Supervisor::who(int rank) const {
  const Child& child = children_[static_cast<std::size_t>(rank)];
  const int joined = segment_.records[rank].pid.load();
  return rank_text(segment_, rank) + " (pid " + std::to_string(joined > 0 ? joined : child.pid) + ", " + child.program +
         ')';
}

// "the process of ranks 0 to 3 (pid 4711, ./app)" if several ranks are threads of this rank's process; else nothing.
std::string Supervisor::shared_process(int rank) const {
  const Child& child = children_[static_cast<std::size_t>(rank)];
  const auto same = [&](const Child& other) { return other.pid == child.pid; };
  const auto first = std::find_if(children_.begin(), children_.end(), same);
  const auto end = std::find_if_not(first, children_.end(), same);
  if (end - first == 1) return "";
  const auto number = [&](auto child) { return std::to_string(segment_.first_rank + (child - children_.begin())); };
  return "the process of ranks " + number(first) + " to " + number(end - 1) + " (pid " + std::to_string(child.pid) +
         ", " + child.program + ')';
}

std::string Supervisor::ending_others(int rank) const {
  int others = died_along_ + living() - (children_[static_cast<std::size_t>(rank)].alive ? 1 : 0);
  if (coordinator_ != nullptr) others = segment_.header->size - failures_->told() - 1;
  if (others == 0) return "";
  return "; ending the other " + (others == 1 ? std::string("rank") : ranks_text(others));
}

}  // namespace heddle::mpiexec
