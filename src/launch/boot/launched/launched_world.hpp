// The World of a job that another launcher has started. The ranks of a node share a segment that the node's agent has
// made; their requests to other nodes go through the agents (agent.hpp).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "base/platform/zeroed_array.hpp"
#include "base/result.hpp"
#include "launch/boot/launched/agent.hpp"
#include "launch/boot/launched/member.hpp"
#include "launch/boot/wireup.hpp"
#include "launch/boot/world.hpp"

namespace heddle::boot {

class LaunchedWorld final : public World, public Ending {
 public:
  // Collective over the job. Takes the wire-up, which after most failures the caller still has.
  static Result<std::unique_ptr<World>> join(std::unique_ptr<Wireup>& wireup);

  std::uint64_t agreed(int word) const override;
  std::uint64_t agree(int word, std::uint64_t proposal) override;
  Result<std::string> ask_launcher(const std::string& request) override;
  std::vector<ProcessSet> process_sets() override;
  [[noreturn]] void abort(int code, const char* text) override;
  void leave() override;
  void end_in_process() override;
  void say(const char* text) override;
  [[noreturn]] void end(int code, int milliseconds) override;
  int time_to_be_ended() const override;

  // A card of another node's rank is fetched at its first use: until it has come there is no entry.
  std::span<const std::byte> find(int peer, int vni) const override;
  bool publish(int vni, std::span<const std::byte> address) override;

 private:
  LaunchedWorld(const std::shared_ptr<platform::SparseMemory>& segment, std::unique_ptr<Wireup> wireup,
                Connection agent, int agent_rank);
  void begin(Gathered gathered, int timeout);
  bool is_first_to_abort();
  void leave_time() const;
  // At the end of the process, or of the thread that is the rank.
  static void linger(int exit_status, void* agents_world);

  std::unique_ptr<Wireup> wireup_;
  mutable Member member_;
  std::unique_ptr<Agent> agent_;                    // of the node's agent
  std::mutex mutex_;                                // guards our own card
  platform::ZeroedArray<std::atomic<bool>> asked_;  // by rank: true if its card is requested
  std::atomic<bool> left_{false};
};

}  // namespace heddle::boot
