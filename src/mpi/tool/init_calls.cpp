// MPI_T_init_thread and MPI_T_finalize (MPI 5.0, section 15.3.4).
#include "mpi/tool/interface.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

// Any number of times, before and after MPI itself; each needs its MPI_T_finalize.
Error T_init_thread(int required, int* provided) {
  if (provided == nullptr || required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
    return Error(MPI_T_ERR_INVALID);
  tool::Interface& interface = *current_rank().tool;
  std::lock_guard guard(interface.mutex);
  ++interface.users;
  *provided = MPI_THREAD_MULTIPLE;
  return success;
}

Error T_finalize() {
  return tool::call([](tool::Interface& interface) {
    if (--interface.users != 0) return success;
    interface.cvars.clear();
    interface.sessions.clear();
    return success;
  });
}

}  // namespace heddle::mpi
