// The safety models by name. A model is one line here.
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "object/error.hpp"
#include "p2p/guarded_vni.hpp"
#include "platform/native.hpp"
#include "sync/futex_lock.hpp"
#include "sync/mcs_lock.hpp"
#include "sync/mutex_lock.hpp"

namespace heddle::p2p {

namespace {

using platform::Native;

template <class Lock>
Vni* make(Rank& rank, const char* name) {
  return new GuardedVni<Lock>(rank, name);
}

struct Preset {
  const char* name;
  Vni* (*make)(Rank&, const char* name);
};

constexpr std::array presets{
    Preset{"futex", make<sync::FutexLock<Native>>},
    Preset{"global", make<sync::McsLock<Native>>},
    Preset{"mtx", make<sync::MutexLock<Native>>},
};
constexpr const char* default_model = "futex";

}  // namespace

Vni* make_vni(Rank& rank) {
  const char* wanted = std::getenv("HEDDLE_MODEL");
  if (wanted == nullptr || *wanted == '\0') wanted = default_model;
  for (const Preset& preset : presets)
    if (std::strcmp(preset.name, wanted) == 0) return preset.make(rank, preset.name);
  std::string known;
  for (const Preset& preset : presets) known += std::string(known.empty() ? "" : ", ") + preset.name;
  (void)fail(MPI_ERR_ARG, "HEDDLE_MODEL=%s is not a safety model of this library; it has %s", wanted, known.c_str());
  return nullptr;
}

}  // namespace heddle::p2p
