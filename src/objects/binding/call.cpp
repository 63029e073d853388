#include "objects/binding/call.hpp"

#include <new>
#include <stdexcept>
#include <system_error>

#include "objects/object/unavailable.hpp"

namespace heddle::binding {

Error explain_thrown(int memory_class) {
  try {
    throw;
  } catch (const Unavailable& error) {
    return fail(MPI_ERR_OTHER, "%s", error.what());
  } catch (const std::bad_alloc&) {
    return fail(memory_class, "this process has no memory left for the call; nothing that it has begun before is lost");
  } catch (const std::length_error&) {
    return fail(memory_class, "the call needs more memory than a process can have");
  } catch (const std::system_error& error) {
    return fail(MPI_ERR_OTHER, "the system refuses what the call needs: %s", error.what());
  } catch (const std::exception& error) {
    return fail(MPI_ERR_OTHER, "the call cannot go on: %s", error.what());
  }
}

}  // namespace heddle::binding
