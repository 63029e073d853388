// MPI_Accumulate and the operations that also fetch (MPI 5.0, sections 12.3.4 and 12.3.5).
#include "mpi/rma/access.hpp"
#include "mpi/rma/accumulate.hpp"
#include "mpi/rma/reach/operations.hpp"
#include "mpi/rma/window.hpp"
#include "objects/binding/impl.hpp"
#include "objects/datatype/name.hpp"
#include "objects/object/resolve.hpp"

namespace heddle::mpi {

namespace {

using rma::Layout;
using rma::TargetRegion;
using rma::Wanted;

Error combine(const Layout* origin, const Layout* result, const Wanted& wanted, const Op& op, Win& win,
              Request** request) {
  if (!op.predefined)
    return fail(MPI_ERR_OP, "op is an operation of the program's, but windows support predefined ones only");
  if (wanted.rank == MPI_PROC_NULL) return success;
  TargetRegion place;
  if (Error e = rma::find_place(win, wanted, place)) return e;
  if (win.window->messages) [[unlikely]]
    return rma::reach::accumulate(*win.window, wanted.rank, op, origin, place, result, request);
  return rma::accumulate(win.window->gate(wanted.rank).atomicity, op, origin, place, result);
}

Error combine(const Layout& origin, const Wanted& wanted, const Op& op, Win& win, Request** request = nullptr) {
  if (&op == predefined_op(MPI_NO_OP)) return fail(MPI_ERR_OP, "op is MPI_NO_OP, which is for operations that fetch");
  return combine(&origin, nullptr, wanted, op, win, request);
}

// With MPI_NO_OP the origin's arguments are ignored.
Error get_combine(const void* origin_addr, MPI_Count origin_count, const Datatype* origin_datatype,
                  const Layout& result, const Wanted& wanted, const Op& op, Win& win, Request** request = nullptr) {
  if (&op == predefined_op(MPI_NO_OP)) return combine(nullptr, &result, wanted, op, win, request);
  const Layout origin{origin_datatype, const_cast<void*>(origin_addr), origin_count};
  return combine(&origin, &result, wanted, op, win, request);
}

// An operation with a request: a completed one, unless it makes another.
template <class Begin>
Error with_request(MPI_Request* handle, Begin&& begin) {
  Request* request = current_rank().sent;
  if (Error e = begin(&request)) return e;
  *handle = handle_of<MPI_Request>(*request);
  return success;
}

// Buffers of one element, which have no count that could be zero.
Error check_buffer(const char* argument, const void* buffer) {
  if (buffer && buffer != MPI_IN_PLACE) return success;
  return fail(MPI_ERR_BUFFER, "argument %s = %p is not the address of an element", argument, buffer);
}

// True for integers, logicals and bytes, which can be compared for equality.
bool is_comparable(const Datatype& type) {
  if (type.handle == reinterpret_cast<std::uintptr_t>(MPI_CHAR)) return true;  // as in reductions (ADR 0094)
  switch (class_of(type.element)) {
    case ElementClass::integer:
    case ElementClass::c_logical:
    case ElementClass::fortran_logical:
    case ElementClass::byte:
      return type.predefined && !type.is_pair();
    default:
      return false;
  }
}

}  // namespace

Error Accumulate(const void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
                 MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, const Op& op,
                 Win& win) {
  const Layout origin{&origin_datatype, const_cast<void*>(origin_addr), origin_count};
  return combine(origin, {target_rank, target_disp, target_count, target_datatype}, op, win);
}

Error Raccumulate(const void* origin_addr, MPI_Count origin_count, const Datatype& origin_datatype, int target_rank,
                  MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, const Op& op, Win& win,
                  MPI_Request* request) {
  const Layout origin{&origin_datatype, const_cast<void*>(origin_addr), origin_count};
  return with_request(request, [&](Request** made) {
    return combine(origin, {target_rank, target_disp, target_count, target_datatype, true}, op, win, made);
  });
}

Error Get_accumulate(const void* origin_addr, MPI_Count origin_count, const Datatype* origin_datatype,
                     void* result_addr, MPI_Count result_count, const Datatype& result_datatype, int target_rank,
                     MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, const Op& op,
                     Win& win) {
  return get_combine(origin_addr, origin_count, origin_datatype, {&result_datatype, result_addr, result_count},
                     {target_rank, target_disp, target_count, target_datatype}, op, win);
}

Error Rget_accumulate(const void* origin_addr, MPI_Count origin_count, const Datatype* origin_datatype,
                      void* result_addr, MPI_Count result_count, const Datatype& result_datatype, int target_rank,
                      MPI_Aint target_disp, MPI_Count target_count, const Datatype& target_datatype, const Op& op,
                      Win& win, MPI_Request* request) {
  return with_request(request, [&](Request** made) {
    return get_combine(origin_addr, origin_count, origin_datatype, {&result_datatype, result_addr, result_count},
                       {target_rank, target_disp, target_count, target_datatype, true}, op, win, made);
  });
}

Error Fetch_and_op(const void* origin_addr, void* result_addr, const Datatype& datatype, int target_rank,
                   MPI_Aint target_disp, const Op& op, Win& win) {
  if (!datatype.predefined)
    return fail(MPI_ERR_TYPE, "datatype is %s, which is not a predefined one", datatype::label(datatype));
  if (target_rank == MPI_PROC_NULL) return success;
  if (Error e = check_buffer("result_addr", result_addr)) return e;
  if (&op != predefined_op(MPI_NO_OP))
    if (Error e = check_buffer("origin_addr", origin_addr)) return e;
  return get_combine(origin_addr, 1, &datatype, {&datatype, result_addr, 1}, {target_rank, target_disp, 1, datatype},
                     op, win);
}

Error Compare_and_swap(const void* origin_addr, const void* compare_addr, void* result_addr, const Datatype& datatype,
                       int target_rank, MPI_Aint target_disp, Win& win) {
  if (!is_comparable(datatype))
    return fail(MPI_ERR_TYPE, "datatype is %s, which is not a predefined integer, logical or byte",
                datatype::label(datatype));
  if (target_rank == MPI_PROC_NULL) return success;
  if (Error e = check_buffer("origin_addr", origin_addr)) return e;
  if (Error e = check_buffer("compare_addr", compare_addr)) return e;
  if (Error e = check_buffer("result_addr", result_addr)) return e;
  TargetRegion place;
  if (Error e = rma::find_place(win, {target_rank, target_disp, 1, datatype}, place)) return e;
  if (win.window->messages) [[unlikely]]
    return rma::reach::compare_and_swap(*win.window, target_rank, {&datatype, const_cast<void*>(origin_addr), 1},
                                        {&datatype, const_cast<void*>(compare_addr), 1}, place,
                                        {&datatype, result_addr, 1});
  return rma::compare_and_swap(win.window->gate(target_rank).atomicity, origin_addr, compare_addr, result_addr, place);
}

}  // namespace heddle::mpi
