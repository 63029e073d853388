#include "mpi/rma/reach/regions.hpp"

#include <algorithm>

namespace heddle::rma::reach {

namespace {

// False: there is no entry left for it.
bool append(std::span<Strided> out, std::uint32_t& used, std::int64_t at, std::uint32_t bytes) {
  if (used != 0) {
    Strided& last = out[used - 1];
    if (last.bytes == bytes && last.count == 1) {
      last.stride = at - last.first;
      last.count = 2;
      return true;
    }
    if (last.bytes == bytes && at == last.first + last.stride * std::int64_t{last.count}) {
      ++last.count;
      return true;
    }
  }
  if (used == out.size()) return false;
  out[used++] = {at, 0, bytes, 1};
  return true;
}

std::size_t fill(const Layout& target, std::size_t offset, std::size_t bytes, std::span<Strided> out,
                 std::uint32_t& used) {
  constexpr std::size_t batch = 64;
  iovec list[batch];
  used = 0;
  for (std::size_t done = 0; done < bytes;) {
    std::size_t found_bytes;
    const std::size_t found = segments(*target.type, target.at, target.count, offset + done, list, batch, found_bytes);
    for (std::size_t i = 0; i < found && done < bytes; ++i) {
      const std::size_t n = std::min(list[i].iov_len, bytes - done);
      const auto at = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(list[i].iov_base));
      if (!append(out, used, at, static_cast<std::uint32_t>(n))) return done;
      done += n;
    }
  }
  return bytes;
}

template <class F>
void for_each(std::byte* base, std::span<const Strided> regions, F&& f) {
  for (const Strided& some : regions) {
    for (std::uint32_t i = 0; i < some.count; ++i)
      f(reinterpret_cast<char*>(region_at(base, some.first + some.stride * std::int64_t{i})), some.bytes);
  }
}

}  // namespace

std::size_t describe(const Layout& target, std::size_t offset, std::size_t bytes, std::size_t unit,
                     std::span<Strided> out, std::uint32_t& used) {
  const std::size_t found = fill(target, offset, bytes - bytes % unit, out, used);
  const std::size_t whole = found - found % unit;
  return whole == found ? found : fill(target, offset, whole, out, used);
}

Bounds bounds_of(const Strided& regions) {
  const std::int64_t last = regions.first + regions.stride * (std::int64_t{regions.count} - 1);
  return {std::min(regions.first, last), std::max(regions.first, last) + std::int64_t{regions.bytes}};
}

void gather(std::byte* base, std::span<const Strided> regions, std::byte* out) {
  auto* to = reinterpret_cast<char*>(out);
  for_each(base, regions, [&](const char* at, std::size_t n) {
    datatype::copy_run(to, at, n);
    to += n;
  });
}

void scatter(std::byte* base, std::span<const Strided> regions, const std::byte* in) {
  const auto* from = reinterpret_cast<const char*>(in);
  for_each(base, regions, [&](char* at, std::size_t n) {
    datatype::copy_run(at, from, n);
    from += n;
  });
}

}  // namespace heddle::rma::reach
