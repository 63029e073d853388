// A network in a job that survives failures (mpiexec -with-ft ulfm): an unreachable peer does not end the job if it has
// failed.
//
// The network may notice a failure before the launcher reports it. Messages sent meanwhile are lost with the peer; when
// the failure is reported, operations that wait for the peer fail, and the peer is given up. The connection to a live
// process may break, too, and its messages would be waited for without end. So a lost peer that has not failed within a
// time limit ends the job, as in any other job.
//
// A timer wakes blocked threads then: they may have blocked before the peer was lost, so poll_again_after() would come
// too late.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "network/descriptor.hpp"
#include "network/network.hpp"
#include "network/networks.hpp"

namespace heddle::lln {

// Nanoseconds from the loss of a peer to the end of the job. mpiexec reports a failure within milliseconds; seconds are
// for loaded machines, and for reports from another node.
inline constexpr std::int64_t patience_with_the_lost = 5'000'000'000;

class FaultTolerant final : public Network {
 public:
  using Lost = FunctionRef<void(int peer, const char* text)>;
  // `is_gone`: see Networks::Settings. Wraps the network that open(lost) returns, which calls `lost` for its peers.
  // Throws what `open` throws, and std::runtime_error if no descriptors are left.
  FaultTolerant(FunctionRef<Networks::End(Lost)> open, std::function<void(const char*)> fail,
                std::function<bool(int)> is_gone, std::int64_t patience = patience_with_the_lost);

  const Traits& traits() const override { return network_->traits(); }
  int rails() const override { return network_->rails(); }
  int last_rail() const override { return network_->last_rail(); }
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override {
    return network_->post(peer, envelope, bytes, fill);
  }
  Posted post_over(int rail, int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override {
    return network_->post_over(rail, peer, envelope, bytes, fill);
  }
  Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) override {
    return network_->post_long(peer, landing, memory, ours);
  }
  void give_up(int peer) override;
  int poll(int most, Sink sink) override;
  bool is_moving() const override { return network_->is_moving(); }
  bool arrived() const override { return network_->arrived() || is_over(); }
  bool any_under_way() const override { return network_->any_under_way(); }
  int slow_peer() const override { return network_->slow_peer(); }
  void flush() override { network_->flush(); }
  void want_room(int peer) override { network_->want_room(peer); }
  void forget_room() override { network_->forget_room(); }
  bool arm() override { return network_->arm(); }
  int wake_fd() const override { return network_->wake_fd(); }
  std::int64_t poll_again_after() const override { return network_->poll_again_after(); }

 private:
  // A lost peer that is not yet known to have failed.
  struct Missing {
    int peer;
    std::int64_t until;
    std::string text;
  };

  void lose(int peer, const char* text);
  void end_overdue();
  void set_timer();
  bool is_over() const;

  const std::function<void(const char*)> fail_;
  const std::function<bool(int)> is_gone_;
  const std::int64_t patience_;
  const std::function<void(int, const char*)> lost_ = [this](int peer, const char* text) { lose(peer, text); };
  Descriptor
      // watched by the network's own instance: the kernel allows few levels of them, and UCX with rails uses all
      timer_;
  std::vector<Missing> missing_;       // ordered by their time limit
  std::atomic<std::int64_t> over_{0};  // `until` of the first one; 0: there is none
  Networks::End network_;              // the last member: it may report lost peers as long as it exists
};

}  // namespace heddle::lln
