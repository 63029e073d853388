#include "network/ofi/provider.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <string_view>

namespace heddle::lln::ofi {

namespace {

// Providers over kernel sockets, ordered by speed: half a round trip of 8 bytes between two network namespaces,
// docs/guides/networks.md. All others are made for some hardware, and are preferred where they are available.
constexpr std::string_view over_sockets[] = {"udp;ofi_rxd", "UDP", "sockets", "net;ofi_rxm",
                                             "tcp;ofi_rxm", "net", "tcp"};

int rank_of(const fi_info* info) {
  const auto* const at = std::find(std::begin(over_sockets), std::end(over_sockets), info->fabric_attr->prov_name);
  return static_cast<int>(at - std::begin(over_sockets));
}

Info hints() {
  Info wanted(fi_allocinfo());
  if (!wanted) throw std::bad_alloc();
  wanted->caps = FI_MSG | FI_TAGGED | FI_REMOTE_COMM;
  wanted->mode = FI_CONTEXT | FI_CONTEXT2;
  wanted->ep_attr->type = FI_EP_RDM;
  wanted->domain_attr->threading = FI_THREAD_DOMAIN;
  wanted->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  wanted->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  wanted->domain_attr->resource_mgmt = FI_RM_ENABLED;
  wanted->tx_attr->msg_order = FI_ORDER_SAS;
  wanted->rx_attr->msg_order = FI_ORDER_SAS;
  return wanted;
}

}  // namespace

Reach reach_of(const fi_info* info) {
  if (info->src_addr == nullptr) return Reach::all;
  if (info->addr_format == FI_SOCKADDR_IN) {
    const in_addr_t address = ntohl(static_cast<const sockaddr_in*>(info->src_addr)->sin_addr.s_addr);
    return address >> 24 == IN_LOOPBACKNET ? Reach::machine : Reach::all;
  }
  if (info->addr_format == FI_SOCKADDR_IN6) {
    const in6_addr& address = static_cast<const sockaddr_in6*>(info->src_addr)->sin6_addr;
    return IN6_IS_ADDR_LOOPBACK(&address) ? Reach::machine : IN6_IS_ADDR_LINKLOCAL(&address) ? Reach::wire : Reach::all;
  }
  return Reach::all;
}

std::vector<Info> find_providers() {
  const Info wanted = hints();
  fi_info* read = nullptr;
  const int result = fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, wanted.get(), &read);
  if (result == -FI_ENODATA)
    throw std::runtime_error(
        "no suitable provider of libfabric found. Check FI_PROVIDER; `fi_info -t FI_EP_RDM` "
        "lists the providers");
  check(result, "fi_getinfo");
  const Info all(read);
  std::vector<Info> found;
  for (const fi_info* one = all.get(); one != nullptr; one = one->next) {
    Info copy(fi_dupinfo(one));
    if (!copy) throw std::bad_alloc();
    found.push_back(std::move(copy));
  }
  std::stable_sort(found.begin(), found.end(), [](const Info& a, const Info& b) {
    if (reach_of(a.get()) != reach_of(b.get())) return reach_of(a.get()) > reach_of(b.get());
    return rank_of(a.get()) > rank_of(b.get());
  });
  return found;
}

}  // namespace heddle::lln::ofi
