#include "lln/ucx/handles.hpp"

#include <cstdlib>

#include "threads/signals_blocked.hpp"

namespace heddle::lln::ucx {

namespace {

struct Default {
  const char* variable;
  const char* name;
  const char* value;
};
// Ranks of a node have shared memory of their own. Without memory events (see networks.cpp) a registration cache would go stale.
constexpr Default defaults[] = {{"UCX_TLS", "TLS", "^sm"}, {"UCX_RCACHE_ENABLE", "RCACHE_ENABLE", "n"}};

}  // namespace

Context make_context(const char* device) {
  ucp_config_t* read = nullptr;
  check(ucp_config_read(nullptr, nullptr, &read), "ucp_config_read");
  const std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)> config(read, &ucp_config_release);
  for (const Default& ours : defaults)
    if (std::getenv(ours.variable) == nullptr) (void)ucp_config_modify(read, ours.name, ours.value);
  if (*device != '\0') check(ucp_config_modify(read, "NET_DEVICES", device), "ucp_config_modify");
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  wanted.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.mt_workers_shared = 0;
  ucp_context_h made = nullptr;
  check(ucp_init(&wanted, read, &made), "ucp_init");
  return Context(made);
}

Worker make_worker(ucp_context_h context) {
  ucp_worker_params_t wanted{};
  wanted.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_EVENTS;
  wanted.thread_mode = UCS_THREAD_MODE_SERIALIZED;
  wanted.events = UCP_WAKEUP_RX | UCP_WAKEUP_TX;
  ucp_worker_h made = nullptr;
  const threads::SignalsBlocked blocked;
  check(ucp_worker_create(context, &wanted, &made), "ucp_worker_create");
  return Worker(made);
}

}  // namespace heddle::lln::ucx
