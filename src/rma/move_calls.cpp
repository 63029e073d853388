// MPI_Put, MPI_Get and their request-based variants (MPI 5.0, sections 12.3.1, 12.3.2 and 12.3.5). The data are where they
// shall be when the call returns.
#include "binding/impl.hpp"
#include "object/resolve.hpp"
#include "rma/access.hpp"

namespace heddle::mpi {

namespace {

using rma::Layout;
using rma::Place;
using rma::Wanted;

Error put(const Layout& origin, const Wanted& wanted, Win& win) {
  if (wanted.rank == MPI_PROC_NULL) return success;
  Place place;
  if (Error e = rma::find_place(win, wanted, place)) return e;
  return rma::write(origin, place);
}

Error get(const Layout& origin, const Wanted& wanted, Win& win) {
  if (wanted.rank == MPI_PROC_NULL) return success;
  Place place;
  if (Error e = rma::find_place(win, wanted, place)) return e;
  return rma::read(place, origin);
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
  if (Error e = put({&origin_datatype, const_cast<void*>(origin_addr), origin_count},
                    {target_rank, target_disp, target_count, target_datatype, true}, win))
    return e;
  *request = handle_of<MPI_Request>(*current_rank().sent);
  return success;
}

Error Rget(void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, Win& win,
           MPI_Request* request) {
  if (Error e = get({&origin_datatype, origin_addr, origin_count},
                    {target_rank, target_disp, target_count, target_datatype, true}, win))
    return e;
  *request = handle_of<MPI_Request>(*current_rank().sent);
  return success;
}

}  // namespace heddle::mpi
