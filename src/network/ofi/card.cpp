#include "network/ofi/card.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "network/machine.hpp"
#include "network/ofi/provider.hpp"

namespace heddle::lln::ofi {

namespace {

// In front of the address.
struct Card {
  char provider[48];
  std::uint64_t machine;
};

}  // namespace

std::vector<std::byte> make_card(const fi_info* info, fid_ep* endpoint) {
  Card head{};
  std::snprintf(head.provider, sizeof head.provider, "%s", info->fabric_attr->prov_name);
  head.machine = this_machine();
  std::byte address[512];
  std::size_t bytes = sizeof address;
  check(fi_getname(&endpoint->fid, address, &bytes), "fi_getname");
  std::vector<std::byte> card(sizeof head + bytes);
  std::memcpy(card.data(), &head, sizeof head);
  std::copy_n(address, bytes, card.begin() + sizeof head);
  return card;
}

Result<const void*> read_card(const fi_info* info, std::span<const std::byte> card) {
  Card head;
  if (card.size() <= sizeof head || card.size() - sizeof head < info->src_addrlen)
    return refuse("its address is malformed");
  std::memcpy(&head, card.data(), sizeof head);
  head.provider[sizeof head.provider - 1] = '\0';
  if (std::strcmp(info->fabric_attr->prov_name, head.provider) != 0)
    return refuse("it uses the provider %s. Set FI_PROVIDER to the same on all nodes", head.provider);
  if (reach_of(info) == Reach::machine && head.machine != this_machine())
    return refuse(
        "only the interface %s is usable here, and it does not lead to other machines. Check FI_PROVIDER and the "
        "addresses of the interfaces",
        info->domain_attr->name);
  return card.data() + sizeof head;
}

}  // namespace heddle::lln::ofi
