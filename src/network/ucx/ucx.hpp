// UCX (Shamis et al. 2015, openucx.org): a message is an active message, header and payload in one send, which is
// matched above.
//
// Each VNI has a context and a worker; the VNI's lock is their only lock. The first message to a peer makes its
// endpoint, from the worker address that the peer has published; it lives as long as the worker.
//
// A long message is one too, by rendezvous: UCX moves it from memory to memory. Over TCP, where UCX moves it through a
// buffer in any case, a message that fits in the buffer goes at once: its destination is known, so no second handshake
// is needed.
//
// An end is closed when the process ends (library_use.hpp): UCX has a thread of its own, which must not outlive UCX's
// destructors.
//
// Messages that UCX hands over within a poll go on at once; others, and refused ones, are kept until the next poll.
#pragma once

#include <ucp/api/ucp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "network/component.hpp"
#include "network/directory.hpp"
#include "network/library_use.hpp"
#include "network/membership.hpp"
#include "network/network.hpp"
#include "network/readiness.hpp"
#include "network/ucx/handles.hpp"

namespace heddle::lln {

class Ucx final : public Network {
 public:
  // It publishes its address. Throws std::runtime_error, std::bad_alloc.
  explicit Ucx(const Surroundings& surroundings);
  ~Ucx() override;

  const Traits& traits() const override { return traits_; }
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override;
  Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) override;
  int poll(int most, Sink sink) override;
  bool is_moving() const override { return moving_; }
  bool arrived() const override { return readiness_.arrived(); }
  bool any_under_way() const override { return under_way_.load(std::memory_order_relaxed) != 0; }
  int slow_peer() const override;
  void give_up(int peer) override;
  void flush() override;
  void want_room(int peer) override;
  void forget_room() override;
  bool arm() override;
  int wake_fd() const override { return readiness_.fd(); }
  std::int64_t poll_again_after() const override;

 private:
  struct Peer {
    int rank = 0;
    ucp_ep_h endpoint = nullptr;
    std::uint64_t token = 0;
    int under_way = 0;  // sends that UCX has not completed
    bool room_wanted = false;
    bool lost = false;      // the peer is unreachable
    bool given_up = false;  // and its loss matters to no operation
  };
  // The head of a long message.
  struct LongHead {
    PacketHead head;
    std::uint64_t landing;
  };
  // The memory of a send until it is complete.
  struct Send;
  // A message that has arrived and not been handed over.
  struct Kept {
    int sender;
    Envelope envelope;
    void* data;
    std::size_t bytes;
    bool of_ucx;  // the memory is UCX's
  };
  // The destination of messages of the current poll.
  struct Poll {
    Sink& sink;
    int left;
    int handed = 0;
    bool refused = false;
  };

  // An event of a long message, as a message.
  static constexpr Envelope says(MessageKind kind) {
    return {.header = {.kind = kind, .source = 0, .tag = 0, .context = 0}, .sequence = 0, .credit = 0};
  }

  static ucs_status_t on_message(void* end, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                                 const ucp_am_recv_param_t* about);
  static ucs_status_t on_message_for_later(void* end, const void* header, std::size_t header_bytes, void* data,
                                           std::size_t bytes, const ucp_am_recv_param_t* about);
  static ucs_status_t on_long(void* end, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                              const ucp_am_recv_param_t* about);
  static void on_landed(void* request, ucs_status_t status, std::size_t bytes, void* landing);
  static void on_left(void* request, ucs_status_t status, void* send);
  static void on_sent(void* request, ucs_status_t status, void* send);
  static void on_flushed(void* request, ucs_status_t status, void* end);
  static void on_error(void* peer, ucp_ep_h endpoint, ucs_status_t status);

  void close();
  void handle(unsigned id, ucp_am_recv_callback_t callback);
  void begin_to_close(Peer& peer);
  Peer& peer_of(int rank);
  Peer* connect(int peer);
  Peer* find_way(int rank, Posted& otherwise, bool message_matters);
  Send* take_send();
  void give_back(Send* send);
  void note_under_way(int more);
  void finish_landing(const Landing& landing, ucs_status_t status);
  ucs_status_t refuse(const void* header, std::size_t header_bytes);
  void note_left(Send& send);
  void hand_over_left(Poll& poll);
  void lose(Peer& peer, ucs_status_t status, bool message_lost);
  bool hand_over(Poll& poll, int sender, const Envelope& envelope, const void* data, std::size_t bytes);
  ucs_status_t keep(int sender, const Envelope& envelope, void* data, std::size_t bytes, bool may_stay);
  void release(const Kept& message);
  bool has_room(const Peer& peer) const;
  void say_left();
  bool arm_worker();

  Directory& directory_;
  const int rank_;
  const int vni_;
  const Membership membership_;
  FunctionRef<void(const char*)> fail_;
  FunctionRef<void(int, const char*)> lost_;
  FunctionRef<void(const char*)> note_;
  // All of them: UCX does not complete a send that the peer never answers, not even when it ends.
  std::vector<std::unique_ptr<Send>> sends_;
  ucx::Context context_;
  const std::size_t at_once_;  // bytes of the longest message without a handshake of UCX
  const std::uint32_t how_;    // flags of a send, see ucp_request_param_t
  const Traits traits_;        // with several rails UCX promises no order of active messages
  ucx::Worker worker_;
  Readiness readiness_;
  std::unordered_map<int, std::unique_ptr<Peer>> peers_;
  std::vector<ucs_status_ptr_t> closing_ends_;  // endpoints that are being closed
  std::vector<Peer*> waiting_;                  // peers where room is wanted
  bool closing_ = false;                        // failures do not matter any more
  bool poll_again_ = false;                     // a thread waits for an event without a signal: an address, or memory
  Send* free_ = nullptr;                        // of sends_
  Send* left_ = nullptr;                        // long ones that have left, not yet reported to the sink
  std::deque<Kept> kept_;
  Poll* poll_ = nullptr;
  bool must_poll_ = false;                       // it could not be armed again
  int longs_ = 0;                                // long messages in flight
  bool moving_ = false;                          // some of them moved in the last poll
  std::atomic<std::uint32_t> under_way_{0};      // of all peers
  mutable LibraryUse use_{[this] { close(); }};  // the last member: destroyed first
};

}  // namespace heddle::lln
