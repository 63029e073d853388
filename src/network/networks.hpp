// What a rank has of the network that leads to other nodes: which one that is, and its ends. Who adds a network adds it in networks.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/node/node.hpp"
#include "base/threads/component.hpp"
#include "network/component.hpp"
#include "network/directory.hpp"
#include "network/network.hpp"
#include "network/watch.hpp"

namespace heddle::lln {

// The component of this name or path, which stays loaded until the process ends. Null, and why.
const Component* load_network(const std::string& name, std::string& why,
                              const threads::Opener& open = threads::open_for_process);

class Networks {
 public:
  struct Settings {
    std::string network;  // HEDDLE_LLN; empty: the one for nodes that are pretended, or the first that loads
    std::string rails;    // HEDDLE_RAILS: how many, or the device of each; empty: one, over any
    bool pretended;       // the nodes are on one machine
    // Of nodes that are real: what all ranks hold of a word, which is the first that one of them has proposed.
    std::function<std::uint64_t(std::uint64_t)> agree;
    std::uint64_t seed;    // for networks with accidents
    bool is_narrow;        // the network for tests is (lln/loopback)
    threads::Opener open;  // of components
    // Of a job that survives failures: whether this rank has failed, or anybody has. None: the job ends with a rank that fails.
    std::function<bool(int)> is_gone;
    // Ends the job, with a sentence that says why.
    std::function<void(const char*)> fail;
    // Says what the user should know.
    std::function<void(const char*)> note;
    Secret secret;        // of the job
    std::uint64_t bound;  // bytes that the unexpected messages of one peer may occupy on one VNI
  };
  // Gives an end back to where it comes from.
  struct Close {
    const Component* component = nullptr;  // null: it is part of the library
    void operator()(Network* network) const;
  };
  using End = std::unique_ptr<Network, Close>;

  // Of a rank, whose threads sleep on the doorbell. Throws std::runtime_error: no such network can be had.
  Networks(Directory& directory, node::Doorbell& bell, const Place& place, Settings settings);

  // The end of one VNI. Throws std::runtime_error: the machine has none left.
  End open(int vni);
  Watch& watch() { return *watch_; }
  // What HEDDLE_LLN calls it, or the component itself where that is a path.
  std::string_view name() const;
  int rails() const { return static_cast<int>(devices_.size()); }
  std::uint64_t bound() const { return settings_.bound; }

 private:
  void choose();
  void load_first();
  void choose_rails();
  using Lost = FunctionRef<void(int peer, const char* text)>;
  End open_rails(int vni, Lost lost);
  End open_rail(int vni, std::size_t rail, Lost lost);
  void agree() const;

  Directory& directory_;
  std::optional<Watch> watch_;  // once a network is chosen: its helper needs it from then on
  Place place_;
  Settings settings_;
  std::atomic<bool> noted_{false};
  std::function<void(const char*)> note_;  // once
  std::function<void(int, const char*)> end_job_;
  std::string title_;                     // of the network, in messages
  const Component* component_ = nullptr;  // null: loopback
  std::vector<std::string> devices_{""};  // of each rail; empty: any
};

}  // namespace heddle::lln
