// An origin's end of messages: the commands that this member has under way at others (ADR 0041).
//
// An operation is cut into commands of a bounded size, each with its answer. Their number is limited, at one target and
// altogether; a thread that wants to send more waits, with progress meanwhile. Operands are copied when the command is
// sent; returned data go to the user's buffer when some thread of this rank, which need not be the caller, makes
// progress (poll).
//
// The commands of one origin to one target arrive in the order in which they were sent, and the target carries them out
// in that order. So accumulates to one location have their order, and an unlock comes after the operations under the
// lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/threads/mutex.hpp"
#include "mpi/rma/reach/process_memory.hpp"
#include "mpi/rma/reach/wire.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"

namespace heddle::rma::reach {

// An operation that a thread waits for, by itself or by a request of its own.
struct Tracked {
  std::atomic<std::uint32_t> commands{1};  // unanswered ones, and the call that makes them
  std::atomic<int> error{MPI_SUCCESS};
  Request* request = nullptr;
};

// The description of an operation.
struct Operation {
  Command command;         // all but the regions
  Layout target;           // displacements from the start of the target's memory
  std::size_t bytes;       // of the target
  std::size_t unit = 1;    // bytes that must not be split
  const Layout* operand;   // null: none
  const Layout* operand2;  // compare_and_swap: to compare with
  const Layout* result;    // null: none
};

class Origin {
 public:
  explicit Origin(Comm& comm);
  ~Origin();
  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;

  // ---- Operations. `tracked` may be null: then the next flush reports a failure.
  void start(int target, const Operation& operation, Tracked* tracked);
  // The call has sent all commands.
  void end(Tracked& tracked);
  // Until all have their answers.
  void wait(int target, const Tracked& tracked);

  // ---- Completion: of all operations at this target, at all targets.
  Error flush(int target);
  Error flush_all();

  // ---- Locks
  Error lock(int target, LockType type);
  Error lock_all();
  // After all operations at the target, which are complete then.
  Error unlock(int target, LockType type);
  Error unlock_all();

  // Takes the answers that have come; true if there were any. One thread at a time.
  bool poll();

 private:
  // One command in flight.
  struct Exchange;
  // A command about a lock, whose sender waits for its answer. It stays where it is meanwhile.
  struct Question {
    Command command{};
    Answer answer{};
    Request* receive = nullptr;  // of the answer; null: there was no memory for it
  };

  Exchange* try_take(int target);
  Exchange& take(int target);
  void give_back(Exchange& exchange);
  void send(Exchange& exchange, std::size_t bytes);
  void finish(Exchange& exchange);
  Exchange* take_answered();
  void ask(Question& question, int target, Action action, LockType type);
  Error await(Question& question);
  void ask_all(std::vector<Question>& questions, Action action);
  Error await_all(std::vector<Question>& questions);
  Error failure(int target);

  Comm& comm_;
  std::unique_ptr<std::atomic<std::uint32_t>[]> under_way_;  // by target
  std::unique_ptr<std::atomic<int>[]> errors_;               // of operations without a waiting thread, by target
  std::atomic<std::uint32_t> questions_{0};
  threads::Mutex mutex_;  // guards the members below
  std::vector<std::unique_ptr<Exchange>> exchanges_;
  std::vector<Exchange*> free_;
  std::vector<Exchange*> sent_;
};

}  // namespace heddle::rma::reach
