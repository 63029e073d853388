#include "mpi/rma/window.hpp"

#include <utility>

#include "mpi/rma/reach/messages.hpp"

namespace heddle::rma {

Window::Window(Comm& comm, std::vector<Target> targets, Block control, Block memory)
    : comm(comm),
      epochs(comm.size),
      targets(std::move(targets)),
      control(control),
      memory(memory),
      shared_(p2p::shared_memory(*comm.owner).at<std::byte>(control.offset), comm.size) {}

Window::~Window() = default;

}  // namespace heddle::rma
