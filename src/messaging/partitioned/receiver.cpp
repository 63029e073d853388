#include "messaging/partitioned/receiver.hpp"

#include "launch/rank/rank.hpp"
#include "messaging/engine/engine.hpp"
#include "messaging/p2p/lanes.hpp"
#include "messaging/p2p/p2p.hpp"
#include "objects/object/status.hpp"

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
    .is_over = [](const Request& request) { return static_cast<const Receiver*>(request.state)->is_over(); },
};

Receiver::Receiver(const Arguments& args, Request& request) : Operation(args, request) {
  auto letter = std::make_unique<Letter>();
  letter->message = &p2p::begun(p2p::irecv(comm(), Plane::partitioned, &letter->content, sizeof letter->content,
                                           *predefined_datatype(MPI_BYTE), peer(), tag()));
  introduction_ = std::move(letter);
}

Receiver::~Receiver() {
  // Freed before it was started: the sender's init call is matched with this one all the same.
  if (introduction_ != nullptr) {
    introduction_->unused_board_in = &p2p::shared_memory(*comm().owner);
    Letter::leave(std::move(introduction_), *comm().owner);
  }
  give_requests_back();
}

void Receiver::start() {
  begin_round();
  ++round_;
  give_requests_back();
  arrived_bytes_ = 0;
  posted_ = waiting_ = 0;
  if (board_ == nullptr) return launch();
  p2p::start_polling(*comm().owner,
                     *this);  // what is there already is read by the threads that ask for it, side by side
}

void Receiver::give_requests_back() {
  if (messages_ == nullptr) return;
  for (int i = 0; i < sender_.partitions; ++i) {
    Message& message = messages_[static_cast<std::size_t>(i)];
    message.unpacked.store(false, std::memory_order_relaxed);
    if (Request* const request = message.request.exchange(nullptr, std::memory_order_relaxed)) p2p::give_back(*request);
  }
}

// The sender's introduction has come: now the messages of a round are known.
bool Receiver::match_sender() {
  if (introduction_->message->done.load(std::memory_order_acquire) == 0) return false;
  sender_ = peer() == MPI_PROC_NULL ? Introduction{0, partitions(), partition_bytes(), node::nowhere}
                                    : introduction_->content;
  const auto n = static_cast<std::size_t>(sender_.partitions);
  const auto element_bytes = static_cast<std::size_t>(datatype().size);
  if (sender_.board != node::nowhere) {
    reads_.emplace(sender_.partitions);
    readings_ = std::make_unique<sync::SlotReading<platform::Native>[]>(n);
    board_ =
        std::make_unique<Board>(p2p::shared_memory(*comm().owner), sender_.board, sender_.partitions, sender_.bytes);
  } else {
    messages_ = std::make_unique<Message[]>(n);
    pending_.reserve(n);
  }
  if (sender_.bytes * n != bytes()) {
    way_ = Way::refused;
  } else if (board_ != nullptr) {
    way_ = Way::in_place;
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
  const Tags tags(*comm().owner, sender_.partitions);
  for (; posted_ < sender_.partitions; ++posted_) {
    Request& request = p2p::begun(receive(posted_, tags.of(sender_.first_tag, posted_)));
    messages_[static_cast<std::size_t>(posted_)].request.store(&request, std::memory_order_release);
    if (way_ == Way::staged) pending_.push_back(posted_);
  }
}

bool Receiver::is_done(int index) const {
  return messages_[static_cast<std::size_t>(index)]
             .request.load(std::memory_order_relaxed)
             ->done.load(std::memory_order_acquire) != 0;
}

// In any order, since the sender may mark a partition only after an earlier one has been used.
bool Receiver::unpack_arrived() {
  std::erase_if(pending_, [this](int index) {
    if (!is_done(index)) return false;
    Message& message = messages_[static_cast<std::size_t>(index)];
    const std::size_t offset = static_cast<std::size_t>(index) * sender_.bytes;
    unpack(datatype(), element(0), count() * partitions(), offset, stage_.get() + offset,
           message.request.load(std::memory_order_relaxed)->bytes);
    message.unpacked.store(true, std::memory_order_release);
    return true;
  });
  return pending_.empty();
}

bool Receiver::advance() {
  if (introduction_ != nullptr && !match_sender()) return false;
  if (board_ != nullptr) return advance_on_board();
  if (posted_ < sender_.partitions) post();
  if (way_ == Way::staged && !unpack_arrived()) return false;
  while (waiting_ < sender_.partitions && is_done(waiting_)) ++waiting_;
  if (waiting_ < sender_.partitions) return false;
  end_round();
  return true;
}

bool Receiver::advance_on_board() {
  poll_again = false;
  for (; waiting_ < sender_.partitions && !all_counted(); ++waiting_) {
    const Read read = read_slot(waiting_);
    if (read == Read::yes) continue;
    poll_again = read == Read::by_another;  // that thread does not wake those that block
    return false;
  }
  if (way_ == Way::refused) note(MPI_ERR_TRUNCATE);
  arrived_bytes_ = way_ == Way::refused ? 0 : bytes();
  board_->rounds().finish(round_);
  p2p::notify(*comm().owner, comm().world_rank(peer()));
  return true;
}

Receiver::Read Receiver::read_slot(int index) {
  const Round round = round_;  // what follows end() may come late
  auto& reading = readings_[static_cast<std::size_t>(index)];
  if (reading.is_read(round)) return Read::yes;
  if (!board_->slot(index, round).is_filled(round)) return Read::not_there;
  if (!reading.begin(round)) return reading.is_read(round) ? Read::yes : Read::by_another;
  if (way_ != Way::refused)
    unpack(datatype(), element(0), count() * partitions(), static_cast<std::size_t>(index) * sender_.bytes,
           board_->content(index, round), sender_.bytes);
  reading.end(round);
  if (reads_->count(index, round)) counted_.store(round, std::memory_order_release);
  return Read::yes;
}

bool Receiver::read_slots(int partition) {
  const auto [first, end] = overlapping(partition);
  for (int i = first; i < end; ++i)
    if (read_slot(i) != Read::yes) return false;
  return true;
}

void Receiver::end_round() {
  for (int i = 0; i < sender_.partitions; ++i) {
    const Request& request = *messages_[static_cast<std::size_t>(i)].request.load(std::memory_order_relaxed);
    note(request.error);
    arrived_bytes_ += request.bytes;
  }
}

bool Receiver::has_arrived(const Message& message) const {
  if (way_ == Way::staged) return message.unpacked.load(std::memory_order_acquire);
  const Request* const request = message.request.load(std::memory_order_acquire);
  return request != nullptr && request->done.load(std::memory_order_acquire) != 0;
}

// Partition q of Q covers [q/Q, (q+1)/Q) of the whole, the sender's i of P covers [i/P, (i+1)/P).
std::pair<int, int> Receiver::overlapping(int partition) const {
  const auto senders = static_cast<std::int64_t>(sender_.partitions);
  return {static_cast<int>(senders * partition / partitions()),
          static_cast<int>((senders * (partition + 1) + partitions() - 1) / partitions())};
}

const Receiver::Message* Receiver::awaited(int partition) const {
  const auto [first, end] = overlapping(partition);
  for (int i = first; i < end; ++i)
    if (const Message& message = messages_[static_cast<std::size_t>(i)]; !has_arrived(message)) return &message;
  return nullptr;
}

bool Receiver::is_over() const {
  if (!matched_.load(std::memory_order_acquire)) return false;
  if (board_ != nullptr && all_counted()) return true;
  for (int i = 0; i < sender_.partitions; ++i)
    if (board_ != nullptr ? !readings_[static_cast<std::size_t>(i)].is_read(round_)
                          : !has_arrived(messages_[static_cast<std::size_t>(i)]))
      return false;
  return true;
}

// A slot needs no progress; other communication of the rank does.
bool Receiver::test(int partition) {
  constexpr std::uint32_t tests_per_poll = 64;
  static constinit thread_local std::uint32_t in_vain = 0;
  if (!matched_.load(std::memory_order_acquire) || board_ == nullptr) return test_messages(partition);
  if (read_slots(partition)) return true;
  Rank& rank = *comm().owner;
  if (++in_vain % tests_per_poll == 0) return p2p::test(rank, nullptr, [&] { return read_slots(partition); });
  p2p::tested_in_vain(rank, false);
  return false;
}

// Threads that ask for partitions in different lanes meet only in every `tests_per_poll_of_all`-th attempt.
bool Receiver::test_messages(int partition) const {
  constexpr std::uint32_t tests_per_poll_of_all = 16;
  static constinit thread_local std::uint32_t in_vain = 0;
  Rank& rank = *comm().owner;
  const Request* request = nullptr;
  const auto arrived = [&] {
    if (!matched_.load(std::memory_order_acquire) || board_ != nullptr) return false;
    const Message* const message = awaited(partition);
    request = message != nullptr ? message->request.load(std::memory_order_acquire) : nullptr;
    return message == nullptr;
  };
  if (arrived()) return true;
  const bool by_lane = rank.lanes != nullptr && request != nullptr && ++in_vain % tests_per_poll_of_all != 0;
  if (!by_lane || !rank.engine->poll_for(*request)) return p2p::test(rank, request, arrived);
  if (arrived()) return true;
  p2p::tested_in_vain(rank, false);
  return false;
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
