// The exchanges of a communicator's members when they make a new one from it.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

#include "objects/object/comm.hpp"
#include "objects/object/error.hpp"

namespace heddle {

// Collective: each member contributes `each` bytes, and gets those of the local group in `ours` and, on an
// intercommunicator, those of the remote group in `theirs`, in rank order.
Error exchange_bytes(Comm& parent, const void* mine, void* ours, void* theirs, std::size_t each);

template <class T>
Error exchange(Comm& parent, const T& mine, std::vector<T>& ours, std::vector<T>& theirs) {
  static_assert(std::is_trivially_copyable_v<T>);
  ours.resize(static_cast<std::size_t>(parent.size));
  theirs.resize(static_cast<std::size_t>(parent.inter ? parent.remote_size : 0));
  return exchange_bytes(parent, &mine, ours.data(), theirs.data(), sizeof(T));
}

// Collective over an intracommunicator: each member contributes any number of bytes, and gets all of them, in rank
// order.
Error gather_bytes(Comm& comm, const void* mine, std::size_t bytes, std::vector<std::byte>& all);

template <class T>
Error gather(Comm& comm, const std::vector<T>& mine, std::vector<T>& all) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes;
  if (Error e = gather_bytes(comm, mine.data(), mine.size() * sizeof(T), bytes)) return e;
  all.resize(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(all.data(), bytes.data(), bytes.size());
  return success;
}

// Collective over `group` alone, whose members are all in the intracommunicator `comm`: member 0's bytes to all, by
// messages with this tag on the collective plane.
Error announce_in_group(Comm& comm, const Group& group, int tag, void* data, std::size_t bytes);

// The two leaders of an intercommunicator-to-be swap bytes; the lengths are known to both.
Error swap_bytes(Comm& comm, int peer, int tag, const void* out, std::size_t out_bytes, void* in, std::size_t in_bytes);

// True if this one of two disjoint groups makes common decisions: its first member comes first in the job.
bool leads(const Group& group, const Group& other);

}  // namespace heddle
