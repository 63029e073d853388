// The network of a rank to other nodes: its selection and its ends. A new network is registered in networks.cpp.
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
#include "base/result.hpp"
#include "base/threads/component.hpp"
#include "network/component.hpp"
#include "network/directory.hpp"
#include "network/network.hpp"
#include "network/watch.hpp"

namespace heddle::lln {

// The component of this name or path, which stays loaded until the process ends.
Result<const Component*> load_network(const std::string& name, const threads::Opener& open = threads::open_for_process);

class Networks {
 public:
  struct Settings {
    std::string network;  // HEDDLE_LLN; empty: the network for simulated nodes, or the first that loads
    std::string rails;    // HEDDLE_RAILS: their number, or the device of each; empty: one, over any device
    bool pretended;       // simulated nodes on one machine
    // On real nodes: the word that all ranks agree on, the first one that a rank has proposed.
    std::function<std::uint64_t(std::uint64_t)> agree;
    std::uint64_t seed;    // for networks that simulate faults
    bool is_narrow;        // the test network (network/loopback) is narrow
    threads::Opener open;  // of components
    // In a job that survives failures: true if this rank has failed, or any rank for `any_peer`. Empty: a failed rank
    // ends the job.
    std::function<bool(int)> is_gone;
    // Ends the job, with a sentence that gives the reason.
    std::function<void(const char*)> fail;
    // Prints a note to the user.
    std::function<void(const char*)> note;
    Secret secret;        // of the job
    std::uint64_t bound;  // bytes that the unexpected messages of one peer may occupy on one VNI
  };
  // Returns an end to its creator.
  struct Close {
    const Component* component = nullptr;  // null: the network is part of the library
    void operator()(Network* network) const;
  };
  using End = std::unique_ptr<Network, Close>;

  // For a rank, whose threads block on the doorbell. Throws std::runtime_error: no such network is available.
  Networks(Directory& directory, node::Doorbell& bell, const Place& place, Settings settings);

  // The end of one VNI. Throws std::runtime_error: the machine has no resources left.
  End open(int vni);
  Watch& watch() { return *watch_; }
  // Its name in HEDDLE_LLN, or the component itself where that is a path.
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
  std::optional<Watch> watch_;  // once a network is chosen, which needs its thread from then on
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
