// libfabric as a loadable component.
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "base/threads/signals_blocked.hpp"
#include "network/ofi/ofi.hpp"
#include "network/ofi/provider.hpp"

namespace {

using namespace heddle::lln;

// Over the first provider that works. `why` receives the errors of the others.
Network* open(const Surroundings& surroundings, Why& why) {
  std::string tried;
  try {
    const heddle::threads::SignalsBlocked blocked;  // for the threads of libfabric
    for (ofi::Info& info : ofi::find_providers()) {
      if (*surroundings.device != '\0' && std::strcmp(surroundings.device, info->domain_attr->name) != 0) continue;
      const std::string name = std::string(info->fabric_attr->prov_name) + " on " + info->domain_attr->name;
      try {
        return new Ofi(surroundings, std::move(info));
      } catch (const std::runtime_error& error) {
        tried += (tried.empty() ? "" : "; ") + name + ": " + error.what();
      }
    }
  } catch (const std::exception& error) {
    tried = error.what();
  }
  if (tried.empty() && *surroundings.device != '\0')
    tried = "no provider has a domain of this name (fi_info -t FI_EP_RDM lists them)";
  std::snprintf(why.text, sizeof why.text, "%s", tried.c_str());
  return nullptr;
}

void close(Network* network) { delete network; }

constexpr Component component{component_layout, "ofi", open, close};

}  // namespace

extern "C" [[gnu::visibility("default")]] const heddle::lln::Component* heddle_network() { return &component; }
