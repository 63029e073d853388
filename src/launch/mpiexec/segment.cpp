#include "launch/mpiexec/segment.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <system_error>

#include "base/node/room.hpp"
#include "launch/boot/decided.hpp"
#include "launch/boot/random_number.hpp"

namespace heddle::mpiexec {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// Scripts redirect low descriptors (`exec 3>log`) and would lose ours; above 63 the kernel would have to
// enlarge the table of every rank.
constexpr int lowest_descriptor = 40;

}  // namespace

NodeMap pretended_nodes(int nodes, int ranks) {
  NodeMap map{.first_ranks = {}, .secret = lln::random_secret(), .key = boot::random_number()};
  for (int node = 0; node <= nodes; ++node) map.first_ranks.push_back(boot::even_first_rank(node, nodes, ranks));
  return map;
}

Segment make_segment(const std::vector<RankPlan>& plan, const MachineFacts& machine, int universe_size,
                     const NodeMap& nodes, bool grows) {
  const int size = nodes.first_ranks.back(), count = static_cast<int>(nodes.first_ranks.size()) - 1;
  const bool all_here = nodes.here == NodeMap::all_nodes;
  const int first = nodes.first_here();
  const auto here = static_cast<int>(plan.size());
  grows = grows && count == 1 && node::has_room_for_spawned();
  const int capacity = size + (grows ? node::most_spawned : 0);
  const int spare = grows ? node::spare_ranks : 0;
  const std::size_t heap = node::heap_bytes(size + spare) + node::window_room();
  const std::size_t bytes = boot::heap_offset(capacity, count) + static_cast<std::size_t>(all_here ? count : 1) * heap +
                            (count > 1 ? sizeof(boot::DecidedComms) : 0);

  const int made = memfd_create("heddle-job", MFD_CLOEXEC);
  if (made < 0) fail("cannot make the job's shared segment (memfd_create)");
  int fd = fcntl(made, F_DUPFD, lowest_descriptor);
  if (fd < 0) fd = dup(made);
  if (fd < 0) fail("cannot make the job's shared segment");
  close(made);
  // A file size limit (ulimit -f) counts for memfds too, and its signal would kill us without a message.
  const auto old = signal(SIGXFSZ, SIG_IGN);
  const int sized = ftruncate(fd, static_cast<off_t>(bytes));
  signal(SIGXFSZ, old);
  if (sized != 0) fail("cannot size the job's shared segment (a limit on file size, ulimit -f?)");

  // Only the boot part: the heap is the ranks' own.
  void* base = mmap(nullptr, boot::heap_offset(capacity, count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) fail("cannot map the job's shared segment");

  Segment segment{fd, static_cast<boot::JobHeader*>(base), nullptr, here, first, first};
  new (segment.header) boot::JobHeader{.magic = boot::job_magic,
                                       .layout = boot::job_layout,
                                       .size = size,
                                       .launcher = getpid(),
                                       .local_ranks = here,
                                       .usable_cores = machine.usable_cores,
                                       .universe_size = universe_size,
                                       .heap_offset = boot::heap_offset(capacity, count),
                                       .heap_bytes = heap,
                                       .segment_bytes = bytes,
                                       .wake_up = machine.wake_up,
                                       .nodes = count,
                                       .first_node = all_here ? 0 : nodes.here,
                                       .renumbered = 0,
                                       .teller = {},
                                       .secret = nodes.secret,
                                       .capacity = capacity,
                                       .spare_ranks = spare,
                                       .spawned = {},
                                       .key = nodes.key,
                                       .agreed = {}};
  std::copy(nodes.first_ranks.begin(), nodes.first_ranks.end(), boot::first_ranks(segment.header));
  if (count == 1) boot::first_ranks(segment.header)[1] = capacity;
  segment.records = rank_records(segment.header) + first;
  for (int rank = 0; rank < here; ++rank) {
    boot::RankRecord& record = segment.records[rank];
    record.appnum = plan[rank].appnum;
    record.app_ranks = plan[rank].app_ranks;
    record.cores = plan[rank].cores;
    record.bound = plan[rank].bound ? 1 : 0;
    record.host = first + rank;
  }
  return segment;
}

std::string rank_text(const Segment& segment, int rank) {
  const boot::RankRecord& record = segment.records[rank];
  if (record.spawn_number == 0) return "rank " + std::to_string(segment.first_rank + rank);
  return "rank " + std::to_string(rank - record.world_first) + " of spawned group " +
         std::to_string(record.spawn_number);
}

}  // namespace heddle::mpiexec
