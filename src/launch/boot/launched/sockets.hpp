// The sockets that the ranks of a job find each other by: inside a node an abstract Unix socket, which is no file and
// goes with its owner, and whose name is random; between nodes TCP, opened with the job's secret.
#pragma once

#include <string>
#include <vector>

#include "launch/boot/launched/connection.hpp"
#include "launch/boot/problem.hpp"
#include "network/keyed_hash.hpp"

namespace heddle::boot {

using lln::keyed_hash;
using lln::random_word;
using lln::Secret;

// Closed: another process of this node has that name.
Descriptor listen_locally(const std::string& name);
// Closed: nobody of this node has the name, or another user.
Connection connect_locally(const std::string& name);
// The next one who has connected; closed: there is none. Processes of other users are left out; `strangers` counts
// them.
Connection accept_locally(const Descriptor& listener, int& strangers);

// TCP ports that a firewall leaves open (HEDDLE_PORTS); the default: whichever the kernel chooses.
struct Ports {
  int first = 0;
  int last = 0;
};
// From "FIRST-LAST", or one number. False: it is neither, and `problem` says so.
bool read_ports(const char* text, Ports& ports, Problem& problem);
// Of the environment.
bool read_ports(Ports& ports, Problem& problem);

// On all networks, at the first of the ports that is free; port 0: there is none, and `why` says so.
struct Listener {
  Descriptor socket{};
  int port = 0;
  std::string why{};
};
Listener listen_on_networks(const Ports& ports);
// The addresses of this machine that others may reach it by, the most likely first.
std::vector<std::string> own_addresses();
// Closed: nobody is there in time who knows the secret.
Connection connect_to(const std::vector<std::string>& addresses, int port, const Secret& secret, std::int64_t deadline);
// Whoever has connected; a closed one: nobody.
Connection accept_from_network(const Descriptor& listener);
// After accept: asks for the secret. Then the frame with the answer to it: false: the other does not know it.
std::uint64_t challenge(Connection& stranger);
bool is_proof(Connection& stranger, const Frame& frame, const Secret& secret, std::uint64_t nonce);

}  // namespace heddle::boot
