// libfabric (OpenFabrics Interfaces, Grun et al. 2015, ofiwg.github.io/libfabric): a message is header and payload in
// one send, which is matched above.
//
// Each VNI has a domain with one endpoint, one completion queue and one address vector; the VNI's lock is their only
// lock. The first message to a peer puts it into the address vector, from the address that it has published.
//
// Each message arrives in a buffer of its own, which is given back to libfabric after the message is handed over. (One
// large buffer for many messages, FI_MULTI_RECV, is not safe: libfabric 1.17 gives it back while messages of other
// peers still arrive in it.)
//
// A short message announces a long one and names its landing; the tag of the data follows from that name, for ranks of
// the job. The receiver posts a receive for the tag when it reads the announcement, and libfabric moves the data from
// memory to memory.
//
// A rank that finalizes sends each peer a disconnect message, which is not injected: its completion implies that of all
// earlier sends. A peer that has gone takes no more messages, and libfabric would retry for ever; so the disconnect
// message also carries the number of packets received, and a rank need not wait for a peer that has received all it
// waits for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "network/component.hpp"
#include "network/directory.hpp"
#include "network/library_use.hpp"
#include "network/membership.hpp"
#include "network/network.hpp"
#include "network/ofi/completions.hpp"
#include "network/ofi/handles.hpp"
#include "network/readiness.hpp"

namespace heddle::lln {

class Ofi final : public Network {
 public:
  // Over one of libfabric's providers; it publishes its address. Throws std::runtime_error, std::bad_alloc.
  Ofi(const Surroundings& surroundings, ofi::Info info);
  ~Ofi() override;

  const Traits& traits() const override { return traits_; }
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override;
  Posted post_long(int peer, std::uint64_t landing, std::span<const std::byte> memory, std::uint64_t ours) override;
  int poll(int most, Sink sink) override;
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
  enum class Kind : std::uint8_t { send, forgotten_send, buffer, arrival };
  // The context that libfabric returns when an operation is complete; the first member of the operation's data.
  struct Operation {
    fi_context2 context;  // libfabric's own
    Kind kind;
  };
  struct Send;
  struct Buffer;
  struct Arrival;
  struct Peer {
    int rank = 0;
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    std::uint64_t token = 0;
    int under_way = 0;     // sends that libfabric has not completed, and kept ones
    int awaited = 0;       // the number of them that the peer waits for
    int injected = 0;      // sends since the last one whose completion libfabric reports
    Send* kept = nullptr;  // sends that libfabric refused, in order
    Send* last_kept = nullptr;
    std::uint32_t sent = 0;          // packets
    std::uint32_t sent_awaited = 0;  // up to the last one that the peer waits for
    std::uint32_t arrived = 0;       // packets from there
    // The values of the two in our last disconnect message: while they are unchanged it need not be sent again.
    std::uint32_t sent_at_disconnect = 0;
    std::uint32_t arrived_at_disconnect = 0;
    bool room_wanted = false;
    bool lost = false;      // the peer is unreachable
    bool given_up = false;  // and its loss matters to no operation
    bool finished = false;  // it has received all that it waits for, and may have gone
    bool has_left = false;  // in a job that survives failures: or it has given up the missing messages

    std::uint16_t last_number() const { return static_cast<std::uint16_t>(sent - 1); }
  };
  // A message to be handed over.
  struct Arrived {
    int sender;
    Envelope envelope;
    Buffer* buffer;  // where its payload is; null: the payload is `name`
    const std::byte* payload;
    std::size_t bytes;
    std::uint64_t name;
  };

  Peer& peer_of(int rank);
  Peer* connect(int peer);
  Peer* find_way(int rank, Posted& otherwise, bool message_matters);
  Send* take_send(Peer& peer, bool matters);
  void give_back(Send* send);
  void note_under_way(int more);
  ssize_t try_to_start(Send& send);
  bool start(Send* send);
  void start_or_keep(Send* send);
  void start_kept();
  void finish(Send* send, const char* failure);
  void lose(Peer& peer, const char* reason, bool message_lost);
  void receive_into(Operation* operation);
  std::uint64_t tag_of(std::uint64_t landing) const;
  void await_landing(Landing& landing);
  void refuse(const PacketHead& head);
  Peer& expect_next(const PacketHead& head);
  void take_disconnect(const PacketHead& head);
  void read_completions();
  void take_error();
  void take_back(Buffer& buffer, const fi_cq_err_entry& error, const char* text);
  void note_foreign();
  void fail_receiving(const char* reason);
  void lose_unknown_peer(const char* reason);
  Why what_ends_receiving(const char* reason) const;
  void complete(Operation* operation, const fi_cq_data_entry& entry);
  void take(Buffer& buffer, const fi_cq_data_entry& entry);
  void tell(MessageKind kind, int other, std::uint64_t name);
  int hand_over(int most, Sink& sink);
  bool has_room(const Peer& peer) const;
  void say_left();

  Directory& directory_;
  const int rank_;
  const int vni_;
  const bool survives_;
  const Membership membership_;
  FunctionRef<void(const char*)> fail_;
  FunctionRef<void(int, const char*)> lost_;
  FunctionRef<void(const char*)> note_;
  ofi::Info info_;
  const Traits traits_;
  ofi::Handle<fid_fabric> fabric_;
  ofi::Handle<fid_domain> domain_;
  ofi::Completions completions_;
  ofi::Handle<fid_av> addresses_;
  ofi::Handle<fid_ep> endpoint_;
  Readiness readiness_;
  std::unordered_map<int, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> waiting_;  // peers where room is wanted
  std::vector<Peer*> keeping_;  // peers with refused sends
  bool poll_again_ = false;     // a thread waits for an event without a signal: an address, or memory
  std::vector<std::unique_ptr<Send>>
      sends_;             // all of them: libfabric may keep a send that the peer never takes until the end is closed
  Send* free_ = nullptr;  // of sends_
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::unique_ptr<Arrival>> arrivals_;
  Arrival* free_arrival_ = nullptr;
  std::vector<Operation*> not_posted_;  // receives that libfabric refused
  std::deque<Arrived> arrived_;
  bool must_poll_ = false;                   // something arrived while it was armed again
  std::atomic<std::uint32_t> under_way_{0};  // of all peers
  LibraryUse use_{[] {}};                    // resources of libfabric are left to the end of the process
};

}  // namespace heddle::lln
