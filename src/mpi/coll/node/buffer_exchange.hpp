// The frame of a large blocking collective in which members access each other's buffers: in a first synchronization
// each publishes the places of its buffers, in a second that it is done with those of the others.
#pragma once

#include <new>
#include <type_traits>

#include "mpi/coll/node/region.hpp"

namespace heddle::coll {

// Each member brings a T, which the others read in its slot.
template <class T>
class BufferExchange {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= Region::small_slot);

 public:
  BufferExchange(Region& region, const Signature& signature) : region_(region), signature_(signature) {}

  // The first synchronization. False: the members disagree about the operation.
  bool begin(const T& mine) {
    round_ = region_.enter();
    new (slot(region_.members().rank)) T(mine);
    return all_come(round_);
  }
  // That member's T; until end() or part().
  T& of(int member) const { return *std::launder(reinterpret_cast<T*>(slot(member))); }
  // All members are done with all buffers.
  void synchronize_again() {
    last_ = region_.enter();
    (void)all_come(last_);  // members that agreed at the beginning are in the same operation still
  }
  void end() {
    region_.all_seen_in(last_);
    region_.finish(last_);
  }
  // Instead of the two: no member has accessed another one's buffers.
  void part() {
    region_.all_seen_in(round_);
    region_.finish(round_);
  }

 private:
  std::byte* slot(int member) const { return region_.slot(round_, member, sizeof(T)); }
  bool all_come(Round e) {
    if (!region_.arrive(e, signature_)) return region_.await_open(e, signature_.kind);
    const bool agreed = region_.agreed();
    region_.open(e, agreed ? signature_.kind : Signature::none);
    return agreed;
  }

  Region& region_;
  const Signature& signature_;
  Round round_ = 0;
  Round last_ = 0;
};

}  // namespace heddle::coll
