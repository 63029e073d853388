// The receiving side. Each round posts a receive for every partition of the sender, once its introduction is there. A
// message whose bytes are whole elements of the receiver's datatype lands in place, any other in a buffer of our own.
//
// A message that lands in place has arrived when its request is done. So a thread that asks for its partitions polls the lane of their
// messages, and needs no other thread. The requests are kept until the next round, since any thread may ask.
#pragma once

#include <atomic>
#include <memory>

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
  bool test(int partition) const;
  Error finish(MPI_Status& status) const;

 private:
  // A message of this round: a partition of the sender.
  struct Message {
    std::atomic<Request*> request{nullptr};  // null: not posted
    std::atomic<bool> unpacked{false};       // if it is staged
  };

  bool advance() override;
  bool match_sender();
  void post();
  Request& receive(int index, int tag);
  bool is_done(int index) const;
  bool has_arrived(const Message& message) const;
  // The first message of a partition of this side that has not arrived; null: the partition is complete.
  const Message* awaited(int partition) const;
  bool unpack_arrived();
  void end_round();
  void give_requests_back();

  Introduction sender_{};
  std::unique_ptr<Letter> introduction_;  // of the sender, until it is there
  std::atomic<bool> matched_{false};
  int posted_ = 0;                 // completed messages of this round
  std::size_t arrived_bytes_ = 0;  // in this round
  enum class Way : std::uint8_t { in_place, staged, refused };
  Way way_ = Way::in_place;
  std::unique_ptr<Message[]> messages_;
  int waiting_ = 0;           // messages before this one are done
  std::vector<int> pending_;  // indices of staged messages that are not unpacked
  std::unique_ptr<std::byte[]> stage_;
};

}  // namespace heddle::partitioned
