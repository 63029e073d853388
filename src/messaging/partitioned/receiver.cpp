#include "messaging/partitioned/receiver.hpp"

#include "messaging/p2p/p2p.hpp"
#include "objects/object/status.hpp"
#include "objects/object/tags.hpp"

namespace heddle::partitioned {

constinit const RequestType Receiver::type{
    .name = "partitioned receive",
    .start = [](Request& request) { return static_cast<Receiver*>(request.state)->start(), success; },
    .cancel = [](Request&) { return fail(MPI_ERR_REQUEST, "a partitioned receive cannot be cancelled"); },
    .finish = [](Request& request,
                 MPI_Status& status) { return static_cast<Receiver*>(request.state)->finish(status); },
    .destroy =
        [](Request& request) {
          delete static_cast<Receiver*>(request.state);
          return success;
        },
    .awaited = boot::Awaited::partitions,
};

Receiver::Receiver(const Arguments& args, Request& request) : Operation(args, request) {
  auto letter = std::make_unique<Letter>();
  letter->message = &p2p::begun(p2p::irecv(comm(), Plane::partitioned, &letter->content, sizeof letter->content,
                                           *predefined_datatype(MPI_BYTE), peer(), tag()));
  introduction_ = std::move(letter);
}

Receiver::~Receiver() {
  // Freed before it was started: the sender's init call is matched with this one all the same.
  if (introduction_ != nullptr) Letter::leave(std::move(introduction_), *comm().owner);
}

void Receiver::start() {
  begin_round();
  arrived_bytes_ = 0;
  posted_ = 0;
  if (matched_.load(std::memory_order_relaxed))
    for (int i = 0; i < sender_.partitions; ++i)
      messages_[static_cast<std::size_t>(i)].landing.store(Landing::awaited, std::memory_order_relaxed);
  launch();
}

// The sender's introduction has come: now the messages of a round are known.
bool Receiver::match_sender() {
  if (introduction_->message->done.load(std::memory_order_acquire) == 0) return false;
  sender_ = peer() == MPI_PROC_NULL ? Introduction{0, partitions(), partition_bytes()} : introduction_->content;
  const auto n = static_cast<std::size_t>(sender_.partitions);
  const auto element_bytes = static_cast<std::size_t>(datatype().size);
  messages_ = std::make_unique<Message[]>(n);
  pending_.reserve(n);
  if (sender_.bytes * n != bytes()) {
    way_ = Way::refused;
  } else if (sender_.bytes != 0 && sender_.bytes % element_bytes != 0) {
    way_ = Way::staged;
    stage_ = std::make_unique_for_overwrite<std::byte[]>(bytes());
  }
  p2p::give_back(*introduction_->message);
  introduction_.reset();
  matched_.store(true, std::memory_order_release);
  return true;
}

// A message that does not fit is received into nothing, so that the sender gets rid of it.
Request& Receiver::receive(int index, int tag) {
  const std::size_t offset = static_cast<std::size_t>(index) * sender_.bytes;
  const Datatype& byte = *predefined_datatype(MPI_BYTE);
  switch (way_) {
    case Way::staged:
      return p2p::irecv(comm(), Plane::partitioned, stage_.get() + offset, static_cast<MPI_Count>(sender_.bytes), byte,
                        peer(), tag);
    case Way::refused:
      return p2p::irecv(comm(), Plane::partitioned, nullptr, 0, byte, peer(), tag);
    default: {
      const auto size = static_cast<std::size_t>(datatype().size);
      const auto elements = [=](std::size_t n) { return size == 0 ? 0 : static_cast<MPI_Count>(n / size); };
      return p2p::irecv(comm(), Plane::partitioned, element(elements(offset)), elements(sender_.bytes), datatype(),
                        peer(), tag);
    }
  }
}

// From where it had to stop for lack of memory.
void Receiver::post() {
  if (way_ == Way::refused) note(MPI_ERR_TRUNCATE);
  for (awaited_ = sender_.partitions; posted_ < sender_.partitions; ++posted_) {
    const int tag = partition_tag(sender_.first_tag + static_cast<std::uint32_t>(posted_));
    messages_[static_cast<std::size_t>(posted_)].request = &p2p::begun(receive(posted_, tag));
    pending_.push_back(posted_);
  }
}

void Receiver::land(int index) {
  Message& message = messages_[static_cast<std::size_t>(index)];
  if (way_ == Way::staged) {
    const std::size_t offset = static_cast<std::size_t>(index) * sender_.bytes;
    unpack(datatype(), element(0), count() * partitions(), offset, stage_.get() + offset, message.request->bytes);
  }
  arrived_bytes_ += message.request->bytes;
  collect(*message.request);
  message.landing.store(--awaited_ == 0 ? Landing::last : Landing::landed, std::memory_order_release);
}

bool Receiver::advance() {
  if (introduction_ != nullptr && !match_sender()) return false;
  if (posted_ < sender_.partitions) post();
  std::erase_if(pending_, [this](int index) {
    if (messages_[static_cast<std::size_t>(index)].request->done.load(std::memory_order_acquire) == 0) return false;
    land(index);
    return true;
  });
  return pending_.empty();
}

// Partition q of Q covers [q/Q, (q+1)/Q) of the whole, message i of P covers [i/P, (i+1)/P).
bool Receiver::arrived(int partition) const {
  if (!matched_.load(std::memory_order_acquire)) return false;
  const auto messages = static_cast<std::int64_t>(sender_.partitions);
  const std::int64_t end = (messages * (partition + 1) + partitions() - 1) / partitions();
  for (std::int64_t i = messages * partition / partitions(); i < end; ++i) {
    const Landing landing = messages_[static_cast<std::size_t>(i)].landing.load(std::memory_order_acquire);
    if (landing == Landing::awaited) return false;
    if (landing == Landing::last && request().done.load(std::memory_order_acquire) == 0) return false;
  }
  return true;
}

Error Receiver::finish(MPI_Status& status) const {
  if (peer() == MPI_PROC_NULL) {
    set_proc_null_status(status);
  } else {
    set_status(status, peer(), tag(), static_cast<MPI_Count>(arrived_bytes_));
  }
  return error();
}

}  // namespace heddle::partitioned
