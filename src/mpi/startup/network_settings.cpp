#include "mpi/startup/network_settings.hpp"

#include <dirent.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <memory>
#include <vector>

#include "launch/boot/edit_distance.hpp"
#include "network/network.hpp"
#include "network/network_names.hpp"

namespace heddle {
namespace {

using Names = std::vector<std::string>;

struct DeviceVariable {
  std::string_view network;
  const char* name;
};
constexpr DeviceVariable device_variables[] = {{"ucx", "UCX_NET_DEVICES"},
                                               {"ofi", "FI_NET_IFACE"},
                                               {"ofi", "FI_TCP_IFACE"},
                                               {"ofi", "FI_SOCKETS_IFACE"},
                                               {"ofi", "FI_UDP_IFACE"}};

// "a, b, c; did you mean b?"
std::string instead_of(std::string_view name, const Names& there) {
  std::string list;
  const std::string* nearest = nullptr;
  std::size_t least = name.size() / 2 + 1;  // more than half must match
  for (const std::string& one : there) {
    list += (list.empty() ? "" : ", ") + one;
    const std::size_t edits = boot::edit_distance(name, one);
    if (edits < least) nearest = &one;
    least = std::min(least, edits);
  }
  return list + (nearest != nullptr ? "; did you mean " + *nearest + '?' : "");
}

Names split(const std::string& text) {
  Names parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// From the kernel; empty: unknown.
Names devices_of_machine() {
  Names names;
  if (struct if_nameindex* const all = if_nameindex()) {
    for (const struct if_nameindex* one = all; one->if_index != 0; ++one) names.emplace_back(one->if_name);
    if_freenameindex(all);
  }
  for (const char* const folder : {"/sys/class/infiniband", "/sys/class/cxi"}) {
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder), closedir);
    while (const dirent* const entry = opened ? readdir(opened.get()) : nullptr)
      if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  return names;
}

// "mlx5_0:1" names a port of mlx5_0, and "rdmap0s6-rdm" a domain of rdmap0s6.
bool names_device(std::string_view text, std::string_view device) {
  return text.starts_with(device) &&
         (text.size() == device.size() || std::isalnum(static_cast<unsigned char>(text[device.size()])) == 0);
}

Result<void> check_devices(const char* variable, const std::string& value, const Names& wanted) {
  const Names there = devices_of_machine();
  if (there.empty()) return {};
  for (const std::string& name : wanted)
    if (std::ranges::none_of(there, [&](const std::string& device) { return names_device(name, device); }))
      return refuse("%s=%s: this machine has no network device %s, but %s", variable, value.c_str(), name.c_str(),
                    instead_of(name, there).c_str());
  return {};
}

}  // namespace

Result<void> check_network(const std::string& network, const std::string& rails) {
  const Names there = lln::network_names();
  const bool is_path = network.find('/') != std::string::npos;
  if (is_path && access(network.c_str(), F_OK) != 0) return refuse("HEDDLE_LLN=%s: no such file", network.c_str());
  if (!network.empty() && !is_path && std::ranges::find(there, network) == there.end())
    return refuse("HEDDLE_LLN=%s: unknown network. Known are %s", network.c_str(), instead_of(network, there).c_str());
  if (rails.empty()) return {};
  const Names names = split(rails);
  const bool is_number = rails.find_first_not_of("0123456789") == std::string::npos;
  if (is_number ? rails.size() != 1 || rails[0] < '1' || rails[0] > '0' + lln::most_rails
                : names.size() > static_cast<std::size_t>(lln::most_rails) || std::ranges::count(names, "") != 0)
    return refuse("HEDDLE_RAILS=%s is neither a number of rails from 1 to %d nor a list of as many devices",
                  rails.c_str(), lln::most_rails);
  return is_number ? Result<void>() : check_devices("HEDDLE_RAILS", rails, names);
}

Result<void> check_devices(std::string_view network) {
  for (const DeviceVariable& one : device_variables) {
    const char* const value = std::getenv(one.name);
    if (one.network != network || value == nullptr || *value == '\0') continue;
    const std::string text = value;
    // All except some of them, or patterns: UCX accepts these.
    if (text == "all" || text[0] == '^' || text.find_first_of("*?[") != std::string::npos) continue;
    if (Result<void> checked = check_devices(one.name, text, split(text)); !checked) return checked;
  }
  return {};
}

}  // namespace heddle
