#include "mpiexec/shared_heap.hpp"

#include <unistd.h>

#include <string>

namespace heddle::mpiexec {
namespace {

constexpr char library[] = "libheddle-shared-heap.so";

// Where it is installed, or was built. Empty: nowhere.
std::string find_library() {
  std::string program(4096, '\0');
  const ssize_t length = readlink("/proc/self/exe", program.data(), program.size());
  program.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::string folder = program.substr(0, program.rfind('/') + 1);
  for (const char* place : {HEDDLE_MODULE_FOLDER "/", "../../lib/heddle/"})
    if (std::string path = folder + place + library; access(path.c_str(), R_OK) == 0) return path;
  return "";
}

}  // namespace

void add_shared_heap(Options& options) {
  if (!options.shared_heap) return;
  if (options.threads != 0)
    throw UsageError(
        "-shared-heap: ranks that are threads see each other's memory already; leave it out, or -ranks threads");
  options.environment.preload = find_library();
  if (options.environment.preload.empty())
    throw UsageError(std::string("-shared-heap: ") + library +
                     " is not installed beside mpiexec; install it, or leave it out");
}

}  // namespace heddle::mpiexec
