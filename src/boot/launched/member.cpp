#include "boot/launched/member.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "boot/join.hpp"
#include "boot/launched/thread.hpp"

namespace heddle::boot {
namespace {

// Milliseconds. The agent of a node with no trouble of its own is the first to speak; after a while anybody may.
constexpr int patience_beside_agent = 700;
constexpr int patience_of_others = 1'500;
constexpr int time_to_be_ended = 1'000;

}  // namespace

Member::Member(Connection link, JobHeader& header, int rank, int agent, Ending& ending)
    : header_(header), rank_(rank), agent_(agent), ending_(ending), link_(std::move(link)) {}

void Member::start() {
  start_thread([this] { run(); });
}

bool Member::send(const Frame& frame) {
  const std::lock_guard guard(mutex_);
  link_.send(frame);
  return link_.is_open();
}

bool Member::agree(int word, std::uint64_t proposal, std::uint64_t& value) {
  const std::lock_guard turn(asking_);
  std::unique_lock lock(mutex_);
  if (!link_.is_open()) return false;
  const std::uint64_t before = answers_;
  link_.send(Frame(FrameKind::agree).add(word).add(proposal).add(rank_));
  if (!answered_.wait_for(lock, std::chrono::seconds(agree_limit), [&] { return answers_ != before; })) return false;
  value = value_;
  return true;
}

void Member::run() {
  while (true) {
    pollfd waiting{.fd = link_.fd(), .events = POLLIN, .revents = 0};
    if (poll(&waiting, 1, -1) <= 0) continue;
    std::unique_lock lock(mutex_);
    link_.read();
    while (const std::optional<Frame> frame = link_.next()) take(*frame);
    if (link_.is_open()) continue;
    lock.unlock();
    agent_is_gone();
    return;
  }
}

void Member::take(const Frame& frame) {
  Fields fields(frame);
  if (frame.kind() == FrameKind::agreed) {
    fields.number();
    value_ = fields.long_number();
    ++answers_;
    answered_.notify_all();
  } else if (frame.kind() == FrameKind::end) {
    // Whoever ends the job has said why, and asked the launcher.
    usleep(time_to_be_ended * 1000);
    _exit(exit_code(fields.index()));
  }
}

void Member::agent_is_gone() {
  const RankState state = rank_records(&header_)[agent_].state.load();
  if (state == RankState::finalized) return;
  char text[200];
  std::snprintf(text, sizeof text, "rank %d (process %d) has ended without MPI_Finalize; the job ends", agent_,
                rank_records(&header_)[agent_].pid.load());
  ending_.lost(text, header_.nodes == 1 ? patience_beside_agent + 50 * rank_ : patience_of_others);
}

}  // namespace heddle::boot
