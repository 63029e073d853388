#include "mpi/rma/reach/target_region.hpp"

#include <cstring>

namespace heddle::rma {

namespace {

Error checked(int error_number, pid_t process) {
  if (error_number == 0) return success;
  char text[128];
  return fail(MPI_ERR_RMA_RANGE, "cannot access the window's memory in process %d: %s", static_cast<int>(process),
              strerror_r(error_number, text, sizeof text));
}

Layout bytes_at(const void* at, std::size_t n) {
  return {predefined_datatype(MPI_BYTE), const_cast<void*>(at), static_cast<MPI_Count>(n)};
}

}  // namespace

Error check_fits(std::size_t from, std::size_t to) {
  if (from <= to) return success;
  return fail(MPI_ERR_TRUNCATE, "%zu bytes do not fit into the %zu bytes of their destination", from, to);
}

Error write_far(const Layout& from, const TargetRegion& to) {
  return checked(move_far(boot::Direction::write, to.process, from, to.layout, 0, from.bytes()), to.process);
}

Error read_far(const TargetRegion& from, const Layout& to) {
  const std::size_t bytes = from.layout.bytes();
  return checked(move_far(boot::Direction::read, from.process, to, from.layout, 0, bytes), from.process);
}

Error load(const TargetRegion& from, std::size_t skip, void* out, std::size_t n) {
  const Layout& layout = from.layout;
  if (from.process != 0)
    return checked(move_far(boot::Direction::read, from.process, bytes_at(out, n), layout, skip, n), from.process);
  pack(*layout.type, layout.at, layout.count, skip, out, n);
  return success;
}

Error store(const TargetRegion& to, std::size_t skip, const void* in, std::size_t n) {
  const Layout& layout = to.layout;
  if (to.process != 0)
    return checked(move_far(boot::Direction::write, to.process, bytes_at(in, n), layout, skip, n), to.process);
  unpack(*layout.type, layout.at, layout.count, skip, in, n);
  return success;
}

}  // namespace heddle::rma
