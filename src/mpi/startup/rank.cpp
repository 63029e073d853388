#include "launch/rank/rank.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/node/room.hpp"
#include "base/progress/setting.hpp"
#include "base/threads/selection.hpp"
#include "launch/boot/cores.hpp"
#include "launch/boot/variables.hpp"
#include "launch/rank/crash.hpp"
#include "launch/rank/settings.hpp"
#include "messaging/engine/asked_models.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/message/choose.hpp"
#include "messaging/message/request_cache.hpp"
#include "messaging/p2p/buffer.hpp"
#include "messaging/p2p/lanes.hpp"
#include "mpi/dpm/board.hpp"
#include "mpi/ft/begin.hpp"
#include "mpi/startup/network_settings.hpp"
#include "mpi/tool/interface.hpp"
#include "mpi/tool/report.hpp"
#include "network/route.hpp"
#include "objects/object/error.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/tables.hpp"

namespace heddle {

Rank::Rank() : tool(std::make_unique<tool::Interface>()) {
  CPU_ZERO(&cores);
  (void)sched_getaffinity(0, sizeof cores, &cores);
  prepare_tables(*this);
}
Rank::~Rank() = default;

namespace {

// The rank of a process whose ranks are processes. Never destroyed: threads of the program may still be in a call while it
// exits.
union ProcessRank {
  constexpr ProcessRank() : nothing() {}
  ~ProcessRank() {}
  char nothing;
  Rank rank;
};
constinit ProcessRank process_rank;

// While the library is loaded there is no error handler yet, and an exception would not be caught.
[[gnu::constructor]] void make_process_rank() {
  try {
    new (&process_rank.rank) Rank;
  } catch (const std::exception& why) {
    std::fprintf(stderr,
                 "libmpi_abi.so: cannot load the library: the system refuses memory (%s). Check the "
                 "limit (ulimit -v)\n",
                 why.what());
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace

constinit thread_local Rank* rank_of_thread = &process_rank.rank;

// An unknown name is reported, not replaced by the default.
static Error check_initial_errhandler() {
  const std::string chosen = setting(boot::initial_errhandler_variable);
  const auto& known = boot::initial_errhandlers;
  if (chosen.empty() || std::find(std::begin(known), std::end(known), chosen) != std::end(known)) return success;
  return fail(MPI_ERR_ARG, "invalid value %.200s for %s: must be %s, %s or %s", chosen.c_str(),
              boot::initial_errhandler_variable, known[0], known[1], known[2]);
}

// In a job mpiexec reports them, once; this is for a program that was started without it, or by another launcher.
static void name_unknown_variables() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view assignment = *entry;
    names.emplace_back(assignment.substr(0, assignment.find('=')));
  }
  if (const std::string sentence = boot::unknown_variables(names); !sentence.empty())
    std::fprintf(stderr, "heddle: %s\n", sentence.c_str());
}

// Progress on idle cores: by default where there are at least two cores for each rank, so that some are idle, and
// another rank to communicate with.
static Error begin_help(Rank& rank) {
  using progress::Deferral;
  using progress::Help;
  const std::string text = setting("HEDDLE_PROGRESS");
  const Result<progress::Setting> parsed = progress::parse_setting(text);
  if (!parsed)
    return fail(MPI_ERR_ARG, "invalid value %.200s for HEDDLE_PROGRESS: %.200s", text.c_str(),
                parsed.failure().text.c_str());
  const progress::Setting& wanted = *parsed;
  const bool asked = wanted.help == Help::idle;
  const bool expected = rank.world_size > 1 && rank.job->usable_cores() >= 2 * rank.job->machine_ranks();
  if (wanted.help == Help::off || (!asked && !expected)) return success;
  const safety::Model& model = rank.engine->model();
  const bool safe = rank.engine->thread_level() == MPI_THREAD_MULTIPLE;
  if (!safe && !asked) return success;
  if (!safe)
    return fail(MPI_ERR_ARG,
                "invalid value %.200s for HEDDLE_PROGRESS: it needs a safety model for several threads, which "
                "HEDDLE_MODEL=%s is not",
                text.c_str(), model.name.c_str());
  if (wanted.deferral != Deferral::none && model.submission == safety::Submission::offload)
    return fail(
        MPI_ERR_ARG,
        "invalid value %.200s for HEDDLE_PROGRESS: with HEDDLE_MODEL=%s a communication thread submits everything, and "
        "nothing is left to defer",
        text.c_str(), model.name.c_str());
  if (wanted.deferral != Deferral::none && wanted.from > message::near_eager_bytes)
    return fail(
        MPI_ERR_ARG,
        "invalid value %.200s for HEDDLE_PROGRESS: a message of more than %zu bytes goes by rendezvous, which is "
        "not deferred",
        text.c_str(), message::near_eager_bytes);
  try {
    rank.engine->begin_help(rank.cores, wanted);
  } catch (const std::exception& error) {  // of the system, or there is no memory for them
    if (!asked) return success;            // not requested by the user
    return fail(MPI_ERR_OTHER, "HEDDLE_PROGRESS=%.200s: cannot start its threads: %s", text.c_str(), error.what());
  }
  return success;
}

// The index of the network among the words that ranks agree on, behind those of models.
static constexpr int network_of_ranks = engine::most_asked_models + 1;
static_assert(network_of_ranks < boot::agreed_words - 1);

// A network's library takes the process for one rank: it has one thread for all that it opens, with the descriptors of
// the first caller.
static threads::Opener opener(const Rank& rank) {
  if (rank.host_open == nullptr) return threads::open_for_process;
  return [open = rank.host_open](const std::string& path) -> Result<void*> {
    char text[512] = "";
    void* const opened = open(path.c_str(), text, sizeof text);
    if (opened == nullptr) return Failure{.text = text};
    return opened;
  };
}

// Bytes that the unexpected messages of one rank of another node may occupy on a VNI.
static Error read_unexpected_bound(const boot::World& job, std::uint64_t& bound) {
  constexpr std::uint64_t least = std::uint64_t{64} << 20;
  constexpr std::uint64_t share = 4;  // of the node's memory, for those of all
  const std::string text = setting("HEDDLE_UNEXPECTED_BYTES");
  if (text.empty()) {
    const auto memory =
        static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const auto pairs = std::uint64_t(job.machine_ranks()) * std::uint64_t(std::max(job.size() - job.local_ranks(), 1));
    bound = std::max(least, memory / share / pairs);
    return success;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bound);
  if (error == std::errc() && end == text.data() + text.size()) return success;
  return fail(MPI_ERR_ARG, "invalid value %.200s for HEDDLE_UNEXPECTED_BYTES: must be a number of bytes", text.c_str());
}

static Error open_networks(Rank& rank) {
  const std::string network = setting("HEDDLE_LLN"), rails = setting("HEDDLE_RAILS");
  if (const Result<void> found = check_network(network, rails); !found)
    return fail(MPI_ERR_OTHER, "%.400s", found.failure().text.c_str());
  if (rank.job->nodes() == 1) return success;
  std::uint64_t bound = 0;
  if (Error e = read_unexpected_bound(*rank.job, bound)) return e;
  std::uint64_t seed = 1;
  const std::string text = setting("HEDDLE_LOOPBACK_SEED");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (!text.empty() && (error != std::errc() || end != text.data() + text.size()))
    return fail(MPI_ERR_ARG, "invalid value %.200s for HEDDLE_LOOPBACK_SEED: must be a number", text.c_str());
  const auto agree = [&rank](std::uint64_t proposal) { return rank.job->agree(network_of_ranks, proposal); };
  // A failure after all has been sent and received does not matter.
  const auto fail_job = [&rank](const char* text) {
    if (rank.job->record().state.load() != boot::RankState::finalized) boot::abort(rank.job.get(), MPI_ERR_OTHER, text);
  };
  std::function<bool(int)> is_gone;
  if (rank.job->survives_failures())
    is_gone = [&rank](int peer) {
      return peer == lln::any_peer ? rank.job->failures().failures.load(std::memory_order_acquire) != 0
                                   : rank.job->is_gone(peer);
    };
  const auto note = [](const char* text) { std::fprintf(stderr, "heddle: %s\n", text); };
  const lln::Place place{rank.world_rank, rank.world_size, rank.job->first_local(), rank.job->local_ranks()};
  rank.networks =
      std::make_unique<lln::Networks>(*rank.job, rank.node->own_bell(), place,
                                      lln::Networks::Settings{.network = network,
                                                              .rails = rails,
                                                              .pretended = rank.job->pretends_nodes(),
                                                              .agree = agree,
                                                              .seed = seed,
                                                              .is_narrow = setting("HEDDLE_LOOPBACK_NARROW") == "1",
                                                              .open = opener(rank),
                                                              .is_gone = is_gone,
                                                              .fail = fail_job,
                                                              .note = note,
                                                              .secret = rank.job->secret(),
                                                              .bound = bound});
  const Result<void> found = check_devices(rank.networks->name());
  return found ? success : fail(MPI_ERR_OTHER, "%.400s", found.failure().text.c_str());
}

// State brought up by the first user of the library stays until the process ends: peers may still have messages in
// flight to us, and a session may be opened after the last one was closed.
static Error bring_up(Rank& rank) {
  const bool alone = std::getenv(boot::job_fd_variable) == nullptr;
  const std::size_t heap = alone ? node::heap_bytes(1) + node::window_room() : 0;
  Result<std::unique_ptr<boot::World>> joined = boot::join(heap);
  if (!joined) return fail(MPI_ERR_OTHER, "%s", joined.failure().text.c_str());
  rank.job = *std::move(joined);
  if (alone && rank.job->rank() == 0) name_unknown_variables();
  const boot::World& job = *rank.job;
  if (alone && job.size() > 1 && boot::asks_to_survive(setting(boot::fault_tolerance_variable)))
    return fail(MPI_ERR_UNSUPPORTED_OPERATION,
                "%s requests a job that survives failed ranks, but another launcher than Heddle's mpiexec has "
                "started this one; "
                "unset it, or start the job by mpiexec -with-ft ulfm on one machine",
                boot::fault_tolerance_variable);
  rank.peer_memory.begin(job);
  rank.world_rank = job.rank();
  rank.world_size = job.size();
  rank.node.emplace(
      job.heap().data(), job.heap().size(),
      node::Place{rank.world_rank, job.capacity(), job.first_local(), job.local_ranks(), job.first_local_ranks()},
      lln::bytes_for_networks(job.capacity()), node::bytes_for_channels(job.channel_ranks()), &job.memory());
  if (rank.node->needs_heavy_fences())
    return fail(MPI_ERR_OTHER,
                "cannot join the job as a spawned process: membarrier is refused, which the job's other ranks rely on");
  if (job.survives_failures()) {
    const auto gone = [](const void* what, std::uint32_t other) {
      return static_cast<const boot::World*>(what)->is_gone(static_cast<int>(other));
    };
    rank.node->heap().set_survivor({static_cast<std::uint32_t>(rank.world_rank), gone, &job});
  }
  rank.pollables.emplace(rank.node->own_bell());
  const bool bound = job.record().bound != 0;
  rank.machine.cores = static_cast<std::uint32_t>(job.usable_cores());
  rank.machine.own_cores = bound ? static_cast<std::uint32_t>(job.record().cores) : rank.machine.cores;
  if (rank.world_size > 1 && !bound) {
    // Simulated nodes share a machine.
    rank.machine.spread = boot::spread;
    rank.machine.part = job.pretends_nodes() ? rank.world_rank : rank.world_rank - job.first_local();
    rank.machine.parts = job.machine_ranks();
    boot::spread(rank.machine.part, rank.machine.parts);
  }
  rank.machine.oversubscribed = job.machine_ranks() > job.usable_cores();
  if (Error e = check_initial_errhandler()) return e;
  if (Error e = tool::prepare_report(rank)) return e;
  if (const Result<void> reported = report_crashes(); !reported)
    return fail(MPI_ERR_ARG, "HEDDLE_BACKTRACE%.200s", reported.failure().text.c_str());
  const std::string runtimes = setting("HEDDLE_THREADS");
  const Result<std::string> selected = threads::select_runtimes(runtimes);
  if (!selected)
    return fail(MPI_ERR_ARG, "invalid value %s for HEDDLE_THREADS: %s", runtimes.c_str(),
                selected.failure().text.c_str());
  if (!selected->empty() && rank.world_rank == 0) std::fprintf(stderr, "heddle: %s\n", selected->c_str());
  try {
    if (Error e = open_networks(rank)) return e;
    rank.engine = engine::make_engine(rank);
  } catch (const std::runtime_error& error) {
    return fail(MPI_ERR_OTHER, "rank %d cannot reach other nodes: %s", rank.rank_shown(), error.what());
  }
  if (!rank.engine) return Error(MPI_ERR_ARG);
  if (const int lanes = rank.engine->model().lanes; lanes > 1)
    rank.lanes = std::make_unique<p2p::Lanes>(*rank.engine, lanes, rank);
  rank.sent = &message::take_request();
  rank.sent->done.store(1, std::memory_order_relaxed);
  if (job.survives_failures()) ft::begin(rank);
  return success;
}

Error acquire_library(Rank& rank) {
  std::lock_guard guard(rank.lifecycle_mutex);
  if (rank.users == 0) {
    if (rank.engine) {
      rank.job->enter();
    } else if (Error e = bring_up(rank)) {
      return e;
    }
    if (Error e = begin_help(rank)) return e;
    rank.machine.busy.store(rank.machine.policy.kind == safety::WaitPolicy::Kind::busy, std::memory_order_relaxed);
    rank.phase.store(Phase::active, std::memory_order_release);
  }
  ++rank.users;
  return success;
}

// To other nodes. A message that a peer waits for and does not get would be missed there, so it is the end of the job.
// If only the network has not confirmed all, a peer that has finalized may be the reason.
static void send_rest(Rank& rank) {
  int peer = -1;
  if (rank.engine->flush(peer)) return;
  const int own = rank.job->rank_in_world(rank.job->rank()), limit = engine::Engine::flush_limit;
  if (peer < 0) {
    std::fprintf(stderr, "heddle: rank %d has waited %d s for the network to confirm its messages, and finalizes\n",
                 own, limit);
    return;
  }
  char text[320];
  std::snprintf(
      text, sizeof text,
      "heddle: rank %d cannot finalize: for %d s rank %d on another node has received nothing of the messages to it "
      "(its machine or the network does not answer, or its process is stopped); the job ends",
      own, limit, rank.job->rank_in_world(peer));
  boot::abort(rank.job.get(), MPI_ERR_OTHER, text);
}

void release_library(Rank& rank) {
  std::lock_guard guard(rank.lifecycle_mutex);
  if (--rank.users != 0) return;
  if (rank.world_phase.load(std::memory_order_relaxed) == Phase::before) tool::print_report(tool::take_report(rank));
  rank.phase.store(Phase::after, std::memory_order_release);
  retire_handles(rank);
  rank.parent = nullptr;
  dpm::withdraw_all(rank);
  rank.machine.busy.store(false, std::memory_order_relaxed);
  rank.engine->end_help();
  if (rank.networks) send_rest(rank);
  rank.job->leave();
}

}  // namespace heddle
