// The receiving side, from when the sender's introduction is there. On a board (board.hpp) the thread that asks for a partition, or
// progress, reads it from its slot.
//
// Otherwise each round posts a receive for every partition of the sender. A
// message whose bytes are whole elements of the receiver's datatype lands in place, any other in a buffer of our own.
// A message that lands in place has arrived when its request is done. So a thread that asks for its partitions polls the lane of their
// messages, and needs no other thread. The requests are kept until the next round, since any thread may ask.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "messaging/partitioned/board.hpp"
#include "messaging/partitioned/operation.hpp"

namespace heddle::partitioned {

class Receiver final : public Operation {
 public:
  static const RequestType type;

  Receiver(const Arguments& args, Request& request);
  ~Receiver() override;

  void start() override;
  // All messages have arrived. Any thread.
  bool is_over() const;
  // One attempt; true if a partition of this side is complete. Any thread.
  bool test(int partition);
  Error finish(MPI_Status& status) const;

 private:
  // A message of this round: a partition of the sender.
  struct Message {
    std::atomic<Request*> request{nullptr};  // null: not posted
    std::atomic<bool> unpacked{false};       // if it is staged
  };

  bool advance() override;
  bool advance_on_board();
  bool match_sender();
  bool test_messages(int partition) const;
  // One attempt to read what a partition of this side needs from the board.
  bool read_slots(int partition);
  enum class Read : std::uint8_t { yes, by_another, not_there };
  Read read_slot(int index);
  // The sender's partitions [first, second) overlap one of this side.
  std::pair<int, int> overlapping(int partition) const;
  void post();
  Request& receive(int index, int tag);
  bool is_done(int index) const;
  bool has_arrived(const Message& message) const;
  // The first message of a partition of this side that has not arrived; null: the partition is complete.
  const Message* awaited(int partition) const;
  bool unpack_arrived();
  void end_round();
  void give_requests_back();

  // Written once, or at the start of a round.
  Introduction sender_{};
  enum class Way : std::uint8_t { in_place, staged, refused };
  Way way_ = Way::in_place;
  std::atomic<bool> matched_{false};
  Round round_ = 0;
  std::unique_ptr<Message[]> messages_;
  std::unique_ptr<Board> board_;                                     // null: by messages
  std::unique_ptr<sync::SlotReading<platform::Native>[]> readings_;  // of the board's slots

  std::optional<PartitionCounts> reads_;  // of the board's slots
  // A round whose reads are all counted. A thread that has read a slot counts it a moment later; so this is a short way to know that all are
  // read, and never the only one.
  alignas(platform::cache_line) std::atomic<Round> counted_{0};
  bool all_counted() const { return counted_.load(std::memory_order_acquire) == round_; }

  // Written by progress.
  alignas(platform::cache_line) std::unique_ptr<Letter> introduction_;  // of the sender, until it is there
  int posted_ = 0;                 // messages of this round whose receives are posted
  int waiting_ = 0;                // messages or slots before this one are done
  std::size_t arrived_bytes_ = 0;  // in this round
  std::vector<int> pending_;       // indices of staged messages that are not unpacked
  std::unique_ptr<std::byte[]> stage_;
};

}  // namespace heddle::partitioned
