// The receiving side. Each round posts a receive for every partition of the sender, once its introduction is there. A
// message whose bytes are whole elements of the receiver's datatype lands in place, any other in a buffer of our own.
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
  // True if a partition of this side is complete. Any thread.
  bool arrived(int partition) const;
  Error finish(MPI_Status& status) const;

 private:
  // `last`: the round is over with this message, which the request shows a moment later. Its data count as arrived only
  // then, so that a thread that has seen all partitions arrive finds the request complete.
  enum class Landing : std::uint8_t { awaited, landed, last };
  // A message of this round: a partition of the sender.
  struct Message {
    std::atomic<Landing> landing{Landing::awaited};
    Request* request = nullptr;
  };

  bool advance() override;
  bool match_sender();
  void post();
  Request& receive(int index, int tag);
  void land(int index);

  Introduction sender_{};
  std::unique_ptr<Letter> introduction_;  // of the sender, until it is there
  std::atomic<bool> matched_{false};
  int posted_ = 0;                 // completed messages of this round
  std::size_t arrived_bytes_ = 0;  // in this round
  enum class Way : std::uint8_t { in_place, staged, refused };
  Way way_ = Way::in_place;
  std::unique_ptr<Message[]> messages_;
  std::vector<int> pending_;  // indices of messages that have not landed
  int awaited_ = 0;           // how many these are
  std::unique_ptr<std::byte[]> stage_;
};

}  // namespace heddle::partitioned
