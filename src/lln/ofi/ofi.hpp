// libfabric (OpenFabrics Interfaces, Grun et al. 2015, ofiwg.github.io/libfabric): a message is header and payload in one send, which is
// matched above.
//
// A domain with one endpoint, one completion queue and one address vector for each VNI, whose protection is their only lock. A peer
// is put into the address vector at the first message to it, from the address that it has published.
//
// Messages arrive in a few large buffers (FI_MULTI_RECV), from where they are handed over. A buffer is given back to libfabric when it is
// full and all that it holds has been handed over.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lln/component.hpp"
#include "lln/directory.hpp"
#include "lln/network.hpp"
#include "lln/ofi/completions.hpp"
#include "lln/ofi/handles.hpp"

namespace heddle::lln {

class Ofi final : public Network {
 public:
  // Over one of libfabric's providers; it publishes its address. Throws std::runtime_error, std::bad_alloc.
  Ofi(const Surroundings& surroundings, ofi::Info info);
  ~Ofi() override;

  const Traits& traits() const override;
  Posted post(int peer, const Envelope& envelope, std::size_t bytes, Fill fill) override;
  int poll(int most, Sink sink) override;
  bool arrived() const override;
  bool any_under_way() const override { return under_way_.load(std::memory_order_relaxed) != 0; }
  void flush() override;
  void want_room(int peer) override;
  void forget_room() override;
  bool arm() override;
  int wake_fd() const override { return events_.number(); }
  std::int64_t look_again_after() const override;

 private:
  // What libfabric gives back when an operation is complete; the first member of what the operation needs.
  struct Operation {
    fi_context2 context;  // libfabric's own
    bool is_send;
  };
  struct Send;
  struct Buffer;
  struct Peer {
    int rank = 0;
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    int under_way = 0;        // sends that libfabric has not completed
    int injected = 0;         // sends since the last that it told of the completion of
    Send* refused = nullptr;  // libfabric could not take it yet
    bool room_wanted = false;
    bool lost = false;  // nothing reaches it any more
  };
  struct Packet {
    Envelope envelope;
    std::int32_t sender;
  };
  // A message that has arrived and not been handed over.
  struct Arrived {
    Buffer* buffer;
    const std::byte* at;
    std::size_t bytes;
  };

  Peer* connect(int peer);
  Send* take_send();
  void give_back(Send* send);
  void note_under_way(int more);
  bool start(Send* send);
  void retry();
  void lose(Peer& peer, const char* reason, bool message_lost);
  void post_buffer(Buffer& buffer);
  void read_completions();
  void take_error();
  void complete(Operation* operation, std::uint64_t flags, void* data, std::size_t bytes);
  void complete_send(Send* send, const char* failure);
  int hand_over(int most, Sink& sink);
  bool has_room(const Peer& peer) const;
  void say_left();

  Directory& directory_;
  const int rank_;
  const int vni_;
  FunctionRef<void(const char*)> fail_;
  ofi::Info info_;
  ofi::Handle<fid_fabric> fabric_;
  ofi::Handle<fid_domain> domain_;
  ofi::Completions completions_;
  ofi::Handle<fid_av> addresses_;
  ofi::Handle<fid_ep> endpoint_;
  ofi::Descriptor events_;  // an epoll instance: see wake_fd()
  ofi::Descriptor left_;    // an eventfd that can be read while `any_left_`
  std::unordered_map<int, std::unique_ptr<Peer>> peers_;
  std::vector<Peer*> waiting_;  // those where room is wanted
  std::vector<Peer*> refused_;  // those with a send that was refused
  bool look_again_ = false;     // somebody waits for what nothing tells of: an address, or memory
  Send* free_ = nullptr;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::deque<Arrived> arrived_;
  bool must_poll_ = false;                   // something came when it was armed again
  std::atomic<std::uint32_t> under_way_{0};  // of all peers
  std::atomic<bool> any_left_{false};        // something has not been handed over, or there is room that is wanted
  std::atomic<bool> armed_{false};
};

}  // namespace heddle::lln
