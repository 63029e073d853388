// The end of a job on several nodes, and its input and output.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "launch/mpiexec/children.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/nodes/coordinator.hpp"

namespace heddle::mpiexec {

using boot::Frame;
using boot::FrameKind;

namespace {

bool is_ending_signal(int signal) { return signal == SIGINT || signal == SIGTERM || signal == SIGHUP; }

}  // namespace

// ---- Signals and ends

void Coordinator::read_signals() {
  signalfd_siginfo info;
  while (read(signals_, &info, sizeof info) == sizeof info) {
    const auto signal = static_cast<int>(info.ssi_signo);
    if (signal == SIGCHLD)
      reap();
    else if (is_ending_signal(signal))
      interrupt(signal);
    else
      for (Node& node : nodes_) node.link.send(Frame(FrameKind::signal).add(signal));
  }
}

void Coordinator::reap() {
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    const auto found = std::ranges::find(nodes_, pid, &Node::shell);
    if (found == nodes_.end()) continue;
    Node& node = *found;
    node.shell = -1;
    for (Stream& stream : node.streams)
      if (stream.fd >= 0) (void)read_stream(stream);
    if (node.has_come || is_ending_) continue;
    give_up("no mpiexec has connected from " + node.host + ": the command that starts it there has ended" +
                (WIFEXITED(status) ? " with exit code " + std::to_string(WEXITSTATUS(status)) : " by a signal") + " (" +
                node.words.front() + "); does `" + node.words.front() + ' ' + node.host + " true` work?",
            1);
  }
  no_children_ = pid < 0 && errno == ECHILD;
  kill_orphans();
}

// Its mpiexec, which has ended, was to end them.
void Coordinator::kill_orphans() {
  for (const pid_t pid : own_children())
    if (std::ranges::find(nodes_, pid, &Node::shell) == nodes_.end()) kill(pid, SIGKILL);
}

void Coordinator::interrupt(int signal) {
  if (is_ending_) return kill_shells();
  const bool from_terminal = signal == SIGINT;
  say(std::string("got SIG") + sigabbrev_np(signal) + (from_terminal ? " (Ctrl-C)" : "") + ", ending the job" +
      (from_terminal ? "; once more kills it at once" : ""));
  for (Node& node : nodes_) node.link.send(Frame(FrameKind::signal).add(signal));
  is_ending_ = true;
  decided_ = 128 + signal;
  kill_at_ = Clock::now() + time_to_end;
}

void Coordinator::time_over() {
  time_over_at_ = Clock::time_point::max();
  if (is_ending_) return;
  say("the job has not ended in time (--timeout); ending it");
  for (Node& node : nodes_) node.link.send(Frame(FrameKind::signal).add(SIGQUIT));  // it says where its threads are
  end_job(exit_code_of_timeout);
}

void Coordinator::end_job(int exit_code) {
  if (is_ending_) return;
  is_ending_ = true;
  decided_ = exit_code;
  kill_at_ = Clock::now() + time_to_end;
  for (Node& node : nodes_) node.link.send(Frame(FrameKind::end).add(exit_code).add(0));
}

void Coordinator::give_up(const std::string& sentence, int exit_code) {
  come_by_ = Clock::time_point::max();
  if (is_ending_) return;
  say(sentence);
  end_job(exit_code);
  // Nodes that have not connected can't be told.
  for (Node& node : nodes_)
    if (!node.has_come && node.shell > 0) kill(-node.shell, SIGKILL);
}

// The connections close with that, and a node that loses its own ends its ranks.
void Coordinator::kill_shells() {
  kill_at_ = Clock::time_point::max();
  give_up_at_ = Clock::now() + last_wait_of_nodes;
  for (Node& node : nodes_) {
    node.link.close();
    node.lost_at.reset();
    if (node.shell > 0) kill(-node.shell, SIGKILL);
  }
}

// As for a job on one node: among ranks that ended well the first code that is not success; a job without survivors has
// failed.
int Coordinator::exit_code() const {
  if (decided_) return *decided_;
  const auto failed_well =
      std::ranges::find_if(nodes_, [](const Node& node) { return node.ended_well && node.exit_code != 0; });
  if (failed_well != nodes_.end()) return failed_well->exit_code;
  if (std::ranges::any_of(nodes_, &Node::ended_well)) return 0;
  const auto failed = std::ranges::find_if(nodes_, [](const Node& node) { return node.exit_code != 0; });
  return failed != nodes_.end() ? failed->exit_code : 1;
}

// ---- Input and output

void Coordinator::pass_on_input(Node& node) {
  while (node.input >= 0 && !node.unsent.empty()) {
    const ssize_t n = write(node.input, node.unsent.data(), node.unsent.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return;
    if (n < 0) {  // it reads no more
      close(std::exchange(node.input, -1));
      node.unsent.clear();
      return;
    }
    node.unsent.erase(0, static_cast<std::size_t>(n));
  }
  if (&node != reader_ && node.input >= 0) close(std::exchange(node.input, -1));
}

bool Coordinator::wants_input() const {
  if (reader_ == nullptr || reader_->input < 0 || reader_->unsent.size() >= input_kept || !has_begun_) return false;
  return isatty(STDIN_FILENO) == 0 || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

void Coordinator::read_input() {
  pollfd readable{STDIN_FILENO, POLLIN, 0};
  if (poll(&readable, 1, 0) <= 0) return;
  char buffer[16 * 1024];
  const ssize_t n = read(STDIN_FILENO, buffer, sizeof buffer);
  if (n < 0) return;
  if (n > 0) {
    reader_->unsent.append(buffer, static_cast<std::size_t>(n));
    return pass_on_input(*reader_);
  }
  Node& node = *std::exchange(reader_, nullptr);  // its input closes when it has taken the rest
  pass_on_input(node);
}

// Output of ranks would be lost without a message, so the job fails.
void Coordinator::drain_outputs() {
  for (Sink* sink : {&out_, &err_}) {
    sink->drain();
    if (!sink->broken() || is_ending_) continue;
    const bool unread = sink->error() == EPIPE;
    say(std::string("cannot write to ") + (sink == &out_ ? "standard output" : "standard error") + ": " +
        (unread ? "its reader is gone" : strerror(sink->error())) + "; ending the job");
    end_job(unread ? 128 + SIGPIPE : 1);
  }
}

// A child of a remote shell may keep its output open (a connection that it shares with later ones).
void Coordinator::close_orphaned_streams() {
  for (Node& node : nodes_)
    for (Stream& stream : node.streams) {
      if (stream.fd < 0 || !read_stream(stream) || is_full(stream)) continue;
      flush_partial(stream);
      close(std::exchange(stream.fd, -1));
    }
}

void Coordinator::say(const std::string& sentence) {
  const std::string text = "mpiexec: " + sentence + '\n';
  err_.add(mpiexec_itself, "", text.data(), text.size());
  err_.drain();
}

}  // namespace heddle::mpiexec
