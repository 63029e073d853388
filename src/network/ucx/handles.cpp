#include "network/ucx/handles.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <string_view>

#include "base/threads/signals_blocked.hpp"

namespace heddle::lln::ucx {

namespace {

using Config = std::unique_ptr<ucp_config_t, decltype(&ucp_config_release)>;

struct Default {
  const char* variable;
  const char* name;
  const char* value;
};
// Ranks of a node use Heddle's shared memory. Without memory events (see networks.cpp) a registration cache would go
// stale.
constexpr Default defaults[] = {{"UCX_TLS", "TLS", "^sm"}, {"UCX_RCACHE_ENABLE", "RCACHE_ENABLE", "n"}};

// In a process that survives a peer UCX copies all that it sends: over TCP, version 1.13 completes a send from our
// memory twice when its connection breaks, and ends the process ("Assertion `comp->count > 0' failed").
constexpr Default copies{"UCX_ZCOPY_THRESH", "ZCOPY_THRESH", "inf"};

// Over TCP, an endpoint with error handling moves long messages through a buffer, a system call for each filling (docs/adr/0045).
constexpr char buffer_variable[] = "UCX_TCP_RX_SEG_SIZE";
constexpr char buffer_bytes[] = "128k";
constexpr std::size_t at_once = 96 * 1024;  // of it, with its headers
// Messages are copied to this buffer before they leave: a message that is copied must fit in it.
constexpr char copy_variable[] = "UCX_TCP_TX_SEG_SIZE";

// By default a connect waits for the peer, which may take minutes if its machine is gone.
constexpr char connecting_variable[] = "UCX_TCP_CONN_NB";

bool is_before(unsigned minor_version) {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  return major == 1 && minor < minor_version;
}

// The name of a variable for ucp_config_modify: up to UCX 1.16 without the name of the transport.
const char* name_in_config(const char* variable) { return variable + std::strlen(is_before(17) ? "UCX_TCP_" : "UCX_"); }

void set(const Config& config, const Default& ours) {
  if (std::getenv(ours.variable) == nullptr) (void)ucp_config_modify(config.get(), ours.name, ours.value);
}

Config read_config(const char* device, bool survives) {
  ucp_config_t* read = nullptr;
  check(ucp_config_read(nullptr, nullptr, &read), "ucp_config_read");
  Config config(read, &ucp_config_release);
  for (const Default& ours : defaults) set(config, ours);
  if (survives) set(config, copies);
  if (*device != '\0') check(ucp_config_modify(read, "NET_DEVICES", device), "ucp_config_modify");
  return config;
}

Context init(const Config& config) {
  ucp_params_t wanted{};
  wanted.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  wanted.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  wanted.mt_workers_shared = 0;
  ucp_context_h made = nullptr;
  check(ucp_init(&wanted, config.get(), &made), "ucp_init");
  return Context(made);
}

// The parts of the context, which UCX only prints.
std::string description(ucp_context_h context) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = open_memstream(&text, &bytes);
  if (stream == nullptr) return {};
  ucp_context_print_info(context, stream);
  (void)std::fclose(stream);
  std::string copied(text, bytes);
  std::free(text);
  return copied;
}

bool has_tcp(ucp_context_h context) { return description(context).find(" tcp/") != std::string::npos; }

// "... resource 1 : md 1 dev 1 flags -- tcp/eth0"
bool has_only_tcp(ucp_context_h context) {
  std::istringstream lines(description(context));
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" resource ") == std::string::npos) continue;
    const std::string_view transport = std::string_view(line).substr(line.rfind(' ') + 1);
    if (transport.starts_with("self/")) continue;
    if (!transport.starts_with("tcp/")) return false;
    found = true;
  }
  return found;
}

}  // namespace

Context make_context(const char* device, bool survives) {
  if (std::getenv(buffer_variable) == nullptr) {
    const Config config = read_config(device, survives);
    (void)ucp_config_modify(config.get(), name_in_config(buffer_variable), buffer_bytes);
    if (survives && std::getenv(copy_variable) == nullptr)
      (void)ucp_config_modify(config.get(), name_in_config(copy_variable), buffer_bytes);
    if (survives && std::getenv(connecting_variable) == nullptr)
      (void)ucp_config_modify(config.get(), name_in_config(connecting_variable), "y");
    if (Context context = init(config); has_tcp(context.get())) return context;
    // UCX would warn of a setting that none of its transports knows.
  }
  return init(read_config(device, survives));
}

// The user's setting may be smaller.
std::size_t longest_at_once(ucp_context_h context) {
  return std::getenv(buffer_variable) == nullptr && has_only_tcp(context) ? at_once : 0;
}

bool must_post_at_once(ucp_context_h context) {
  return longest_at_once(context) != 0 && std::getenv(copy_variable) == nullptr &&
         std::getenv(copies.variable) == nullptr && is_before(14);
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
