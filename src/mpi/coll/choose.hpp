// Which algorithm for which size: every threshold of the collectives in one place.
//
// The numbers are for ranks that share one machine, where a message is one copy and the main cost is waiting for a
// process that isn't running. So an algorithm with more messages but fewer steps that depend on each other often wins.
#pragma once

#include <cstddef>

namespace heddle::coll::choose {

inline constexpr std::size_t kilobyte = 1024;

// Messages in progress per member where nothing else orders them.
inline constexpr int window = 16;

// Blocking collectives go through shared memory up to so many bytes (of a vector, or of a block). A byte is copied twice there, and one
// member alone reduces a part, but a batch of parts costs one wait. With more ranks than cores, where a message waits for a process that is
// not running, that is less at any length: 8 ranks of 2 cores, allreduce of 4 MiB 7.7 ms and by messages 19.6, allgather of 1 MiB 7.3 and 10.8,
// reduce-scatter of 1 MiB 11.2 and 27.9 (`collective --mode ...`, a 2-core AMD EPYC VM). The parts of an all-to-all are shorter the more there are
// to send to.
//
// Two or three members with a core each use slots only while waiting costs more than copying: each of their messages lies where its sender has
// just read one (docs/adr/0079), and a slot where others have.
inline constexpr std::size_t any_length = ~std::size_t{0};
constexpr std::size_t shared_bcast(int size, bool oversubscribed) {
  return oversubscribed ? any_length : (size < 4 ? 3 : 256) * kilobyte;
}
constexpr std::size_t shared_reduce(int size, bool oversubscribed) {
  return oversubscribed ? any_length : (size < 4 ? 256 : 64) * kilobyte;
}
// By messages each of two members reduces a half, which it reads from the other's buffer.
constexpr std::size_t shared_allreduce(int size, bool oversubscribed) {
  return oversubscribed ? any_length : (size < 4 ? 8 : 64) * kilobyte;
}
constexpr std::size_t shared_reduce_scatter(int size, bool oversubscribed) {
  return oversubscribed ? any_length : (size < 4 ? 4 : 64) * kilobyte;
}
constexpr std::size_t shared_allgather(int size, bool oversubscribed) {
  return oversubscribed ? any_length : (size < 4 ? 2 : 32) * kilobyte;
}
constexpr std::size_t shared_scan(int size, bool oversubscribed) { return shared_reduce(size, oversubscribed); }
constexpr std::size_t shared_alltoall(int size, bool oversubscribed) {
  return (oversubscribed ? 128 : size < 4 ? 3 : 8) * kilobyte;
}

// A block of a gather or scatter lies in a slot as long as a message of its length would be copied twice, too; where members have a core
// each, only short ones. A longer one is a message.
constexpr std::size_t block_in_slot(bool one_process, bool oversubscribed) {
  return (one_process ? 4 : oversubscribed ? 16 : 2) * kilobyte;
}
// With more ranks than cores a thread that waits for the other side of a message waits for a process that is not
// running, and a longer one may lie in a deposit instead, so that its sender goes on. Between ranks of one process,
// where a message is one copy, that pays for less.
constexpr std::size_t gather_in_deposit(bool one_process, bool oversubscribed) {
  return (!oversubscribed ? 0 : one_process ? 64 : 256) * kilobyte;
}
// All blocks of a scatter are copied by its root alone, while receivers of messages would share that out.
constexpr std::size_t scatter_in_deposit(bool oversubscribed) { return (oversubscribed ? 64 : 0) * kilobyte; }

// Over several nodes leaders carry a collective between them, whatever its length (leaders.hpp): each byte crosses as
// often as it has to. So a member's choice depends on no length that another may see otherwise. Up to so many bytes,
// one slot of a region, the steps inside a node go through its memory; a longer message is copied once, a slot twice.
constexpr bool through_node_memory(std::size_t bytes) { return bytes <= 16 * kilobyte; }

// Between ranks of one process they go straight from buffer to buffer from so many bytes on. That waits twice, however long the
// vector is.
// A message to a single receiver is copied by both.
constexpr bool direct_bcast(std::size_t bytes, int size) {
  return bytes >= 16 * kilobyte && (size > 2 || bytes < 64 * kilobyte);
}
constexpr std::size_t direct_reduce(bool oversubscribed) { return (oversubscribed ? 64 : 16) * kilobyte; }
constexpr std::size_t direct_allgather(bool oversubscribed) { return (oversubscribed ? 64 : 8) * kilobyte; }
constexpr std::size_t direct_alltoall(bool oversubscribed) { return (oversubscribed ? 16 : 8) * kilobyte; }

// Between processes with more ranks than cores they read each other's buffers through the kernel, from blocks of so many bytes on
// (docs/adr/0078).
inline constexpr std::size_t far_reduce_scatter = 32 * kilobyte;
inline constexpr std::size_t far_alltoall = 16 * kilobyte;
constexpr std::size_t far_allgather(int size) { return size < 8 ? 64 * kilobyte : any_length; }

// Broadcast: a binomial tree, or scatter and allgather. The latter moves twice the bytes but shares out the work of
// copying.
constexpr bool bcast_scatters(std::size_t bytes, int size) { return bytes >= 512 * kilobyte && size >= 4; }

// Gather and scatter: a binomial tree copies small blocks several times, and spares the root receiving them one by one.
constexpr bool gather_by_tree(std::size_t block, int size) { return block <= 2 * kilobyte && size >= 4; }

// Allgather and all-to-all: Bruck's needs the logarithm of the messages, but all wait for all in each round.
constexpr bool allgather_by_bruck(std::size_t all, int size) { return all <= 16 * kilobyte && size > 8; }
constexpr bool alltoall_by_bruck(std::size_t block, int size) { return block <= 256 && size > 8; }

// Reductions of vectors that are long enough to share the work: each member reduces a slice.
constexpr bool reduce_by_slices(std::size_t bytes, int size) { return bytes >= 64 * kilobyte && size >= 3; }
// Two leaders of nodes have not agreed on the length, as two members of a node have.
constexpr bool allreduce_by_slices(std::size_t bytes, int size, bool leaders) {
  return bytes >= 32 * kilobyte && size >= (leaders ? 3 : 2);
}
// Reduce-scatter: each slice reduced by its owner, or all by one member.
constexpr bool reduce_scatter_by_slices(std::size_t bytes, int size) { return bytes >= 4 * kilobyte || size <= 4; }
// Slices that a member receives before it reduces them: fewer rounds for more memory.
inline constexpr int slices_at_a_time = 4;

}  // namespace heddle::coll::choose
