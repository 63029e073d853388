// Running compiled datatypes.
#include <algorithm>

#include "objects/datatype/datatype.hpp"
#include "objects/datatype/kernels.hpp"
#include "objects/datatype/walk.hpp"

namespace heddle {
namespace datatype {
namespace {

template <class Sink>
void walk(const Datatype& type, const void* buf, MPI_Count count, std::size_t offset, std::size_t n, Sink& sink) {
  const Program& program = *type.program;
  const Node all = repeat(program.nodes[program.root], program.root, count, type.extent);
  const auto at = reinterpret_cast<std::uintptr_t>(buf) + static_cast<std::uintptr_t>(program.disp);
  Walk<Sink>(program, sink).window(all, at, offset, n);
}

// Collects runs, joins those that touch, and stops the walk when there is no room for another.
class Collector {
 public:
  Collector(iovec* out, std::size_t max) : out_(out), max_(max) {}

  std::size_t used() const { return used_; }
  std::size_t bytes() const { return bytes_; }

  bool run(std::uintptr_t at, std::size_t n) {
    if (used_ != 0 && at == end_) {
      out_[used_ - 1].iov_len += n;
    } else {
      if (used_ == max_) return false;
      out_[used_++] = {reinterpret_cast<void*>(at), n};
    }
    end_ = at + n;
    bytes_ += n;
    return true;
  }

  bool grid(std::uintptr_t at, std::size_t length, std::int64_t count, std::int64_t stride, std::int64_t outer,
            std::int64_t outer_stride) {
    for (std::int64_t i = 0; i < outer; ++i, at += static_cast<std::uintptr_t>(outer_stride)) {
      std::uintptr_t block = at;
      for (std::int64_t j = 0; j < count; ++j, block += static_cast<std::uintptr_t>(stride)) {
        if (!run(block, length)) return false;
      }
    }
    return true;
  }

  bool blocks(std::uintptr_t at, std::size_t length, std::int64_t count, const std::int64_t* offsets) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!run(at + static_cast<std::uintptr_t>(offsets[i]), length)) return false;
    }
    return true;
  }

  bool entries(std::uintptr_t at, std::int64_t count, const Entry* entry) {
    for (std::int64_t i = 0; i < count; ++i, ++entry) {
      if (!run(at + static_cast<std::uintptr_t>(entry->disp), entry[1].start - entry[0].start)) return false;
    }
    return true;
  }

 private:
  iovec* out_;
  std::size_t max_;
  std::size_t used_ = 0;
  std::size_t bytes_ = 0;
  std::uintptr_t end_ = 0;
};

// Bytes in an average run.
std::size_t grain(const Datatype& type) {
  return type.dense ? packed_size(type, 1) : packed_size(type, 1) / type.program->runs;
}

}  // namespace

void copy_in_pieces(char* to, const char* from, std::size_t n) {
  while (n > 0) {
    std::size_t piece = std::min(n, copy_piece);
    asm("" : "+r"(piece));  // a bound that the compiler knows makes it put that very instruction here
    std::memcpy(to, from, piece);
    to += piece;
    from += piece;
    n -= piece;
  }
}

void pack_program(const Datatype& type, const void* buf, MPI_Count count, std::size_t offset, void* out,
                  std::size_t n) {
  Mover<Direction::pack> mover(static_cast<char*>(out));
  walk(type, buf, count, offset, n, mover);
}

void unpack_program(const Datatype& type, void* buf, MPI_Count count, std::size_t offset, const void* in,
                    std::size_t n) {
  Mover<Direction::unpack> mover(static_cast<const char*>(in));
  walk(type, buf, count, offset, n, mover);
}

}  // namespace datatype

std::size_t segments(const Datatype& type, const void* buf, MPI_Count count, std::size_t offset, iovec* out,
                     std::size_t max, std::size_t& bytes) {
  bytes = 0;
  const std::size_t size = packed_size(type, count);
  if (max == 0 || offset >= size) return 0;
  if (is_run(type, count)) {
    bytes = size - offset;
    out[0] = {static_cast<char*>(run_start(type, buf)) + offset, bytes};
    return 1;
  }
  datatype::Collector collector(out, max);
  datatype::walk(type, buf, count, offset, size - offset, collector);
  bytes = collector.bytes();
  return collector.used();
}

namespace {

// Calls f(address, offset in the stream, bytes) for the runs of the first n bytes.
template <class F>
void for_each_run(const Datatype& type, const void* buf, MPI_Count count, std::size_t n, F&& f) {
  constexpr std::size_t batch = 32;
  iovec runs[batch];
  for (std::size_t offset = 0, bytes; offset < n;) {
    const std::size_t found = segments(type, buf, count, offset, runs, batch, bytes);
    for (std::size_t i = 0; i < found && offset < n; ++i) {
      const std::size_t m = std::min(runs[i].iov_len, n - offset);
      f(static_cast<char*>(runs[i].iov_base), offset, m);
      offset += m;
    }
  }
}

}  // namespace

std::size_t copy(const Datatype& from_type, const void* from, MPI_Count from_count, const Datatype& to_type, void* to,
                 MPI_Count to_count) {
  const std::size_t n = std::min(packed_size(from_type, from_count), packed_size(to_type, to_count));
  if (n == 0) return 0;
  if (is_run(from_type, from_count)) {
    unpack(to_type, to, to_count, 0, run_start(from_type, from), n);
    return n;
  }
  if (is_run(to_type, to_count)) {
    pack(from_type, from, from_count, 0, run_start(to_type, to), n);
    return n;
  }
  // Long runs are worth a search in the other layout each. Short ones are gathered in the first-level cache.
  constexpr std::size_t long_run = 512;
  const std::size_t from_grain = datatype::grain(from_type);
  const std::size_t to_grain = datatype::grain(to_type);
  if (from_grain >= long_run && from_grain >= to_grain) {
    for_each_run(from_type, from, from_count, n, [&](const char* at, std::size_t offset, std::size_t m) {
      unpack(to_type, to, to_count, offset, at, m);
    });
  } else if (to_grain >= long_run) {
    for_each_run(to_type, to, to_count, n, [&](char* at, std::size_t offset, std::size_t m) {
      pack(from_type, from, from_count, offset, at, m);
    });
  } else {
    char stage[8192];
    for (std::size_t offset = 0; offset < n; offset += sizeof stage) {
      const std::size_t m = std::min(sizeof stage, n - offset);
      pack(from_type, from, from_count, offset, stage, m);
      unpack(to_type, to, to_count, offset, stage, m);
    }
  }
  return n;
}

}  // namespace heddle
