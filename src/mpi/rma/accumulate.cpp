#include "mpi/rma/accumulate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "objects/datatype/contents.hpp"
#include "objects/datatype/name.hpp"
#include "objects/datatype/signature.hpp"

namespace heddle::rma {

namespace {

constexpr std::size_t piece_bytes = 4096;  // on a stack that may be small: user-level threads come here too
struct alignas(64) Piece {
  std::byte bytes[piece_bytes];
};

bool is(const Op& op, MPI_Op constant) { return op.handle == reinterpret_cast<std::uintptr_t>(constant); }

// The leaves of a layout as an array, as reductions want them. Most layouts are one; of the others, pieces go through a
// packed stream, which has no gaps, unlike an array (of the pair types of MPI_MINLOC).
class Leaves {
 public:
  Leaves(const Layout& layout, const Datatype& leaf) : layout_(layout), leaf_(leaf) {}

  // The address of the array if the layout is one, else null.
  std::byte* array() const {
    const bool one = layout_.type == &leaf_ || (leaf_.dense && is_run(*layout_.type, layout_.count));
    return one ? static_cast<std::byte*>(run_start(*layout_.type, layout_.at)) : nullptr;
  }
  std::byte* array(std::size_t first) const {
    std::byte* const start = array();
    return start ? start + first * static_cast<std::size_t>(leaf_.extent) : nullptr;
  }

  // Elements [first, first + n), by read(offset in the stream, out, bytes) or write(offset, in, bytes).
  template <class Read>
  Error read(std::size_t first, std::size_t n, void* out, Read&& read) const {
    if (leaf_.dense) return read(offset(first), out, offset(n));
    Piece stream;
    if (Error e = read(offset(first), stream.bytes, offset(n))) return e;
    unpack(leaf_, out, static_cast<MPI_Count>(n), 0, stream.bytes, offset(n));
    return success;
  }
  template <class Write>
  Error write(std::size_t first, std::size_t n, const void* in, Write&& write) const {
    if (leaf_.dense) return write(offset(first), in, offset(n));
    Piece stream;
    pack(leaf_, in, static_cast<MPI_Count>(n), 0, stream.bytes, offset(n));
    return write(offset(first), stream.bytes, offset(n));
  }

 private:
  std::size_t offset(std::size_t elements) const { return elements * static_cast<std::size_t>(leaf_.size); }

  const Layout& layout_;
  const Datatype& leaf_;
};

Error read_ours(const Layout& from, const Datatype& leaf, std::size_t first, std::size_t n, void* out) {
  return Leaves(from, leaf).read(first, n, out, [&](std::size_t offset, void* to, std::size_t bytes) {
    pack(*from.type, from.at, from.count, offset, to, bytes);
    return success;
  });
}

Error write_ours(const Layout& to, const Datatype& leaf, std::size_t first, std::size_t n, const void* in) {
  return Leaves(to, leaf).write(first, n, in, [&](std::size_t offset, const void* from, std::size_t bytes) {
    unpack(*to.type, to.at, to.count, offset, from, bytes);
    return success;
  });
}

// The target's elements [first, first + n) under the mutex: in place if that is near and an array, else in `piece`,
// from which they are written back.
class Held {
 public:
  Held(const TargetRegion& target, const Datatype& leaf, std::size_t first, std::size_t n, Piece& piece)
      : target_(target), leaves_(target.layout, leaf), first_(first), n_(n) {
    if (target.process == boot::this_process) in_place_ = leaves_.array(first);
    data_ = in_place_ ? in_place_ : piece.bytes;
  }
  Error fetch() {
    if (in_place_) return success;
    return leaves_.read(first_, n_, data_, [this](std::size_t offset, void* out, std::size_t bytes) {
      return load(target_, offset, out, bytes);
    });
  }
  Error put_back() {
    if (in_place_) return success;
    return leaves_.write(first_, n_, data_, [this](std::size_t offset, const void* in, std::size_t bytes) {
      return store(target_, offset, in, bytes);
    });
  }
  std::byte* data() const { return data_; }

 private:
  const TargetRegion& target_;
  const Leaves leaves_;
  std::size_t first_;
  std::size_t n_;
  std::byte* in_place_ = nullptr;
  std::byte* data_;
};

}  // namespace

const Datatype* element_type(const Datatype& type) {
  const Datatype* leaf = &type;
  while (leaf && !leaf->predefined) {
    const Datatype* child = nullptr;
    datatype::for_each_part(*leaf->contents, [&](const datatype::Part& part) {
      if (!child && part.count > 0 && part.block > 0 && part.child->size > 0) child = part.child;
    });
    leaf = child;
  }
  if (!leaf || leaf == &type) return leaf;
  const auto n = static_cast<std::uint64_t>(type.size / leaf->size);
  return signature_of(type) == signature_of(*leaf) * n ? leaf : nullptr;
}

Error check_combination(const Op& op, const Layout* origin, const Layout& target, const Layout* result,
                        const Datatype*& leaf) {
  leaf = element_type(*target.type);
  if (!leaf)
    return fail(MPI_ERR_TYPE, "the elements of target_datatype, %s, are not all of one predefined type",
                datatype::label(*target.type));
  for (const Layout* ours : {origin, result}) {
    if (!ours || ours->bytes() == 0) continue;
    const Datatype* other = element_type(*ours->type);
    if (!other || signature_of(*other) != signature_of(*leaf))
      return fail(MPI_ERR_TYPE, "target_datatype has elements of %s, but %s, at the origin, has others",
                  datatype::label(*leaf), datatype::label(*ours->type));
  }
  if (origin)
    if (Error e = check_fits(origin->bytes(), target.bytes())) return e;
  if (result)
    if (Error e = check_fits(target.bytes(), result->bytes())) return e;
  if (is(op, MPI_NO_OP) || is(op, MPI_REPLACE)) return success;
  return check_reducible(op, *leaf);
}

Error accumulate(SharedMutex& atomicity, const Op& op, const Layout* origin, const TargetRegion& target,
                 const Layout* result) {
  if (target.layout.bytes() == 0 || (origin && origin->bytes() == 0)) return success;
  const Datatype* leaf;
  if (Error e = check_combination(op, origin, target.layout, result, leaf)) return e;
  const std::size_t bytes = origin ? origin->bytes() : target.layout.bytes();
  const std::size_t n = bytes / static_cast<std::size_t>(leaf->size);
  const std::size_t step = piece_bytes / static_cast<std::size_t>(leaf->extent);
  const bool changes = origin != nullptr;
  Piece operand;
  Piece value;
  for (std::size_t first = 0; first < n; first += step) {
    const std::size_t m = std::min(step, n - first);
    const std::byte* in = origin ? Leaves(*origin, *leaf).array(first) : nullptr;
    if (origin && !in) {
      if (Error e = read_ours(*origin, *leaf, first, m, operand.bytes)) return e;
      in = operand.bytes;
    }
    Held held(target, *leaf, first, m, value);
    const SharedGuard guard(atomicity);
    if (Error e = held.fetch()) return e;
    if (result)
      if (Error e = write_ours(*result, *leaf, first, m, held.data())) return e;
    if (!changes) continue;
    reduce_local(op, in, held.data(), static_cast<MPI_Count>(m), *leaf);
    if (Error e = held.put_back()) return e;
  }
  return success;
}

Error compare_and_swap(SharedMutex& atomicity, const void* origin, const void* compare, void* result,
                       const TargetRegion& target) {
  const auto bytes = target.layout.bytes();
  std::byte value[16];  // the largest integer or logical
  const SharedGuard guard(atomicity);
  if (Error e = load(target, 0, value, bytes)) return e;
  std::memcpy(result, value, bytes);
  return std::memcmp(value, compare, bytes) == 0 ? store(target, 0, origin, bytes) : success;
}

}  // namespace heddle::rma
