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
    return fail(memory_class,
                "out of memory: this process has none left for the call. Operations that were started before continue");
  } catch (const std::length_error&) {
    return fail(memory_class, "the call needs more memory than a process can have");
  } catch (const std::system_error& error) {
    return fail(MPI_ERR_OTHER, "the system refuses a resource for the call: %s", error.what());
  } catch (const std::exception& error) {
    return fail(MPI_ERR_OTHER, "the call cannot go on: %s", error.what());
  }
}

}  // namespace heddle::binding
