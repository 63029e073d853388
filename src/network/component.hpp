// What a network that is loaded exports: lib/heddle/lln-NAME.so has one C symbol, a function without arguments that returns a table.
//
// No exception crosses the border between the library and a component: each has a C++ runtime of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "network/keyed_hash.hpp"
#include "network/membership.hpp"
#include "network/network.hpp"

namespace heddle::lln {

class Directory;

// What the end of a network is given. All of it outlives the end.
struct Surroundings {
  Directory& directory;
  Place place;
  Secret secret;  // of the job
  int vni;        // and, in steps of most_vnis, which rail it is
  // Ends the job with this sentence, which says what happened to whom: what was sent is lost and cannot be sent again.
  FunctionRef<void(const char* text)> fail;
  // The same of what was sent to a peer that cannot be reached any more, or of a message that was coming (from `anybody`: it cannot be told from
  // whom). Where the job survives failures it goes on, if the peer is given up soon.
  FunctionRef<void(int peer, const char* text)> lost;
  // Says that packets come which are not of this job. Once is enough.
  FunctionRef<void(const char* text)> note;
  const char* device;  // that it is to use, as the network calls it; empty: whichever it finds
  bool survives;       // failures: peers may be given up (Network::give_up)
};

struct Why {
  char text[384];
};

struct Component {
  std::uint32_t layout;  // of this table and of the contract: component_layout
  const char* name;      // what HEDDLE_LLN calls it
  // The end of one VNI, which has published its address; deleted by close(). Null: it can't be had, and why.
  Network* (*open)(const Surroundings&, Why&);
  void (*close)(Network*);
};
inline constexpr std::uint32_t component_layout = 5;

inline constexpr const char* component_entry = "heddle_network";
using ComponentEntry = const Component* (*)();

}  // namespace heddle::lln
