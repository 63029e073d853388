#include "launch/boot/launched/sockets.hpp"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <system_error>

namespace heddle::boot {
namespace {

// A first byte of 0: an abstract name, outside of file systems.
socklen_t abstract_address(const std::string& name, sockaddr_un& address) {
  address = {};
  address.sun_family = AF_UNIX;
  const std::size_t length = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
}

constexpr char ports_variable[] = "HEDDLE_PORTS";

bool is_of_this_user(int socket) {
  ucred other{};
  socklen_t bytes = sizeof other;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &other, &bytes) == 0 && other.uid == geteuid();
}

void set(int socket, int level, int option, int value) {
  (void)setsockopt(socket, level, option, &value, sizeof value);
}

// Data that the other machine does not acknowledge within 1.5 s, sent four times by then, end the connection; agents
// send a beat twice a second (agent.cpp). A stopped process acknowledges, but sends nothing: then the kernel probes by
// itself.
void keep_alive(int socket) {
  set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, 1);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 1500);
}

struct Address {
  sockaddr_storage storage{};
  socklen_t bytes = 0;
};

// `text` without a name server: numbers only. No bytes: it is no address.
Address address_of(const std::string& text, int port) {
  Address address;
  auto& four = reinterpret_cast<sockaddr_in&>(address.storage);
  auto& six = reinterpret_cast<sockaddr_in6&>(address.storage);
  if (inet_pton(AF_INET, text.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<std::uint16_t>(port));
    address.bytes = sizeof four;
  } else if (inet_pton(AF_INET6, text.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(static_cast<std::uint16_t>(port));
    address.bytes = sizeof six;
  }
  return address;
}

// Closed: not connected by the deadline.
Descriptor connect_by(const Address& address, std::int64_t deadline) {
  if (address.bytes == 0) return Descriptor();
  Descriptor made(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return made;
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&address.storage), address.bytes) == 0) return made;
  if (errno != EINPROGRESS) return Descriptor();
  pollfd writable{.fd = made.get(), .events = POLLOUT, .revents = 0};
  const auto left = static_cast<int>(std::max<std::int64_t>(0, deadline - milliseconds_now()));
  int error = 0;
  socklen_t bytes = sizeof error;
  if (poll(&writable, 1, left) <= 0 || getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) != 0 || error != 0)
    return Descriptor();
  return made;
}

std::string proof_text(char side, std::uint64_t nonce) { return side + std::to_string(nonce); }

// Verifies that the other end knows the secret, and proves that we do.
bool prove(Connection& connection, const Secret& secret, std::int64_t deadline) {
  const std::optional<Frame> asked = connection.receive_by(deadline, Frame::longest_unverified);
  if (!asked || asked->kind() != FrameKind::challenge) return false;
  const std::uint64_t nonce = random_word();
  connection.send(
      Frame(FrameKind::proof).add(keyed_hash(secret, proof_text('c', Fields(*asked).long_number()))).add(nonce));
  const std::optional<Frame> answer = connection.receive_by(deadline, Frame::longest_unverified);
  return answer && answer->kind() == FrameKind::proof &&
         Fields(*answer).long_number() == keyed_hash(secret, proof_text('s', nonce));
}

}  // namespace

Descriptor listen_locally(const std::string& name) {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address;
  const socklen_t bytes = abstract_address(name, address);
  if (!made || bind(made.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      listen(made.get(), SOMAXCONN) != 0)
    return Descriptor();
  return made;
}

Connection connect_locally(const std::string& name) {
  Descriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address;
  const socklen_t bytes = abstract_address(name, address);
  if (!made || connect(made.get(), reinterpret_cast<const sockaddr*>(&address), bytes) != 0 ||
      !is_of_this_user(made.get()))
    return {};
  return Connection(std::move(made));
}

Connection accept_locally(const Descriptor& listener, int& foreign_count) {
  while (true) {
    Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!made && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (!made) return {};
    if (is_of_this_user(made.get())) return Connection(std::move(made));
    ++foreign_count;
  }
}

Result<Ports> read_ports(const char* text) {
  Ports ports;
  const char* const end = text + std::strlen(text);
  std::from_chars_result read = std::from_chars(text, end, ports.first);
  ports.last = ports.first;
  if (read.ec == std::errc() && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, ports.last);
  if (read.ec == std::errc() && read.ptr == end && ports.first >= 1 && ports.last >= ports.first && ports.last <= 65535)
    return ports;
  return refuse("invalid value '%.40s' for %s: must be FIRST-LAST, two TCP ports from 1 to 65535", text,
                ports_variable);
}

Result<Ports> read_ports() {
  const char* const text = std::getenv(ports_variable);
  return text == nullptr || *text == '\0' ? Ports() : read_ports(text);
}

Result<Listener> listen_on_networks(const Ports& ports) {
  int error = 0;
  for (const int family : {AF_INET6, AF_INET})
    for (int port = ports.first; port <= ports.last; ++port) {
      Descriptor made(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
      if (!made) break;
      if (family == AF_INET6) set(made.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
      // Connections of an ended job keep its port for a minute, although nothing listens there.
      set(made.get(), SOL_SOCKET, SO_REUSEADDR, 1);
      Address any = address_of(family == AF_INET6 ? "::" : "0.0.0.0", port);
      auto* const address = reinterpret_cast<sockaddr*>(&any.storage);
      if (bind(made.get(), address, any.bytes) == 0 && listen(made.get(), SOMAXCONN) == 0 &&
          getsockname(made.get(), address, &any.bytes) == 0) {
        const in_port_t chosen = family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(address)->sin6_port
                                                    : reinterpret_cast<const sockaddr_in*>(address)->sin_port;
        return Listener{std::move(made), ntohs(chosen)};
      }
      error = errno;
    }
  if (ports.first == 0 || error == 0) return refuse("cannot open a TCP port: there is no network");
  return refuse("no TCP port of HEDDLE_PORTS=%d-%d can be opened: %s. Give a range with a free port", ports.first,
                ports.last, std::strerror(error));
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> four, six;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {};
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    char text[INET6_ADDRSTRLEN];
    if (one->ifa_addr->sa_family == AF_INET) {
      const auto& address = reinterpret_cast<const sockaddr_in&>(*one->ifa_addr);
      if (inet_ntop(AF_INET, &address.sin_addr, text, sizeof text) != nullptr) four.emplace_back(text);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      const auto& address = reinterpret_cast<const sockaddr_in6&>(*one->ifa_addr);
      if (!IN6_IS_ADDR_LINKLOCAL(&address.sin6_addr) &&
          inet_ntop(AF_INET6, &address.sin6_addr, text, sizeof text) != nullptr)
        six.emplace_back(text);
    }
  }
  freeifaddrs(all);
  four.insert(four.end(), six.begin(), six.end());
  // Ranks of one machine that simulate several (HEDDLE_NODES) need no network.
  four.emplace_back("127.0.0.1");
  return four;
}

Connection connect_to(const std::vector<std::string>& addresses, int port, const Secret& secret,
                      std::int64_t deadline) {
  for (const std::string& address : addresses) {
    // An unreachable address must not use up the time of the others.
    const std::int64_t by = std::min(deadline, milliseconds_now() + 3000);
    Connection made(connect_by(address_of(address, port), by));
    if (!made.is_open() || !prove(made, secret, by)) continue;
    keep_alive(made.fd());
    return made;
  }
  return {};
}

Connection accept_from_network(const Descriptor& listener) {
  Descriptor made(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (made) keep_alive(made.get());
  return Connection(std::move(made));
}

std::uint64_t challenge(Connection& unverified) {
  const std::uint64_t nonce = random_word();
  unverified.send(Frame(FrameKind::challenge).add(nonce));
  return nonce;
}

bool is_proof(Connection& unverified, const Frame& frame, const Secret& secret, std::uint64_t nonce) {
  Fields fields(frame);
  const std::uint64_t hash = fields.long_number(), theirs = fields.long_number();
  if (frame.kind() != FrameKind::proof || !fields.complete() || hash != keyed_hash(secret, proof_text('c', nonce)))
    return false;
  unverified.send(Frame(FrameKind::proof).add(keyed_hash(secret, proof_text('s', theirs))));
  return true;
}

}  // namespace heddle::boot
