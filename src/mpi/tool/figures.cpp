#include "mpi/tool/figures.hpp"

#include <dirent.h>

#include <algorithm>
#include <memory>

#include "base/safety/sleep.hpp"
#include "base/safety/wait_policy.hpp"
#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"
#include "messaging/engine/asked_models.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/message/outbox/strategy.hpp"
#include "messaging/p2p/p2p.hpp"
#include "objects/object/comm.hpp"

namespace heddle::tool {

using instruments::Counters;
using instruments::Totals;

namespace {

// Every communicator, also those without a user's handle.
void add_living(Rank& rank, std::vector<CommFigures>& figures) {
  for (std::uint32_t i = 0; void* slot = arena::at_index(Kind::comm, i); ++i) {
    Comm& comm = *static_cast<Comm*>(slot);  // if in use: a free slot has no handle
    if (comm.handle == 0 || comm.owner != &rank) continue;
    const Totals totals = comm.counters.totals();
    if (totals.threads == 0) continue;
    std::lock_guard guard(comm.mutex);
    figures.push_back(
        {.name = comm.name, .size = comm.size, .vni = p2p::vni_in_figures(comm), .freed = 0, .totals = totals});
  }
}

bool may_sleep(const safety::Model& model) {
  return static_cast<bool>(safety::suits({.kind = safety::WaitPolicy::Kind::spin}, model));
}

int threads_of_process() {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc/self/task"), closedir);
  int threads = 0;
  while (const dirent* const entry = all ? readdir(all.get()) : nullptr) threads += entry->d_name[0] != '.' ? 1 : 0;
  return std::max(1, threads);
}

}  // namespace

Figures collect(Rank& rank) {
  Figures figures{
      .rank = rank.rank_shown(),
      .ranks = rank.world_size,
      .model = rank.engine->model().name,
      .model_was_chosen = !setting("HEDDLE_MODEL").empty(),
      .waiting =
          safety::describe(rank.machine.policy, rank.engine->model(), rank.machine.spinning, rank.machine.wake_up),
      .never_sleep = safety::never_sleep(rank.machine.policy, rank.engine->model()),
      .may_sleep = may_sleep(rank.engine->model()),
      .threads = rank.host_open == nullptr ? threads_of_process() : 1,
      .cores = rank.job->record().bound != 0 ? rank.job->record().cores
                                             : std::max(1, rank.job->usable_cores() / rank.job->machine_ranks()),
      .nodes = rank.job->nodes(),
      .network = std::string(rank.networks ? rank.networks->name() : ""),
      .rails = rank.networks ? rank.networks->rails() : 1,
      .unexpected = rank.networks ? rank.networks->bound() : 0,
      .strategy = std::string(message::strategy_name(rank.strategies.front())),
      .asked = {},
      .vnis = {},
      .comms = {}};
  rank.counter_registry.for_each_vni([&](int index, const Counters& vni) {
    if (index >= rank.engine->vnis())
      figures.asked.push_back("VNI " + std::to_string(index) + ": " + engine::asked_model_of(rank, index).text());
    figures.vnis.push_back({.index = index, .totals = vni.totals()});
  });
  add_living(rank, figures.comms);
  for (const auto& [kind, gone] : rank.counter_registry.gone())
    figures.comms.push_back(
        {.name = kind.name, .size = kind.size, .vni = kind.vni, .freed = gone.communicators, .totals = gone.totals});
  return figures;
}

}  // namespace heddle::tool
