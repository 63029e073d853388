#include "launch/boot/launched/node_segment.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#include "base/node/room.hpp"
#include "launch/boot/cores.hpp"
#include "launch/boot/job.hpp"
#include "launch/boot/random_number.hpp"
#include "launch/boot/wake_up.hpp"

namespace heddle::boot {
namespace {

constexpr std::int64_t segment_limit = 150'000;  // milliseconds: longer than an agent waits for the other nodes
// Bytes for each rank of other nodes (doorbells, lists of channels).
constexpr std::size_t bytes_for_rank = std::size_t{64} << 10;

// The file keeps its owner; the memory has a descriptor of its own.
Result<Segment> map(const Descriptor& file, std::size_t bytes) {
  const int own = fcntl(file.get(), F_DUPFD_CLOEXEC, 0);
  if (own >= 0)
    if (auto memory = platform::SparseMemory::make(bytes, own, {})) return memory;
  return refuse("cannot map the job's segment of %zu MiB: %s (a limit on address space, ulimit -v?)", bytes >> 20,
                std::strerror(errno));
}

// The part before the memory of the node.
Result<void> reach_records(platform::SparseMemory& memory, std::size_t before) {
  if (memory.reach(memory.start(), before)) return {};
  return refuse("cannot map %zu MiB of the job's segment: %s (a limit on address space, ulimit -v?)", before >> 20,
                std::strerror(errno));
}

// A file size limit (ulimit -f) counts for memfds too, and its signal would kill us without a message.
bool size_file(int fd, std::size_t bytes) {
  const auto old = signal(SIGXFSZ, SIG_IGN);
  const int sized = ftruncate(fd, static_cast<off_t>(bytes));
  signal(SIGXFSZ, old);
  return sized == 0;
}

// The cores that the launcher gives the ranks: each its own, or all the same.
void write_cores(JobHeader& header, RankRecord* records, const std::vector<LocalRank>& locals) {
  std::set<int> all;
  std::size_t sum = 0;
  for (const LocalRank& local : locals) {
    all.insert(local.cpus.begin(), local.cpus.end());
    sum += local.cpus.size();
  }
  const bool bound = locals.size() > 1 && sum == all.size();
  const int quota = usable_cores();  // of the agent: its CPUs, or the part that its control group allows
  const bool limited = quota < static_cast<int>(locals.front().cpus.size()) && !bound;
  header.usable_cores = limited ? quota : std::max(1, static_cast<int>(all.size()));
  for (const LocalRank& local : locals) {
    records[local.rank].bound = bound ? 1 : 0;
    records[local.rank].cores = bound ? static_cast<int>(local.cpus.size())
                                      : std::max(1, header.usable_cores / static_cast<int>(locals.size()));
  }
}

}  // namespace

Result<Segment> make_node_segment(Gathered& gathered, const Wireup& wireup, bool pretended) {
  const int size = wireup.size(), nodes = gathered.node_count();
  const auto local = static_cast<int>(gathered.locals.size());
  const std::size_t heap =
      node::heap_bytes(local) + static_cast<std::size_t>(size) * bytes_for_rank + node::window_room();
  const bool renumbered = !gathered.order.empty();
  const std::size_t before = heap_offset(size, nodes, renumbered), bytes = before + heap;
  const Descriptor file(memfd_create("heddle-job", MFD_CLOEXEC));
  if (!file) return refuse("cannot make the job's shared segment (memfd_create): %s", std::strerror(errno));
  if (!size_file(file.get(), bytes))
    return refuse("cannot size the job's shared segment (a limit on file size, ulimit -f?): %s", std::strerror(errno));
  Result<Segment> mapped = map(file, bytes);
  if (!mapped) return mapped;
  platform::SparseMemory& memory = **mapped;
  if (const Result<void> reached = reach_records(memory, before); !reached) return reached.failure();

  auto* const header = new (memory.start()) JobHeader{.magic = job_magic,
                                                      .layout = job_layout,
                                                      .size = size,
                                                      .launcher = 0,
                                                      .local_ranks = pretended ? size : local,
                                                      .usable_cores = 1,
                                                      .universe_size = wireup.universe_size(),
                                                      .heap_offset = before,
                                                      .heap_bytes = heap,
                                                      .segment_bytes = bytes,
                                                      .wake_up = measure_wake_up(),
                                                      .nodes = nodes,
                                                      .first_node = gathered.node,
                                                      .renumbered = renumbered ? 1 : 0,
                                                      .teller = {},
                                                      .secret = gathered.secret,
                                                      .capacity = size,
                                                      .spare_ranks = 0,
                                                      .spawned = {},
                                                      .key = random_number(),
                                                      .agreed = {}};
  std::copy(gathered.first_ranks.begin(), gathered.first_ranks.end(), first_ranks(header));
  std::copy(gathered.order.begin(), gathered.order.end(), launcher_ranks(header));
  RankRecord* const records = rank_records(header);
  write_cores(*header, records, gathered.locals);
  for (const LocalRank& one : gathered.locals) {
    RankRecord& record = records[one.rank];
    record.app_ranks = size;
    const auto same_process = [&](const LocalRank& other) { return other.process == one.process; };
    record.host = std::ranges::find_if(gathered.locals, same_process)->rank;
    record.pid.store(one.pid);
    record.state.store(RankState::running);
  }
  const Frame frame =
      Frame(FrameKind::segment).add(static_cast<std::uint64_t>(bytes)).add(number_of(wireup.rank(), gathered.order));
  for (LocalRank& one : gathered.locals)
    if (one.link.is_open() && !one.link.send_descriptor(frame, file.get())) one.link.close();
  return mapped;
}

Result<Segment> receive_node_segment(Connection& agent, int& agent_rank) {
  const std::optional<Frame> answer = agent.receive_by(milliseconds_now() + segment_limit);
  const Descriptor file = agent.take_descriptor();
  if (answer && answer->kind() == FrameKind::refused) return Failure{.text = answer->fields(), .said_elsewhere = true};
  if (!answer || answer->kind() != FrameKind::segment || !file)
    return refuse("the first rank of this node does not answer while the job starts (has it ended?)");
  Fields fields(*answer);
  const std::uint64_t bytes = fields.long_number();
  agent_rank = fields.index();
  Result<Segment> mapped = map(file, bytes);
  if (!mapped) return mapped;
  platform::SparseMemory& memory = **mapped;
  if (const Result<void> reached = reach_records(memory, sizeof(JobHeader)); !reached) return reached.failure();
  const std::uint64_t before = reinterpret_cast<const JobHeader*>(memory.start())->heap_offset;
  if (const Result<void> reached = reach_records(memory, before); !reached) return reached.failure();
  return mapped;
}

}  // namespace heddle::boot
