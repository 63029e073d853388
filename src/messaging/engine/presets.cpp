// The safety models by name, each compiled from its parts. A preset is one line of the table.
//
// Dang 2017: mtx to p-hclhub-usc. Amer 2019: global to lockq-mtx. Trahay 2009: coarse, fine. Díaz-Martín 2014: flux. `single`, without
// any lock, is the baseline of measurements.
#include "messaging/engine/presets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string>
#include <system_error>

#include "base/platform/native.hpp"
#include "base/safety/locality.hpp"
#include "base/safety/native_access.hpp"
#include "base/safety/no_lock.hpp"
#include "base/sync/clh_lock.hpp"
#include "base/sync/clhub_lock.hpp"
#include "base/sync/futex_lock.hpp"
#include "base/sync/hmcs_lock.hpp"
#include "base/sync/mcs_lock.hpp"
#include "base/sync/mutex_lock.hpp"
#include "base/sync/pclh_lock.hpp"
#include "base/sync/ttas_lock.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/rank/settings.hpp"
#include "messaging/engine/asked_models.hpp"
#include "messaging/engine/composed_engine.hpp"
#include "messaging/engine/message_context.hpp"
#include "messaging/message/outbox/strategy.hpp"
#include "objects/object/error.hpp"
#include "objects/object/unavailable.hpp"

namespace heddle::engine {

namespace {

using platform::Native;
using safety::Model;
using safety::several_vnis;
using safety::native::FluxAccess;
using safety::native::InjectAccess;
using safety::native::LockAccess;
using safety::native::QueueAccess;
using safety::native::SplitAccess;
using P = safety::Submission;
using L = safety::Lock;
using W = safety::Waiting;

using Busy = Contend<Urgency::high>;
using BusyLow = Contend<Urgency::low>;
using Usc = Reactivation<Sleep::user>;
using Ksc = Reactivation<Sleep::kernel>;

using Made = std::unique_ptr<Engine>;
using MadeVni = std::unique_ptr<Vni>;

// Functions that make an engine of compiled parts, and a VNI with the same access.
struct Maker {
  Made (*engine)(Rank&, const Model&);
  MadeVni (*vni)(Rank&, wake::Wake&, int index);
};

template <class Access, class Waiting>
constexpr Maker by{[](Rank& rank, const Model& model) -> Made {
                     return std::make_unique<ComposedEngine<Access, Waiting>>(
                         rank, model, [](message::VniState& state) { return Access(state.parts().counters); });
                   },
                   [](Rank& rank, wake::Wake& wake, int index) -> MadeVni {
                     return std::make_unique<ComposedVni<Access>>(
                         rank, wake, index, [](message::VniState& state) { return Access(state.parts().counters); });
                   }};

template <class Access, class Waiting, platform::Topology (*topology)()>
constexpr Maker by_on{
    [](Rank& rank, const Model& model) -> Made {
      return std::make_unique<ComposedEngine<Access, Waiting>>(
          rank, model, [](message::VniState& state) { return Access(state.parts().counters, topology()); });
    },
    [](Rank& rank, wake::Wake& wake, int index) -> MadeVni {
      return std::make_unique<ComposedVni<Access>>(
          rank, wake, index, [](message::VniState& state) { return Access(state.parts().counters, topology()); });
    }};

// A communicator cannot request its VNIs: the communication thread belongs to the rank.
constexpr Maker by_offload{[](Rank& rank, const Model& model) -> Made {
                             using Access = safety::native::OffloadAccess<wake::Wake>;
                             auto engine = std::make_unique<ComposedEngine<Access, WatchOwnFlag>>(
                                 rank, model,
                                 [](message::VniState& state) { return Access(state.parts().context.wake); });
                             engine->start_communication_thread();
                             return engine;
                           },
                           nullptr};

struct Preset {
  Model model;
  Maker make;
};

const std::array presets{
    Preset{{"auto", 0, L::futex, P::inject, W::adaptive, {}, 0}, by<InjectAccess<sync::FutexLock<Native>>, Adaptive>},
    Preset{{"mtx", 1, L::mutex, P::wait, W::contend}, by<LockAccess<sync::MutexLock<Native>>, Busy>},
    Preset{{"clh", 1, L::clh, P::wait, W::contend}, by<LockAccess<sync::ClhLock<Native>>, Busy>},
    Preset{{"p-clh", 1, L::p_clh, P::wait, W::contend_low}, by<LockAccess<sync::PClhLock<Native>>, BusyLow>},
    Preset{{"clh-usc", 1, L::clh, P::wait, W::usc}, by<LockAccess<sync::ClhLock<Native>>, Usc>},
    Preset{{"p-clh-usc", 1, L::p_clh, P::wait, W::usc}, by<LockAccess<sync::PClhLock<Native>>, Usc>},
    Preset{{"mtx-ksc", 1, L::mutex, P::wait, W::ksc}, by<LockAccess<sync::MutexLock<Native>>, Ksc>},
    Preset{{"p-clhub-usc", 1, L::clhub, P::wait, W::usc}, by<LockAccess<sync::ClhubLock<Native>>, Usc>},
    Preset{{"p-hclhub-usc", 1, L::hclhub, P::wait, W::usc},
           by_on<LockAccess<sync::HclhubLock<Native>>, Usc, safety::numa_topology>},
    Preset{{"global", 1, L::mcs, P::wait, W::contend}, by<LockAccess<sync::McsLock<Native>>, Busy>},
    Preset{{"per-vni", several_vnis, L::mcs, P::wait, W::backoff}, by<LockAccess<sync::McsLock<Native>>, BackOff>},
    Preset{{"hmcs2-usc", 1, L::hmcs2, P::wait, W::usc},
           by_on<LockAccess<sync::HmcsLock<Native, 2>>, Usc, safety::numa_topology>},
    Preset{{"hmcs3-usc", 1, L::hmcs3, P::wait, W::usc},
           by_on<LockAccess<sync::HmcsLock<Native, 3>>, Usc, safety::core_topology>},
    Preset{{"offload", several_vnis, L::none, P::offload, W::flag}, by_offload},
    Preset{{"csync", several_vnis, L::none, P::csync, W::backoff}, by<safety::native::CombiningAccess, BackOff>},
    Preset{{"lockq-mcs", several_vnis, L::mcs, P::lockq, W::backoff}, by<QueueAccess<sync::McsLock<Native>>, BackOff>},
    Preset{{"lockq-mtx", several_vnis, L::mutex, P::lockq, W::backoff},
           by<QueueAccess<sync::MutexLock<Native>>, BackOff>},
    Preset{{"coarse", 1, L::ttas, P::wait, W::contend}, by<LockAccess<sync::TtasLock<Native>>, Busy>},
    Preset{{"fine", 1, L::ttas, P::split, W::contend}, by<SplitAccess<sync::TtasLock<Native>>, Busy>},
    Preset{{"flux", 1, L::mutex, P::flux, W::contend}, by<FluxAccess<sync::MutexLock<Native>>, Busy>},
    Preset{{"single", 1, L::none, P::wait, W::adaptive}, by<LockAccess<safety::NoLock>, Adaptive>},
};

const Preset* find_preset(std::string_view name) {
  for (const Preset& preset : presets)
    if (preset.model.name == name) return &preset;
  return nullptr;
}

std::string preset_names() {
  std::string names;
  for (const Preset& preset : presets) names += (names.empty() ? "" : ", ") + preset.model.name;
  return names;
}

Made make_of_parts(Rank& rank, const Model& model) {
  for (const Preset& preset : presets)
    if (preset.model.same_parts(model)) return preset.make.engine(rank, model);
  return compose(rank, model);
}

// Sets how threads wait: as HEDDLE_WAIT says, if the model supports that.
bool choose_waiting(Rank& rank, const Model& model) {
  const std::string wanted = setting("HEDDLE_WAIT");
  Machine& machine = rank.machine;
  const Result<safety::WaitPolicy> policy = safety::parse_wait_policy(wanted);
  const Result<void> suited = policy ? safety::suits(*policy, model) : policy;
  if (!suited) {
    (void)fail(MPI_ERR_ARG, "HEDDLE_WAIT=%.200s %s", wanted.c_str(), suited.failure().text.c_str());
    return false;
  }
  machine.policy = *policy;
  machine.wake_up = rank.job->wake_up();
  const safety::Reach reach = rank.job->nodes() > 1 ? safety::Reach::several_nodes : safety::Reach::one_node;
  machine.spinning = safety::spin_time(machine.policy, machine.wake_up, reach);
  machine.poll_cost = reach == safety::Reach::several_nodes ? safety::poll_cost_between_nodes : 0;
  return true;
}

// A message goes to the VNI of the same index at its receiver, and by a way that its receiver polls. So all ranks must have the same
// numbers of VNIs and lanes, and send by channel or all by flux. A node may have more cores per rank than another, and the program may
// request another thread level there. So unless the user has set a number, that of the rank that comes first counts for all.
bool agree(const Rank& rank, Model& model, bool vnis_are_free, bool lanes_are_free) {
  struct Entry {
    std::uint16_t vnis;
    std::uint16_t lanes;
    std::uint32_t by_flux;
    const char* way() const { return by_flux != 0 ? "by flux" : "by channel"; }
  };
  const Entry ours{static_cast<std::uint16_t>(model.vnis), static_cast<std::uint16_t>(model.lanes),
                   model.submission == P::flux};
  const auto others = std::bit_cast<Entry>(rank.job->agree(model_of_ranks, std::bit_cast<std::uint64_t>(ours)));
  const bool alike = others.by_flux == ours.by_flux && (vnis_are_free || others.vnis == ours.vnis) &&
                     (lanes_are_free || others.lanes == ours.lanes);
  model.vnis = others.vnis;
  model.lanes = others.lanes;
  if (alike) return true;
  (void)fail(MPI_ERR_ARG,
             "HEDDLE_MODEL=%s has %u VNIs and %u lanes and sends %s, that of another rank of the job %u and %u and %s; "
             "all must agree",
             model.name.c_str(), ours.vnis, ours.lanes, ours.way(), others.vnis, others.lanes, others.way());
  return false;
}

}  // namespace

Result<Model> parse_model(std::string_view text) {
  Model base = presets.front().model;
  std::string_view composition = text;
  const std::string_view first = text.substr(0, text.find(','));
  if (first.find('=') == std::string_view::npos) {
    const Preset* preset = find_preset(first);
    if (preset == nullptr)
      return refuse(": '%s' is not a safety model of this library; it has %s", std::string(first).c_str(),
                    preset_names().c_str());
    base = preset->model;
    composition.remove_prefix(std::min(first.size() + 1, composition.size()));
  }
  Result<Model> model = safety::parse_composition(composition, base);
  if (!model) return refuse(" can't be composed: %s", model.failure().text.c_str());
  if (!model->strategy.empty() && !message::is_strategy(model->strategy))
    return refuse(" can't be composed: %s", message::no_strategy(model->strategy).c_str());
  if (model->submission == P::flux)
    if (const Result<void> possible = lln::stamps_are_ordered(); !possible)
      return refuse(": submit=flux %s", possible.failure().text.c_str());
  if (model->lanes == 0 && !model->same_parts(presets.front().model)) model->lanes = 1;
  if (model->lanes > 1)
    if (const Result<void> possible = lln::stamps_are_ordered(); !possible)
      return refuse(": lanes=%d %s", model->lanes, possible.failure().text.c_str());
  model->name = text;
  return model;
}

// By default a rank has two VNIs for each thread that can run at the same time, so for each of its cores: then threads share none
// (messaging/p2p/lanes.hpp). It has few if its threads communicate one at a time. And between nodes, where each VNI opens an end at the
// network, with memory and connections of its own.
int vnis_for(const Rank& rank, const Model& model) {
  if (model.vnis != 0) return std::max(model.vnis, model.lanes);
  const bool few = rank.networks != nullptr || rank.requested_level != MPI_THREAD_MULTIPLE;
  const int most = few ? several_vnis : safety::most_own_vnis;
  const int cores = static_cast<int>(rank.machine.cores) / static_cast<int>(rank.job->first_machine_ranks());
  return std::max(cores > 1 ? std::min(2 * cores, most) : 1, model.lanes);
}

// By default a rank has lanes if its threads may communicate at the same time. User-level threads change their kernel threads, by which
// the order over several lanes is known.
int lanes_for(const Rank& rank, const Model& model) {
  if (model.lanes != 0) return model.lanes;
  const bool possible = rank.requested_level == MPI_THREAD_MULTIPLE && model.submission != P::flux &&
                        !threads::user_level_possible() && lln::stamps_are_ordered();
  return possible ? static_cast<int>(std::bit_floor(static_cast<unsigned>(model.vnis))) : 1;
}

std::unique_ptr<Engine> make_engine(Rank& rank) {
  std::string wanted = setting("HEDDLE_MODEL");
  if (wanted.empty()) wanted = "auto";
  Result<Model> parsed = parse_model(wanted);
  if (!parsed) {
    (void)fail(MPI_ERR_ARG, "HEDDLE_MODEL=%s%s", wanted.c_str(), parsed.failure().text.c_str());
    return nullptr;
  }
  Model& model = *parsed;
  if (message::CopySettings copies; !read_copy_settings(copies)) return nullptr;
  const bool vnis_are_free = model.vnis == 0;
  const bool lanes_are_free = model.lanes == 0;
  model.vnis = vnis_for(rank, model);
  model.lanes = lanes_for(rank, model);
  if (!choose_waiting(rank, model)) return nullptr;
  if (!agree(rank, model, vnis_are_free, lanes_are_free)) return nullptr;
  // As HEDDLE_MODEL says, or as another program of the job has begun.
  if (model.lanes > 1 && threads::user_level_possible()) {
    (void)fail(MPI_ERR_ARG,
               "HEDDLE_MODEL=%s has lanes in this job, and the program loads user-level threads, whose messages would "
               "lose their "
               "order; add lanes=1 to HEDDLE_MODEL for all ranks",
               model.name.c_str());
    return nullptr;
  }
  rank.strategies.fill(static_cast<std::uint8_t>(
      message::strategy_number(model.strategy.empty() ? message::default_strategy : model.strategy)));
  try {
    auto engine = make_of_parts(rank, model);
    // Without any lock only the program makes progress.
    if (engine && rank.networks && safety::is_safe(model)) rank.networks->watch().attend(*engine);
    return engine;
  } catch (const std::system_error& error) {
    (void)fail(
        MPI_ERR_OTHER,
        "HEDDLE_MODEL=%.200s needs a communication thread, and the system gives us none (%s); raise the limit of "
        "threads (ulimit -u, the container's)",
        wanted.c_str(), error.what());
    return nullptr;
  }
}

// Called for the first message of a communicator, which cannot start without its VNI.
MadeVni make_asked_vni(Rank& rank, wake::Wake& wake, int index) try {
  const AskedModel model = asked_model_of(rank, index);
  if (model.strategy != AskedModel::of_rank)
    rank.strategies[static_cast<std::size_t>(index)] = static_cast<std::uint8_t>(model.strategy);
  for (const Preset& preset : presets)
    if (preset.model.lock == model.lock && preset.model.submission == model.submission)
      return preset.make.vni(rank, wake, index);
  return compose_vni(rank, wake, model, index);
} catch (const std::runtime_error& error) {
  throw Unavailable("the communicator's VNI cannot be opened", error.what(),
                    "Raise the limits of open files and threads (ulimit -n, -u), or ask for fewer VNIs (heddle_model)");
}

}  // namespace heddle::engine
