#include "mpiexec/segment.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <system_error>

#include "boot/decided.hpp"
#include "boot/random_number.hpp"
#include "node/room.hpp"

namespace heddle::mpiexec {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// Scripts redirect low descriptors (`exec 3>log`) and would lose ours; above 63 the kernel would have to
// enlarge the table of every rank.
constexpr int lowest_descriptor = 40;

}  // namespace

Segment make_segment(const std::vector<RankPlan>& plan, const MachineFacts& machine, int universe_size, int nodes,
                     bool grows) {
  const int size = static_cast<int>(plan.size());
  grows = grows && nodes == 1 && node::has_room_for_spawned();
  const int capacity = size + (grows ? node::most_spawned : 0);
  const int spare = grows ? node::spare_ranks : 0;
  const std::size_t heap = node::heap_bytes(size + spare) + node::window_room();
  const std::size_t bytes = boot::heap_offset(capacity, nodes) + boot::offset_of_decided(nodes, heap) +
                            (nodes > 1 ? sizeof(boot::DecidedComms) : 0);

  const int made = memfd_create("heddle-job", MFD_CLOEXEC);
  if (made < 0) fail("cannot make the job's shared segment (memfd_create)");
  int fd = fcntl(made, F_DUPFD, lowest_descriptor);
  if (fd < 0) fd = dup(made);
  if (fd < 0) fail("cannot make the job's shared segment");
  close(made);
  // A file size limit (ulimit -f) counts for memfds too, and its signal would end us without a word.
  const auto old = signal(SIGXFSZ, SIG_IGN);
  const int sized = ftruncate(fd, static_cast<off_t>(bytes));
  signal(SIGXFSZ, old);
  if (sized != 0) fail("cannot size the job's shared segment (a limit on file size, ulimit -f?)");

  // Only the boot part: the heap is the ranks' own business.
  void* base = mmap(nullptr, boot::heap_offset(capacity, nodes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) fail("cannot map the job's shared segment");

  Segment segment{fd, static_cast<boot::JobHeader*>(base), nullptr};
  new (segment.header) boot::JobHeader{.magic = boot::job_magic,
                                       .layout = boot::job_layout,
                                       .size = size,
                                       .launcher = getpid(),
                                       .local_ranks = size,
                                       .usable_cores = machine.usable_cores,
                                       .universe_size = universe_size,
                                       .heap_offset = boot::heap_offset(capacity, nodes),
                                       .heap_bytes = heap,
                                       .segment_bytes = bytes,
                                       .wake_up = machine.wake_up,
                                       .nodes = nodes,
                                       .first_node = 0,
                                       .renumbered = 0,
                                       .teller = {},
                                       .secret = lln::random_secret(),
                                       .capacity = capacity,
                                       .spare_ranks = spare,
                                       .spawned = {},
                                       .key = boot::random_number(),
                                       .agreed = {}};
  for (int node = 0; node <= nodes; ++node)
    boot::first_ranks(segment.header)[node] = boot::even_first_rank(node, nodes, nodes == 1 ? capacity : size);
  segment.records = rank_records(segment.header);
  for (int rank = 0; rank < size; ++rank) {
    boot::RankRecord& record = segment.records[rank];
    record.appnum = plan[rank].appnum;
    record.app_ranks = plan[rank].app_ranks;
    record.cores = plan[rank].cores;
    record.bound = plan[rank].bound ? 1 : 0;
    record.host = rank;
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
