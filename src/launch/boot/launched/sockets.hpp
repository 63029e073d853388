// The sockets over which the ranks of a job connect: inside a node an abstract Unix socket, which is no file and ends
// with its owner, and whose name is random; between nodes TCP, opened with the job's secret.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/boot/launched/connection.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

using lln::keyed_hash;
using lln::random_word;
using lln::Secret;

// Closed: another process of this node has that name.
Descriptor listen_locally(const std::string& name);
// Closed: no process of this node has the name, or another user has.
Connection connect_locally(const std::string& name);
// Accepts the next connection; closed: there is none. Processes of other users are rejected; `foreign_count` counts them.
Connection accept_locally(const Descriptor& listener, int& foreign_count);

// TCP ports that a firewall leaves open (HEDDLE_PORTS); the default: chosen by the kernel.
struct Ports {
  int first = 0;
  int last = 0;
};
// From "FIRST-LAST", or one number.
Result<Ports> read_ports(const char* text);
// From the environment.
Result<Ports> read_ports();

// On all networks, at the first of the ports that is free.
struct Listener {
  Descriptor socket{};
  int port = 0;
};
Result<Listener> listen_on_networks(const Ports& ports);
// The addresses by which other machines may reach this one, the most likely first.
std::vector<std::string> own_addresses();
// Closed: no peer that knows the secret was reached in time.
Connection connect_to(const std::vector<std::string>& addresses, int port, const Secret& secret, std::int64_t deadline);
// Accepts a connection; closed: there is none.
Connection accept_from_network(const Descriptor& listener);
// After accept: requests a proof of the secret. Then the frame with the answer: false: the peer does not know it.
std::uint64_t challenge(Connection& unverified);
bool is_proof(Connection& unverified, const Frame& frame, const Secret& secret, std::uint64_t nonce);

}  // namespace heddle::boot
