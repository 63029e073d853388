#include "mpi/rma/reach/operations.hpp"

#include <memory>
#include <new>

#include "mpi/rma/accumulate.hpp"
#include "mpi/rma/reach/apply.hpp"
#include "mpi/rma/reach/messages.hpp"

namespace heddle::rma::reach {

namespace {

Error describe_failure(int error, int target) {
  if (error == MPI_SUCCESS) return success;
  if (error == MPI_ERR_RMA_RANGE)
    return fail(error, "the memory that target_disp and target_datatype name is not all attached at rank %d", target);
  return fail(error, "the operation failed at target rank %d", target);
}

Error finish(Request& request, MPI_Status&) {
  const int error = static_cast<Tracked*>(request.state)->error.load(std::memory_order_relaxed);
  return error == MPI_SUCCESS ? success : fail(error, "an operation on a window failed at its target");
}

Error destroy(Request& request) {
  delete static_cast<Tracked*>(request.state);
  return success;
}

constexpr RequestType operation_type{.name = "one-sided",
                                     .start = nullptr,
                                     .cancel = nullptr,
                                     .finish = finish,
                                     .destroy = destroy,
                                     .awaited = boot::Awaited::target_answer};

// Sent commands stay in flight; without memory the rest is an error.
Error send_all(Origin& origin, int target, const Operation& operation, Tracked* tracked) {
  try {
    origin.start(target, operation, tracked);
    return success;
  } catch (const std::bad_alloc&) {
    return fail(MPI_ERR_NO_MEM, "no memory left for a message to target rank %d", target);
  }
}

Error run(Window& window, int target, const Operation& operation, Request** request) {
  if (operation.bytes == 0) return success;
  Origin& origin = window.messages->origin;
  if (window.messages->dynamic) {
    Tracked tracked;
    const Error error = send_all(origin, target, operation, &tracked);
    origin.end(tracked);
    origin.wait(target, tracked);
    return error ? error : describe_failure(tracked.error.load(std::memory_order_relaxed), target);
  }
  if (request == nullptr) return send_all(origin, target, operation, nullptr);
  auto tracked = std::make_unique<Tracked>();
  Request& made = p2p::take_request(operation_type);
  made.comm = &window.comm;
  made.context = window.comm.context;
  made.state = tracked.get();
  tracked->request = &made;
  *request = &made;
  const Error error = send_all(origin, target, operation, tracked.get());
  if (error) tracked->error.store(error.code(), std::memory_order_relaxed);  // told when the request ends
  origin.end(*tracked.release());
  return success;
}

// The place of the data in the target's memory, in any address space.
Layout within(const Window& window, int target, const TargetRegion& place) {
  Layout layout = place.layout;
  const std::uintptr_t base = window.targets[static_cast<std::size_t>(target)].base;
  layout.at = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(layout.at) - base);
  return layout;
}

}  // namespace

Error put(Window& window, int target, const Layout& from, const TargetRegion& to, Request** request) {
  const Operation operation{.command = {.action = Action::put},
                            .target = within(window, target, to),
                            .bytes = from.bytes(),
                            .operand = &from,
                            .operand2 = nullptr,
                            .result = nullptr};
  return run(window, target, operation, request);
}

Error get(Window& window, int target, const TargetRegion& from, const Layout& to, Request** request) {
  const Operation operation{.command = {.action = Action::get},
                            .target = within(window, target, from),
                            .bytes = from.layout.bytes(),
                            .operand = nullptr,
                            .operand2 = nullptr,
                            .result = &to};
  return run(window, target, operation, request);
}

Error accumulate(Window& window, int target, const Op& op, const Layout* from, const TargetRegion& to,
                 const Layout* result, Request** request) {
  if (to.layout.bytes() == 0 || (from != nullptr && from->bytes() == 0)) return success;
  const Datatype* element;
  if (Error e = check_combination(op, from, to.layout, result, element)) return e;
  const Operation operation{.command = {.action = from != nullptr ? Action::accumulate : Action::get,
                                        .fetches = result != nullptr,
                                        .op = static_cast<std::uint32_t>(op.handle),
                                        .element = number_of(*element)},
                            .target = within(window, target, to),
                            .bytes = from != nullptr ? from->bytes() : to.layout.bytes(),
                            .unit = static_cast<std::size_t>(element->size),
                            .operand = from,
                            .operand2 = nullptr,
                            .result = result};
  return run(window, target, operation, request);
}

Error compare_and_swap(Window& window, int target, const Layout& from, const Layout& compare, const TargetRegion& to,
                       const Layout& result) {
  const Operation operation{.command = {.action = Action::compare_and_swap, .fetches = true},
                            .target = within(window, target, to),
                            .bytes = to.layout.bytes(),
                            .unit = to.layout.bytes(),
                            .operand = &from,
                            .operand2 = &compare,
                            .result = &result};
  return run(window, target, operation, nullptr);
}

}  // namespace heddle::rma::reach
