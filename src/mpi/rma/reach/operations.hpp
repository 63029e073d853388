// Operations on targets that only messages reach, and combining operations in every window that has such targets.
#pragma once

#include "mpi/rma/reach/target_region.hpp"
#include "mpi/rma/window.hpp"
#include "objects/object/error.hpp"
#include "objects/object/request.hpp"
#include "objects/op/op.hpp"

namespace heddle::rma::reach {

// Arguments are checked as far as the origin can. With `request` the operation gets a request of its own; before, it
// refers to a completed one. A dynamic window's target alone knows its attached memory, so an operation on one is over
// when it returns.
Error put(Window& window, int target, const Layout& from, const TargetRegion& to, Request** request);
Error get(Window& window, int target, const TargetRegion& from, const Layout& to, Request** request);
// Both may be null, not both at once.
Error accumulate(Window& window, int target, const Op& op, const Layout* from, const TargetRegion& to,
                 const Layout* result, Request** request);
Error compare_and_swap(Window& window, int target, const Layout& from, const Layout& compare, const TargetRegion& to,
                       const Layout& result);

}  // namespace heddle::rma::reach
