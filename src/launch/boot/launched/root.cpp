#include "launch/boot/launched/root.hpp"

#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>

#include "launch/boot/launched/sockets.hpp"

namespace heddle::boot {
namespace {

constexpr std::int64_t unverified_limit = 5'000;  // milliseconds to prove knowledge of the secret
constexpr std::int64_t refusal_time = 5'000;      // milliseconds in which all others connect to receive the refusal

// A connection that is not verified yet.
struct Guest {
  Connection link;
  std::uint64_t nonce;
  std::int64_t since;
  bool known = false;  // the secret
};

// Each other node has a connection to this process, and there are at most as many nodes as ranks. The program's limit
// stays where it is high enough.
void make_room_for_connections(int ranks) {
  constexpr rlim_t others = 64;
  const rlim_t wanted = static_cast<rlim_t>(ranks) + others;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

bool read_node(const Frame& frame, int size, NodeLink& node) {
  Fields fields(frame);
  node.agent = fields.index();
  const std::uint32_t count = fields.number();
  if (count > static_cast<std::uint32_t>(size)) return false;
  for (std::uint32_t i = 0; i < count; ++i) {
    node.ranks.push_back(fields.index());
    if (node.ranks.back() < 0 || node.ranks.back() >= size) return false;
  }
  node.host = fields.rest().substr(0, 64);
  const bool has_agent = std::find(node.ranks.begin(), node.ranks.end(), node.agent) != node.ranks.end();
  return fields.complete() && has_agent;
}

}  // namespace

bool number_ranks(int size, Gathered& gathered) {
  std::vector<bool> seen(static_cast<std::size_t>(size));
  gathered.first_ranks.clear();
  gathered.order.clear();
  for (const NodeLink& node : gathered.nodes) {
    gathered.first_ranks.push_back(static_cast<int>(gathered.order.size()));
    for (const int rank : node.ranks) {
      if (rank < 0 || rank >= size || seen[static_cast<std::size_t>(rank)]) return false;
      seen[static_cast<std::size_t>(rank)] = true;
      gathered.order.push_back(rank);
    }
  }
  gathered.first_ranks.push_back(size);
  if (gathered.order.size() != static_cast<std::size_t>(size)) return false;
  if (std::is_sorted(gathered.order.begin(), gathered.order.end())) gathered.order.clear();
  return true;
}

Result<void> gather_agents(const Descriptor& listener, const Secret& secret, int size, Gathered& gathered) {
  make_room_for_connections(size);
  std::vector<Guest> guests;
  std::size_t ranks = gathered.nodes.front().ranks.size();
  int foreign_count = 0;
  std::string refusal;
  std::int64_t deadline = milliseconds_now() + root_limit;
  const auto hear = [&](Guest& guest, const Frame& frame) {
    NodeLink node;
    if (!guest.known) {
      guest.known = is_proof(guest.link, frame, secret, guest.nonce);
      if (!guest.known) guest.link.close();
    } else if (frame.kind() == FrameKind::refused) {
      // A refusal of one rank. The others that are still connecting must receive it, too.
      if (refusal.empty()) deadline = milliseconds_now() + refusal_time;
      refusal = frame.fields();
      ++ranks;
    } else if (frame.kind() == FrameKind::node && read_node(frame, size, node)) {
      ranks += node.ranks.size();
      node.link = std::move(guest.link);
      gathered.nodes.push_back(std::move(node));
    } else {
      guest.link.close();
    }
  };
  while (ranks < static_cast<std::size_t>(size) && milliseconds_now() < deadline) {
    std::vector<pollfd> readable{{.fd = listener.get(), .events = POLLIN, .revents = 0}};
    for (const Guest& guest : guests) readable.push_back({.fd = guest.link.fd(), .events = POLLIN, .revents = 0});
    (void)poll(readable.data(), readable.size(), 200);
    for (Guest& guest : guests) {
      const std::size_t most = guest.known ? Frame::longest : Frame::longest_unverified;
      guest.link.read();
      // A frame at a time: the one after a proof may be longer.
      if (const std::optional<Frame> frame = guest.link.next(most)) hear(guest, *frame);
      if (!guest.known && milliseconds_now() - guest.since > unverified_limit) guest.link.close();
      if (!guest.link.is_open() && !guest.known) ++foreign_count;
    }
    std::erase_if(guests, [](const Guest& guest) { return !guest.link.is_open(); });
    for (Connection link = accept_from_network(listener); link.is_open(); link = accept_from_network(listener)) {
      const std::uint64_t nonce = challenge(link);
      guests.push_back({std::move(link), nonce, milliseconds_now()});
    }
  }
  if (foreign_count > 0)
    std::fprintf(stderr, "heddle: closed %d connections to rank 0 that did not prove the job's secret\n",
                 foreign_count);
  if (!refusal.empty()) {
    for (Guest& guest : guests) guest.link.send(Frame(FrameKind::refused).add(std::string_view(refusal)));
    return Failure{.text = refusal};
  }
  std::sort(gathered.nodes.begin(), gathered.nodes.end(),
            [](const NodeLink& a, const NodeLink& b) { return a.ranks.front() < b.ranks.front(); });
  if (!number_ranks(size, gathered))
    return refuse("only %zu of %d ranks have connected in %d s", ranks, size, static_cast<int>(root_limit / 1000));
  for (std::size_t node = 1; node < gathered.nodes.size(); ++node) {
    Frame frame(FrameKind::nodes);
    frame.add(static_cast<std::uint32_t>(node)).add(gathered.node_count());
    for (const int first : gathered.first_ranks) frame.add(first);
    for (const int rank : gathered.order) frame.add(rank);
    gathered.nodes[node].link.send(frame);
  }
  return {};
}

}  // namespace heddle::boot
