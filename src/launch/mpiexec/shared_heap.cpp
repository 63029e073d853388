#include "launch/mpiexec/shared_heap.hpp"

#include <unistd.h>

#include <string>

#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

constexpr char library[] = "libheddle-shared-heap.so";

// Its path as installed, or as built. Empty: not found.
std::string find_library() {
  const std::string folder = own_folder();
  for (const char* place : {HEDDLE_MODULE_FOLDER "/", "../../../lib/heddle/"})
    if (std::string path = folder + place + library; access(path.c_str(), R_OK) == 0) return path;
  return "";
}

}  // namespace

void add_shared_heap(Options& options) {
  if (!options.shared_heap) return;
  if (options.threads != 0)
    throw UsageError(
        "-shared-heap: ranks that are threads share their memory already; leave it out, or -ranks threads");
  options.environment.preload = find_library();
  if (options.environment.preload.empty())
    throw UsageError(std::string("-shared-heap: ") + library +
                     " is not installed beside mpiexec; install it, or leave it out");
}

}  // namespace heddle::mpiexec
