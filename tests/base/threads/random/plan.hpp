// A random program: what every thread of every rank does in one round, computed by each rank from the seed alone.
//
// A round is a list of steps in one order. Each thread carries out the steps that name it, in that order, and between
// them completes some of what it has under way. So a round cannot deadlock: consider the first step in which a thread
// is blocked. A step only waits for the same step of its partner (or an earlier one, where a thread
// completes what it has under way), and the partner is not blocked in an earlier step, so it has started its part or
// will. The pool is the exception: which of its messages a receive gets is open. Its sends are nonblocking, and its
// receives come after all steps, before anything else is waited for; by then all its messages have been sent.
//
// Which message a receive gets is determined, though it may use wildcards: see Flow.
#pragma once

#include <vector>

#include "base/threads/team.hpp"

namespace random_program {

struct Actor {
  int rank = 0;  // in the world
  int thread = 0;
  bool operator==(const Actor&) const = default;
};

enum class Send { send, ssend, bsend, isend, issend, ibsend, send_init, ssend_init, bsend_init, last };
enum class Recv { recv, irecv, recv_init, probe, iprobe, mprobe, improbe, imrecv, last };
enum class Collective { barrier, bcast, allreduce, allgather, last };

inline bool blocks(Send how) { return how <= Send::bsend; }
inline bool buffers(Send how) { return how == Send::bsend || how == Send::ibsend || how == Send::bsend_init; }
inline bool blocks(Recv how) { return how != Recv::irecv && how != Recv::recv_init; }

struct Message {
  int comm = 0;
  int tag = 0;
  int bytes = 0;
  std::uint64_t key = 0;  // of its content
  Send send = Send::send;
  Recv recv = Recv::recv;
  bool any_source = false;
  bool any_tag = false;
};

struct Step {
  enum Kind { message, exchange, burst, collective, pool, kinds } kind = message;
  Actor from, to;
  std::vector<Message>
      messages;  // message, pool: one; exchange: there and back (to oneself: one); burst: in the order of the sends
  std::vector<int> order;  // burst: receives, in the order of their posting: the message each one gets
  Collective what = Collective::barrier;
  bool nonblocking = false;
  std::uint64_t seed = 0;  // for what is chosen on the way: layouts, sizes of collectives

  bool names(const Actor& actor) const {
    return kind == collective ? actor.thread == from.thread : from == actor || (to == actor && kind != pool);
  }
};

struct Plan {
  static constexpr int usual_threads = 6;  // at most; team_size makes them more
  static constexpr int comms = 4;
  static constexpr int largest_of_pool = 40000;

  int threads = 1;
  std::vector<Step> steps;
  // Receives of the pool: of each rank, how many each of its threads does.
  std::vector<std::vector<int>> pool_receives;

  Plan(std::uint64_t seed, int ranks);
  // Bytes that the buffered sends of a rank need at most.
  std::size_t buffered(int rank) const;
};

}  // namespace random_program
