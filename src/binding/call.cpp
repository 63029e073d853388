#include "binding/call.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

namespace heddle::binding {

Error out_of_memory(int error_class) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return fail(error_class, "this process has no memory left for the call; nothing that it has begun before is lost");
  } catch (const std::length_error&) {
    return fail(error_class, "the call needs more memory than a process can have");
  } catch (const std::system_error& error) {
    return fail(MPI_ERR_OTHER, "the system refuses what the call needs: %s", error.what());
  }
}

}  // namespace heddle::binding
