#include "launch/boot/launched/member.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>

#include "launch/boot/join.hpp"
#include "launch/boot/launched/quit_signal.hpp"
#include "launch/boot/launched/thread.hpp"

namespace heddle::boot {
namespace {

// Milliseconds. Ranks of an agent's own node know best why it is gone.
constexpr int patience = 300;
constexpr std::uint32_t longest_time_to_end = 2'000;

}  // namespace

Member::Member(Connection link, JobHeader& header, int rank, int agent, Ending& ending)
    : header_(header),
      rank_(rank),
      agent_(agent),
      ending_(ending),
      socket_(fcntl(link.fd(), F_DUPFD_CLOEXEC, 0)),
      quit_(note_quit_signal()),
      link_(std::move(link)) {}

void Member::start() {
  start_thread([this] { run(); });
}

bool Member::send(const Frame& frame) {
  const std::lock_guard guard(mutex_);
  link_.send(frame);
  return link_.is_open();
}

void Member::shut() {
  shut_.store(true);
  (void)shutdown(socket_.get(), SHUT_RDWR);
}

bool Member::agree(int word, std::uint64_t proposal, std::uint64_t& value, int milliseconds) {
  const std::chrono::milliseconds limit(milliseconds);
  std::unique_lock lock(mutex_);
  if (!answered_.wait_for(lock, limit, [&] { return !asked_; })) return false;
  // An agent that has gone may have sent the end of the job, and our thread may not have read it yet.
  if (!link_.is_open()) take_all();
  if (!link_.is_open()) return false;
  const std::uint64_t before = answers_;
  asked_ = word;
  link_.send(Frame(FrameKind::agree).add(word).add(proposal).add(rank_));
  const bool answered = answered_.wait_for(lock, limit, [&] { return answers_ != before; });
  if (answered) value = value_;
  asked_.reset();
  answered_.notify_all();
  return answered;
}

void Member::run() {
  for (bool open = true; open;) {
    std::unique_lock lock(mutex_);
    link_.read();
    take_all();
    open = link_.is_open();
    pollfd waiting[] = {{.fd = link_.fd(), .events = POLLIN, .revents = 0},
                        {.fd = quit_, .events = POLLIN, .revents = 0}};
    lock.unlock();
    if (open) (void)poll(waiting, std::size(waiting), -1);
    if (took_quit_signal(quit_)) (void)send(Frame(FrameKind::report).add("got SIGQUIT, and goes on"));
  }
  agent_is_gone();
}

void Member::take_all() {
  while (const std::optional<Frame> frame = link_.next()) take(*frame);
}

void Member::take(const Frame& frame) {
  Fields fields(frame);
  if (frame.kind() == FrameKind::agreed) {
    if (fields.index() != asked_) return;  // it comes after the request has timed out
    value_ = fields.long_number();
    ++answers_;
    answered_.notify_all();
  } else if (frame.kind() == FrameKind::end) {
    // The rank that ends the job has reported the reason, and asked the launcher.
    const int code = fields.index();
    usleep(std::min(fields.number(), longest_time_to_end) * 1000);
    _exit(exit_code(code));
  }
}

void Member::agent_is_gone() {
  const RankState state = rank_records(&header_)[agent_].state.load();
  if (state == RankState::finalized || shut_.load()) return;
  char text[200];
  std::snprintf(text, sizeof text, "rank %d (process %d) has ended without MPI_Finalize; the job ends",
                header_.renumbered != 0 ? launcher_ranks(&header_)[agent_] : agent_,
                rank_records(&header_)[agent_].pid.load());
  usleep(patience * 1000);
  ending_.say(text);
  ending_.end(1, Ending::time_of_launcher);
}

}  // namespace heddle::boot
