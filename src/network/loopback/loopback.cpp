#include "network/loopback/loopback.hpp"

#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace heddle::lln {

namespace {

constexpr Traits what_it_can{.eager = 1500, .ordered = false, .longs = 0};

constexpr std::uint32_t refused_in = 8;  // one of so many posts
constexpr std::uint32_t most_polls = 4;  // the most polls that a message is held for
constexpr std::size_t most_held = 64;    // further ones wait in the socket, and their senders behind it
constexpr std::int64_t millisecond = 1'000'000;

[[noreturn]] void no_sockets() {
  throw std::runtime_error("no socket for the network: " + std::string(std::strerror(errno)));
}

int make_socket() {
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) no_sockets();
  return made;
}

bool watch(int events, int fd, std::uint32_t what) {
  epoll_event wanted{.events = what, .data = {.fd = fd}};
  return epoll_ctl(events, EPOLL_CTL_ADD, fd, &wanted) == 0;
}

}  // namespace

Loopback::Loopback(const Surroundings& surroundings, std::uint64_t seed, bool is_narrow)
    : directory_(surroundings.directory),
      rank_(surroundings.place.rank),
      vni_(surroundings.vni),
      is_narrow_(is_narrow),
      membership_(surroundings.secret, surroundings.place, vni_),
      fail_(surroundings.fail),
      note_(surroundings.note),
      socket_(make_socket()),
      events_(epoll_create1(EPOLL_CLOEXEC)),
      holds_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      packet_(sizeof(PacketHead) + what_it_can.eager),
      random_((seed << 40 ^ static_cast<std::uint64_t>(rank_) << 8 ^ static_cast<std::uint32_t>(vni_)) * 2 + 1) {
  for (int i = 0; i < 8; ++i) (void)random(2);  // discard the first values, which resemble the seed
  if (events_ < 0 || holds_ < 0 || !watch(events_, socket_, EPOLLIN) || !watch(events_, holds_, EPOLLIN)) no_sockets();
  // The kernel finds an unused name.
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address.sun_family) != 0) no_sockets();
  socklen_t bytes = sizeof address;
  if (getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) no_sockets();
  if (!directory_.publish(vni_, membership_.seal({reinterpret_cast<const std::byte*>(&address), bytes}))) {
    errno = ENOSPC;
    no_sockets();
  }
}

Loopback::~Loopback() {
  for (const auto& [number, there] : peers_)
    if (there.socket >= 0) close(there.socket);
  for (const int fd : {holds_, events_, socket_}) close(fd);
}

const Traits& Loopback::traits() const { return what_it_can; }

// ---- sending

// False: the peer has published no address yet, or no socket is available now. Throws std::bad_alloc.
bool Loopback::connect(int peer, Peer& there) {
  const std::span<const std::byte> address = membership_.unseal(peer, directory_.find(peer, vni_));
  sockaddr_un there_at{};
  if (address.empty() || address.size() > sizeof there_at) return false;
  std::memcpy(&there_at, address.data(), address.size());
  there.token = membership_.token_of(peer);
  const int made = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (made < 0) return false;
  // A peer that has gone receives nothing any more: messages to it are lost with it.
  if (::connect(made, reinterpret_cast<const sockaddr*>(&there_at), static_cast<socklen_t>(address.size())) != 0 &&
      errno != ECONNREFUSED) {
    close(made);
    return false;
  }
  there.socket = made;
  return watch(events_, made, 0);
}

bool Loopback::has_room(const Peer& there) const {
  if (!is_narrow_) return true;
  int unread = 0;
  return ioctl(there.socket, SIOCOUTQ, &unread) != 0 || unread == 0;
}

// The first message to a peer needs memory. An answer may be the first one, and must not fail for lack of it.
Posted Loopback::post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) try {
  Peer& there = peers_[peer];
  if (there.given_up) return Posted::done;
  if (bytes > what_it_can.eager || random(refused_in) == 0) return Posted::busy;
  if (there.socket < 0 && !connect(peer, there)) return Posted::busy;
  if (!has_room(there)) return Posted::busy;
  const PacketHead head = head_of(envelope, there.token, rank_);
  std::memcpy(packet_.data(), &head, sizeof head);
  fill(packet_.data() + sizeof head);
  if (send(there.socket, packet_.data(), sizeof head + bytes, MSG_NOSIGNAL) < 0 &&
      (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM || errno == EINTR))
    return Posted::busy;
  return Posted::done;
} catch (const std::bad_alloc&) {
  return Posted::busy;
}

void Loopback::watch_room(Peer& there, bool wanted) {
  epoll_event event{.events = wanted ? static_cast<std::uint32_t>(EPOLLOUT) : 0, .data = {.fd = there.socket}};
  (void)epoll_ctl(events_, EPOLL_CTL_MOD, there.socket, &event);
  there.room_wanted = wanted;
}

// Messages wait for a peer only in the socket that leads there.
void Loopback::give_up(int peer) {
  Peer& there = peers_[peer];
  there.given_up = true;
  there.room_wanted = false;
  if (there.socket >= 0) close(std::exchange(there.socket, -1));
}

void Loopback::want_room(int peer) {
  const auto there = peers_.find(peer);
  if (there == peers_.end() || there->second.socket < 0) {
    peers_unknown_ = true;  // also where it was given up: threads that wait for room there do not know it yet
  } else if (!there->second.room_wanted) {
    watch_room(there->second, true);
  }
}

void Loopback::forget_room() {
  for (auto& [number, there] : peers_)
    if (there.room_wanted) watch_room(there, false);
}

std::int64_t Loopback::poll_again_after() const { return peers_unknown_ ? millisecond : 0; }

// ---- receiving

// Allocate first, so that no received message is lost for lack of memory. Receive at most as many messages as may be
// held, also if senders are faster than our polls.
void Loopback::receive() {
  held_.reserve(most_held);
  for (std::size_t i = 0; i < most_held && held_.size() < most_held; ++i) {
    incoming_.resize(packet_.size());
    const ssize_t bytes = recv(socket_, incoming_.data(), incoming_.size(), 0);
    if (bytes < 0) break;
    incoming_.resize(static_cast<std::size_t>(bytes));
    if (is_of_job(incoming_)) held_.push_back({random(most_polls), std::exchange(incoming_, {})});
  }
}

bool Loopback::is_of_job(std::span<const std::byte> packet) {
  PacketHead head{};
  std::memcpy(&head, packet.data(), std::min(packet.size(), sizeof head));
  if (!membership_.admits(head)) {
    note_("dropped foreign packets, which are not of this job (loopback)");
    return false;
  }
  if (packet.size() >= sizeof head && membership_.is_well_formed(head)) return true;
  fail_("malformed packet from another node (loopback): a rank of the job is damaged");
  return false;
}

int Loopback::poll(int most, Sink sink) {
  peers_unknown_ = false;
  int handed = 0;
  try {
    receive();
  } catch (...) {
    say_held();
    throw;
  }
  for (std::size_t i = 0; i < held_.size() && handed < most;) {
    if (held_[i].polls != 0) {
      --held_[i++].polls;
      continue;
    }
    PacketHead head;
    const std::vector<std::byte>& packet = held_[i].packet;
    std::memcpy(&head, packet.data(), sizeof head);
    if (!sink(head.sender, envelope_of(head), packet.data() + sizeof head, packet.size() - sizeof head)) break;
    std::swap(held_[i], held_.back());
    held_.pop_back();
    ++handed;
  }
  say_held();
  return handed;
}

// Held messages are deferred work: they keep threads spinning, or wake them.
void Loopback::say_held() {
  const bool any = !held_.empty();
  if (any == any_held_.load(std::memory_order_relaxed)) return;
  any_held_.store(any, std::memory_order_relaxed);
  std::uint64_t count = 1;
  if (any) {
    (void)!write(holds_, &count, sizeof count);
  } else {
    (void)!read(holds_, &count, sizeof count);
  }
}

bool Loopback::arrived() const {
  if (any_held_.load(std::memory_order_relaxed)) return true;
  pollfd readable{.fd = socket_, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, 0) > 0;
}

// xorshift64*
std::uint32_t Loopback::random(std::uint32_t below) {
  random_ ^= random_ >> 12;
  random_ ^= random_ << 25;
  random_ ^= random_ >> 27;
  return static_cast<std::uint32_t>((random_ * 0x2545f4914f6cdd1d) >> 32) % below;
}

}  // namespace heddle::lln
