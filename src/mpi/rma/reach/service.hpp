// A target's end of messages: carries out the commands that others send it, in the order in which they come, and
// answers them (ADR 0041).
//
// Some thread of this rank that makes progress calls poll(), one at a time; nothing here waits, and nothing calls the
// program. Commands that cannot be executed now are deferred: a request for a lock that is not free waits in a queue; a
// command whose answer has no buffer stays where it is, with those behind it. So memory is bounded: a few buffers for
// commands, a few for answers with data, and of small answers one for each command that its origin may have in flight.
//
// There is one accumulate at a time, since one thread does them all: that is their atomicity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/rma/reach/attached_memory.hpp"
#include "mpi/rma/reach/wire.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/request.hpp"

namespace heddle::rma::reach {

struct Scratch;

// The memory that this member opens to the others.
struct OwnMemory {
  std::byte* base = nullptr;  // dynamic windows: null, and the attached memory
  MPI_Aint size = 0;
  AttachedMemory* attached = nullptr;  // dynamic windows
};

class Service {
 public:
  Service(Comm& comm, const OwnMemory& memory);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // One attempt; true if anything moved. May throw std::bad_alloc, and goes on the next time.
  bool poll();
  // No command will come. True when nothing is in flight here.
  bool end();

 private:
  static constexpr int max_incoming = 4;
  static constexpr std::size_t max_large = 4;

  // The next command to come.
  struct Incoming {
    Request* receive = nullptr;
    alignas(16) std::byte bytes[max_command];
  };
  // An answer that leaves; behind it is room for its data.
  struct Outgoing;
  struct Discard {
    void operator()(Outgoing* answer) const;
  };
  using OwnedOutgoing = std::unique_ptr<Outgoing, Discard>;
  // An origin that waits for the lock.
  struct Waiting {
    int origin;
    Command command;
  };

  void post_receives();
  bool retire_sent();
  bool send_ready();
  bool grant();
  Outgoing* take_answer(bool large, int origin, const Command& command);
  void let_leave(Outgoing& answer, std::size_t data = 0);

  bool handle(int origin, const std::byte* message);
  bool handle_lock(int origin, const Command& command);
  bool handle_data(int origin, const Command& command, const std::byte* message);
  int check(std::span<const Strided> regions) const;
  bool is_free(LockType type) const { return type == LockType::exclusive ? holders_ == 0 : holders_ >= 0; }
  void hold(LockType type) { holders_ += type == LockType::exclusive ? -1 : 1; }

  Comm& comm_;
  const OwnMemory memory_;
  std::unique_ptr<Incoming[]> incoming_;
  int first_ = 0;   // that is to be handled next
  int posted_ = 0;  // so many from there on have a receive

  std::vector<OwnedOutgoing> answers_;
  std::size_t large_ = 0;  // of answers_
  Outgoing* free_small_ = nullptr;
  Outgoing* free_large_ = nullptr;
  Outgoing* ready_ = nullptr;  // to be sent, and sent
  Outgoing* sent_ = nullptr;

  int holders_ = 0;  // of the lock: -1: exclusively
  std::vector<Waiting> waiting_;
  bool released_ = false;  // since the queue was last checked

  std::unique_ptr<Scratch> scratch_;  // accumulates
};

}  // namespace heddle::rma::reach
