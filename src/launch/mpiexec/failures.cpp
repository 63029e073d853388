#include "launch/mpiexec/failures.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>
#include <system_error>

#include "base/node/node.hpp"

namespace heddle::mpiexec {
namespace {

// A part of the segment.
std::byte* map(const Segment& segment, std::size_t at, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t before = at % page;
  void* const base =
      mmap(nullptr, before + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, segment.fd, static_cast<off_t>(at - before));
  if (base == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "cannot map the ranks' doorbells");
  return static_cast<std::byte*>(base) + before;
}

std::vector<node::Doorbell*> all_bells(const Segment& segment) {
  const boot::JobHeader& job = *segment.header;
  std::vector<node::Doorbell*> bells;
  for (int node = job.first_node; node < job.first_node + boot::nodes_here(job); ++node) {
    const std::size_t at = job.heap_offset + static_cast<std::size_t>(node - job.first_node) * job.heap_bytes +
                           node::offset_of_bells(job.heap_bytes);
    auto* const of_node =
        reinterpret_cast<node::Bell*>(map(segment, at, static_cast<std::size_t>(job.capacity) * sizeof(node::Bell)));
    const std::int32_t* const first = boot::first_ranks(segment.header) + node;
    for (int rank = first[0]; rank < first[1]; ++rank) bells.push_back(&of_node[rank].doorbell);
  }
  return bells;
}

boot::DecidedComms* decided_comms(const Segment& segment) {
  const boot::JobHeader& job = *segment.header;
  if (job.nodes == 1) return nullptr;
  const std::size_t at = job.heap_offset + static_cast<std::size_t>(boot::nodes_here(job)) * job.heap_bytes;
  return reinterpret_cast<boot::DecidedComms*>(map(segment, at, sizeof(boot::DecidedComms)));
}

}  // namespace

Failures::Failures(const Segment& segment, CoordinatorLink* coordinator)
    : segment_(segment),
      coordinator_(coordinator),
      news_(*segment.header, decided_comms(segment), all_bells(segment)),
      decisions_([this](const boot::Frame& news) { news_.take(news); }) {
  boot::failure_log(segment.header).asked = 1;
  if (coordinator != nullptr) coordinator->use(segment, news_);
}

int Failures::told() const {
  return static_cast<int>(boot::failure_log(segment_.header).failures.load(std::memory_order_relaxed));
}

// The rank's own children go with it; they must not write on in its name.
void Failures::lost(int rank, pid_t started, bool reaped) {
  kill(-started, SIGKILL);
  const pid_t joined = segment_.records[rank].pid.load();
  if (joined > 0 && joined != started) kill(joined, SIGKILL);
  const pid_t left = reaped ? 0 : started;
  dying_.push_back({rank, joined != started ? joined : left});
}

bool Failures::tell() {
  std::erase_if(dying_, [this](const Dying& one) {
    if (one.process > 0 && (kill(one.process, 0) == 0 || errno != ESRCH)) return false;
    const int rank = segment_.first_here + one.rank;
    if (coordinator_ != nullptr)
      coordinator_->send(boot::Frame(boot::FrameKind::failed).add(rank));
    else
      decisions_.lose(rank);
    return true;
  });
  return !dying_.empty();
}

// One frame; a malformed one, or a part of one whose rank has died, is dropped.
std::string Failures::answer(const std::string& request) {
  std::string bytes = request;
  bool broken = false;
  const std::optional<boot::Frame> proposal = boot::Frame::take(bytes, boot::Frame::longest, broken);
  if (!proposal) return "heard";
  if (coordinator_ == nullptr)
    decisions_.hear(*proposal);
  else if (proposal->kind() == boot::FrameKind::published)
    coordinator_->send_card(boot::Fields(*proposal).index());
  else
    coordinator_->send(*proposal);
  return "heard";
}

}  // namespace heddle::mpiexec
