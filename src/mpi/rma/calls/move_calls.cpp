// MPI_Put, MPI_Get and their request-based variants (MPI 5.0, sections 12.3.1, 12.3.2 and 12.3.5). The data have
// arrived when the call returns, unless they travel by messages.
#include "mpi/rma/access.hpp"
#include "mpi/rma/reach/operations.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

using rma::Layout;
using rma::TargetRegion;
using rma::Wanted;

// Where this process cannot copy the data itself.
[[gnu::cold, gnu::noinline]] Error put_elsewhere(const Layout& origin, int target, const TargetRegion& place, Win& win,
                                                 Request** request) {
  if (place.process != rma::by_messages) return rma::write_far(origin, place);
  return rma::reach::put(*win.window, target, origin, place, request);
}
[[gnu::cold, gnu::noinline]] Error get_elsewhere(const Layout& origin, int target, const TargetRegion& place, Win& win,
                                                 Request** request) {
  if (place.process != rma::by_messages) return rma::read_far(place, origin);
  return rma::reach::get(*win.window, target, place, origin, request);
}

[[gnu::always_inline]] inline Error put(const Layout& origin, const Wanted& wanted, Win& win,
                                        Request** request = nullptr) {
  if (wanted.rank == MPI_PROC_NULL) return success;
  TargetRegion place;
  if (Error e = rma::find_place(win, wanted, place)) return e;
  const Layout& to = place.layout;
  if (Error e = rma::check_fits(origin.bytes(), to.bytes())) return e;
  if (place.process != boot::this_process) return put_elsewhere(origin, wanted.rank, place, win, request);
  copy(*origin.type, origin.at, origin.count, *to.type, to.at, to.count);
  return success;
}

[[gnu::always_inline]] inline Error get(const Layout& origin, const Wanted& wanted, Win& win,
                                        Request** request = nullptr) {
  if (wanted.rank == MPI_PROC_NULL) return success;
  TargetRegion place;
  if (Error e = rma::find_place(win, wanted, place)) return e;
  const Layout& from = place.layout;
  if (Error e = rma::check_fits(from.bytes(), origin.bytes())) return e;
  if (place.process != boot::this_process) return get_elsewhere(origin, wanted.rank, place, win, request);
  copy(*from.type, from.at, from.count, *origin.type, origin.at, origin.count);
  return success;
}

}  // namespace

Error Put(const void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, Win& win) {
  return put({&origin_datatype, const_cast<void*>(origin_addr), origin_count},
             {target_rank, target_disp, target_count, target_datatype}, win);
}

Error Get(void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
          MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, Win& win) {
  return get({&origin_datatype, origin_addr, origin_count}, {target_rank, target_disp, target_count, target_datatype},
             win);
}

Error Rput(const void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, Win& win,
           MPI_Request* request) {
  Request* made = current_rank().sent;
  if (Error e = put({&origin_datatype, const_cast<void*>(origin_addr), origin_count},
                    {target_rank, target_disp, target_count, target_datatype, true}, win, &made))
    return e;
  *request = handle_of<MPI_Request>(*made);
  return success;
}

Error Rget(void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, Win& win,
           MPI_Request* request) {
  Request* made = current_rank().sent;
  if (Error e = get({&origin_datatype, origin_addr, origin_count},
                    {target_rank, target_disp, target_count, target_datatype, true}, win, &made))
    return e;
  *request = handle_of<MPI_Request>(*made);
  return success;
}

}  // namespace heddle::mpi
