// Envelopes, by which messages are matched (MPI 5.0, section 3.5): context, source and tag. The envelope of a receive or a probe may have
// wildcards.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "network/header.hpp"
#include "objects/object/request.hpp"

namespace heddle::message {

struct Envelope {
  std::uint64_t context;
  int source;
  int tag;

  // Compares tags first: they differ most often.
  friend bool operator==(const Envelope& a, const Envelope& b) {
    return a.tag == b.tag && a.source == b.source && a.context == b.context;
  }
};

inline Envelope envelope_of(const lln::Header& header) { return {header.context, header.source, header.tag}; }
inline Envelope envelope_of(const Request& request) { return {request.context, request.source, request.tag}; }

// The kinds of receives and probes, with one bit for each wildcard.
inline constexpr unsigned exact = 0, any_source = 1, any_tag = 2, kinds = 4;

inline unsigned kind_of(const Envelope& e) {
  return (e.source == MPI_ANY_SOURCE ? any_source : exact) | (e.tag == MPI_ANY_TAG ? any_tag : exact);
}
// The envelope with the wildcards of `kind` that matches a message with envelope `e`.
inline Envelope asked_by(unsigned kind, const Envelope& e) {
  return {e.context, (kind & any_source) != 0 ? MPI_ANY_SOURCE : e.source, (kind & any_tag) != 0 ? MPI_ANY_TAG : e.tag};
}

// The lower bits are the well mixed ones: the upper bytes of a product depend on all bits of the factor, and are swapped to the lower
// end. The factors are random odd numbers. They were chosen from thousands of sets: with strides, grids and ranges of contexts, sources
// and tags, their buckets were filled most like random ones.
using Hash = std::uint32_t;
[[gnu::always_inline]] inline Hash hash_of(const Envelope& e) {
  const std::uint32_t low =
      static_cast<std::uint32_t>(e.source) * 0x8c60169bu + static_cast<std::uint32_t>(e.tag) * 0x7f981c2fu;
  return static_cast<Hash>(__builtin_bswap64((e.context * 0x30d67b818e18b447 + low) * 0xaf31a3315a5fb227));
}

}  // namespace heddle::message
