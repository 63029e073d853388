// Names that this rank has sent to other nodes: a name is looked up here, never followed as an address.
//
// A name is a number that is used once. A revoked name is not found any more, also if its memory has been reused. It
// costs no memory: the named object contains its links.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace heddle::lln {

// `Links` has name(T&) and next(T&), each a reference to a word of T's; a name of 0 is none.
template <class T, class Links>
class Names {
 public:
  void announce(T& one) {
    Links::name(one) = ++last_;
    T*& first = bucket_of(last_);
    Links::next(one) = first;
    first = &one;
  }
  // Null: no object has this name, or not any more.
  T* find(std::uint64_t name) {
    T* one = bucket_of(name);
    while (one != nullptr && Links::name(*one) != name) one = Links::next(*one);
    return one;
  }
  // An object for which holds(object); null: there is none.
  template <class F>
  T* find_if(F&& holds) {
    for (T* one : buckets_)
      for (; one != nullptr; one = Links::next(*one))
        if (holds(*one)) return one;
    return nullptr;
  }
  // `to`, which has no name, takes the one of `from`.
  void hand_over(T& from, T& to) {
    for (T** at = &bucket_of(Links::name(from)); *at != nullptr; at = &Links::next(**at)) {
      if (*at != &from) continue;
      *at = &to;
      Links::name(to) = std::exchange(Links::name(from), 0);
      Links::next(to) = Links::next(from);
      return;
    }
  }
  void withdraw(T& one) {
    for (T** at = &bucket_of(Links::name(one)); *at != nullptr; at = &Links::next(**at)) {
      if (*at != &one) continue;
      *at = Links::next(one);
      Links::name(one) = 0;
      return;
    }
  }

 private:
  T*& bucket_of(std::uint64_t name) { return buckets_[name % buckets_.size()]; }

  std::array<T*, 256> buckets_{};
  std::uint64_t last_ = 0;
};

}  // namespace heddle::lln
