// Arrivals over UCX, from its callbacks to the sink of a poll.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include "network/ucx/ucx.hpp"

namespace heddle::lln {

ucs_status_t Ucx::on_message(void* user_data, const void* header, std::size_t header_bytes, void* data,
                             std::size_t bytes, const ucp_am_recv_param_t* about) {
  Ucx& end = *static_cast<Ucx*>(user_data);
  PacketHead head;
  if (header_bytes != sizeof head) [[unlikely]]
    return end.refuse(header, header_bytes);
  std::memcpy(&head, header, sizeof head);
  // No short message comes by rendezvous: `data` is empty then.
  if (!end.membership_.admits(head) || !end.membership_.is_well_formed(head) ||
      (about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) [[unlikely]]
    return end.refuse(header, header_bytes);
  const Envelope envelope = envelope_of(head);
  if (end.poll_ != nullptr && end.kept_.empty() && end.hand_over(*end.poll_, head.sender, envelope, data, bytes))
    return UCS_OK;
  return end.keep(head.sender, envelope, data, bytes, (about->recv_attr & UCP_AM_RECV_ATTR_FLAG_DATA) != 0);
}

// In a job that survives failures nothing is posted from within UCX's progress: over TCP version 1.13 frees its receive
// buffer when an answer fails that is posted while it hands over a message, and goes on using it.
ucs_status_t Ucx::on_message_for_later(void* user_data, const void* header, std::size_t header_bytes, void* data,
                                       std::size_t bytes, const ucp_am_recv_param_t* about) {
  Ucx& end = *static_cast<Ucx*>(user_data);
  Poll* const poll = std::exchange(end.poll_, nullptr);
  const ucs_status_t status = on_message(user_data, header, header_bytes, data, bytes, about);
  end.poll_ = poll;
  return status;
}

// The packet is foreign, or, which is worse, a malformed one of a rank of the job.
ucs_status_t Ucx::refuse(const void* header, std::size_t header_bytes) {
  PacketHead head{};
  if (header_bytes != 0) std::memcpy(&head, header, std::min(header_bytes, sizeof head));
  char text[200];
  if (!membership_.admits(head)) {
    std::snprintf(text, sizeof text, "rank %d has dropped foreign packets that came to its port (UCX)", rank_);
    note_(text);
  } else {
    std::snprintf(text, sizeof text, "rank %d has received a malformed packet from rank %d on another node (UCX)",
                  rank_, head.sender);
    fail_(text);
  }
  return UCS_OK;
}

ucs_status_t Ucx::on_long(void* user_data, const void* header, std::size_t header_bytes, void* data, std::size_t bytes,
                          const ucp_am_recv_param_t* about) {
  Ucx& end = *static_cast<Ucx*>(user_data);
  LongHead long_head;
  if (header_bytes != sizeof long_head) return end.refuse(header, header_bytes);
  std::memcpy(&long_head, header, sizeof long_head);
  const PacketHead& head = long_head.head;
  if (!end.membership_.admits(head) || !end.membership_.makes_sense_of_long(head))
    return end.refuse(header, header_bytes);
  Landing* const there = end.expect(long_head.landing, head.sender, bytes);
  if (there == nullptr) return end.refuse(header, header_bytes);
  Landing& landing = *there;
  landing.end = &end;
  if ((about->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0) {
    std::memcpy(landing.memory, data, bytes);
    end.finish_landing(landing, UCS_OK);
    return UCS_OK;
  }
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  how.cb.recv_am = on_landed;
  how.user_data = &landing;
  ucs_status_ptr_t const coming = ucp_am_recv_data_nbx(end.worker_.get(), data, landing.memory, bytes, &how);
  if (UCS_PTR_IS_PTR(coming)) {
    ++end.longs_;
  } else {
    end.finish_landing(landing, UCS_PTR_STATUS(coming));
  }
  return UCS_OK;
}

void Ucx::on_landed(void* request, ucs_status_t status, std::size_t, void* user_data) {
  auto& landing = *static_cast<Landing*>(user_data);
  Ucx& end = *static_cast<Ucx*>(landing.end);
  --end.longs_;
  end.finish_landing(landing, status);
  ucp_request_free(request);
}

void Ucx::finish_landing(const Landing& landing, ucs_status_t status) {
  if (status != UCS_OK)
    if (Peer* const peer = connect(landing.peer); peer != nullptr) lose(*peer, status, true);
  std::uint64_t name = landing.name;
  if (poll_ != nullptr && kept_.empty() &&
      hand_over(*poll_, landing.peer, says(MessageKind::landed), &name, sizeof name))
    return;
  (void)keep(landing.peer, says(MessageKind::landed), &name, sizeof name, false);
}

bool Ucx::hand_over(Poll& poll, int sender, const Envelope& envelope, const void* data, std::size_t bytes) {
  if (poll.left == 0 || poll.refused) return false;
  poll.refused = !poll.sink(sender, envelope, static_cast<const std::byte*>(data), bytes);
  if (poll.refused) return false;
  --poll.left;
  ++poll.handed;
  return true;
}

ucs_status_t Ucx::keep(int sender, const Envelope& envelope, void* data, std::size_t bytes, bool may_stay) try {
  if (may_stay) {
    kept_.push_back({sender, envelope, data, bytes, true});
    return UCS_INPROGRESS;
  }
  void* const copied = ::operator new(bytes);
  if (bytes != 0) std::memcpy(copied, data, bytes);
  kept_.push_back({sender, envelope, copied, bytes, false});
  return UCS_OK;
} catch (const std::bad_alloc&) {
  fail_("a message from another node was lost: there was no memory for it");
  return UCS_OK;
}

void Ucx::release(const Kept& message) {
  if (message.of_ucx) {
    ucp_am_data_release(worker_.get(), message.data);
  } else {
    ::operator delete(message.data);
  }
}

}  // namespace heddle::lln
