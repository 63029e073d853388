// Datatypes (MPI 5.0, chapter 5) and the functions that move data that they describe.
//
// A datatype gives the places of an element's bytes in memory. Written one after the other in the order of the type map
// they are its packed stream; `count` elements follow each other at `extent`. Committing a derived datatype compiles it
// into a Program (program.hpp) that pack, unpack, copy and segments run.
//
// Predefined datatypes are process-wide constants: they are never counted, freed or written.
#pragma once

#include <mpi.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "objects/datatype/element.hpp"
#include "objects/object/object.hpp"

namespace heddle {

struct AttributeSet;
namespace datatype {
struct Contents;
struct Program;
}  // namespace datatype

struct Datatype final : Object {
  static constexpr Kind object_kind = Kind::datatype;
  constexpr Datatype() : Object(Kind::datatype) {}

  // One element: bytes of data, bounds, and bounds of the data alone.
  MPI_Count size = 0;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Aint true_lb = 0;
  MPI_Aint true_extent = 0;

  MPI_Count elements = 0;           // basic elements in one; the two halves of a pair type count each
  Element element = Element::none;  // the common one, or Element::mixed
  Element value = Element::none;    // of a pair type, as MPI_MINLOC and MPI_MAXLOC take, what it pairs
  Element index = Element::none;
  std::uint8_t alignment = 1;  // the strictest of all elements
  bool dense = false;          // any count of them is one run of count * size bytes that starts at true_lb
  bool run = false;            // one of them is one run of size bytes that starts at true_lb
  bool bounded = false;        // lb and extent were set by MPI_Type_create_resized somewhere inside
  bool predefined = false;     // named or unnamed: not to be freed
  bool committed = false;

  std::uint64_t signature = 0;  // see signature.hpp
  std::uint64_t signature_power = 1;

  const datatype::Program* program = nullptr;  // made by commit, unless dense
  datatype::Contents* contents = nullptr;      // its constructor's arguments; null: a named predefined type
  AttributeSet* attributes = nullptr;

  constexpr bool is_pair() const { return value != Element::none; }

  // True if displacements of this type can be absolute addresses, so that its buffer is MPI_BOTTOM (which is null).
  constexpr bool may_be_absolute() const { return true_lb >= 0x1000 || true_lb < 0; }
};

static_assert(std::is_trivially_destructible_v<Datatype>);  // so that nothing runs for the predefined ones at exit

namespace datatype {
// The predefined ones, a row each (predefined.cpp), and their positions: row numbers count from 1, and
// MPI_DATATYPE_NULL is the first of the range of constants.
struct Predefined {
  constexpr Predefined();
  Datatype types[70];
};
extern Predefined predefined;
inline constexpr std::uintptr_t first_constant = 0x200;
extern const std::array<std::uint8_t, 256> row_of_constant;
}  // namespace datatype

// The predefined datatype of a constant of the standard (0x200 .. 0x2ff); null if there is none of that
// value.
inline Datatype* predefined_datatype(MPI_Datatype constant) {
  const std::uintptr_t position = reinterpret_cast<std::uintptr_t>(constant) - datatype::first_constant;
  if (position >= datatype::row_of_constant.size()) return nullptr;
  const std::uint8_t row = datatype::row_of_constant[position];
  return row == 0 ? nullptr : &datatype::predefined.types[row - 1];
}

inline void retain(const Datatype& type) {
  if (!type.predefined) retain<Datatype>(const_cast<Datatype&>(type));
}
inline void retain(Datatype& type) { retain(static_cast<const Datatype&>(type)); }
namespace datatype {
void release_derived(Datatype& type);
}
inline void release(const Datatype& type) {
  if (!type.predefined) datatype::release_derived(const_cast<Datatype&>(type));
}
inline void release(Datatype& type) { release(static_cast<const Datatype&>(type)); }

// Bytes of the packed stream of `count` elements.
inline std::size_t packed_size(const Datatype& type, MPI_Count count) {
  return static_cast<std::size_t>(type.size) * static_cast<std::size_t>(count);
}

// The start of the one run of a dense buffer.
inline void* run_start(const Datatype& type, const void* buf) {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(buf) + static_cast<std::uintptr_t>(type.true_lb));
}
// True if the data of `count` elements are one run of bytes.
inline bool is_run(const Datatype& type, MPI_Count count) { return type.dense || (type.run && count == 1); }

namespace datatype {
// Beyond 2 KiB the C library copies by one string instruction (rep movsb), which brings lines out of another core's cache more
// slowly than a loop does; up to 16 KiB those of a message are there. Longer runs come from memory, where that instruction is the
// better one. Latency of 4 KiB in pieces 0.78 of what it was, 16 KiB 0.89; pieces of 1 KiB win two thirds of that, of 512 bytes
// nothing; all of 1 MiB in pieces would lose a tenth (a 2-core AMD EPYC VM, glibc 2.36).
inline constexpr std::size_t copy_piece = 2 * 1024;
inline constexpr std::size_t most_in_pieces = 16 * 1024;
void copy_in_pieces(char* to, const char* from, std::size_t n);
// A run of bytes; a short one, as most messages are, without a call.
[[gnu::always_inline]] inline void copy_run(char* to, const char* from, std::size_t n) {
  const auto copy_ends = [&](auto part) {
    auto last = part;
    std::memcpy(&part, from, sizeof part);
    std::memcpy(&last, from + n - sizeof last, sizeof last);
    std::memcpy(to, &part, sizeof part);
    std::memcpy(to + n - sizeof last, &last, sizeof last);
  };
  if (n > copy_piece && n <= most_in_pieces) return copy_in_pieces(to, from, n);
  if (n > 16 || n < 4) return static_cast<void>(std::memcpy(to, from, n));
  if (n >= 8) return copy_ends(std::uint64_t{});
  copy_ends(std::uint32_t{});
}
void pack_program(const Datatype& type, const void* buf, MPI_Count count, std::size_t offset, void* out, std::size_t n);
void unpack_program(const Datatype& type, void* buf, MPI_Count count, std::size_t offset, const void* in,
                    std::size_t n);
}  // namespace datatype

// Bytes [offset, offset + n) of the packed stream, to `out` or from `in`. The window must lie within the
// stream; it may start and end anywhere, also in the middle of an element, and costs a search of logarithmic
// time to find. The type must be committed.
inline void pack(const Datatype& type, const void* buf, MPI_Count count, std::size_t offset, void* out, std::size_t n) {
  if (n == 0) return;
  if (is_run(type, count)) {
    datatype::copy_run(static_cast<char*>(out), static_cast<const char*>(run_start(type, buf)) + offset, n);
  } else {
    datatype::pack_program(type, buf, count, offset, out, n);
  }
}
inline void unpack(const Datatype& type, void* buf, MPI_Count count, std::size_t offset, const void* in,
                   std::size_t n) {
  if (n == 0) return;
  if (is_run(type, count)) {
    datatype::copy_run(static_cast<char*>(run_start(type, buf)) + offset, static_cast<const char*>(in), n);
  } else {
    datatype::unpack_program(type, buf, count, offset, in, n);
  }
}

// From one layout to another: the first min(both streams' sizes) bytes, without a buffer of that size in
// between. Returns how many bytes that is. The two must not overlap.
std::size_t copy(const Datatype& from_type, const void* from, MPI_Count from_count, const Datatype& to_type, void* to,
                 MPI_Count to_count);

// The contiguous runs of memory that hold the stream from `offset` on, in stream order, adjacent ones merged:
// fills at most `max` of `out`, returns how many, and in `bytes` how much of the stream they hold. Going on
// at offset + bytes gives the next ones; 0 runs: the stream ends there.
std::size_t segments(const Datatype& type, const void* buf, MPI_Count count, std::size_t offset, iovec* out,
                     std::size_t max, std::size_t& bytes);

// Makes it usable for communication; does nothing the second time.
void commit(Datatype& type);

}  // namespace heddle
