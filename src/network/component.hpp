// The exports of a network component: lib/heddle/lln-NAME.so has one C symbol, a function without arguments that
// returns a table.
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

// The arguments for opening the end of a network. All of them outlive the end.
struct Surroundings {
  Directory& directory;
  Place place;
  Secret secret;  // of the job
  int vni;        // and the index of the rail, in steps of most_vnis
  // Ends the job with this sentence: messages are lost and cannot be sent again.
  FunctionRef<void(const char* text)> fail;
  // The same for messages to a peer that cannot be reached any more, or for a message from it (`any_peer`: the sender is
  // unknown). A job that survives failures goes on if the peer is given up soon.
  FunctionRef<void(int peer, const char* text)> lost;
  // Reports packets that are not of this job. One call is enough.
  FunctionRef<void(const char* text)> note;
  const char* device;  // the device to use, by the network's name for it; empty: any
  bool survives;       // the job survives failures: peers may be given up (Network::give_up)
};

struct Why {
  char text[384];
};

struct Component {
  std::uint32_t layout;  // layout of this table and of the contract: component_layout
  const char* name;      // its name in HEDDLE_LLN
  // The end of one VNI, which has published its address; deleted by close(). Null: it is not available, and the reason.
  Network* (*open)(const Surroundings&, Why&);
  void (*close)(Network*);
};
inline constexpr std::uint32_t component_layout = 5;

inline constexpr const char* component_entry = "heddle_network";
using ComponentEntry = const Component* (*)();

}  // namespace heddle::lln
