#include "launch/mpiexec/topology.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>

#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

// Beside mpiexec, as it was built, or where it is installed. Not by a run path: under a sanitizer the caller of dlopen
// is the sanitizer's library.
void* open_module() {
  const std::string folder = own_folder();
  void* module = nullptr;
  for (const char* place : {"", HEDDLE_MODULE_FOLDER "/"}) {
    const std::string path = folder + place + topology_module;
    if (access(path.c_str(), R_OK) == 0) module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module != nullptr) break;
  }
  return module;
}

}  // namespace

Result<std::vector<HardwareThread>> hardware_threads(const std::vector<int>& allowed) {
  void* module = open_module();
  void* function = module != nullptr ? dlsym(module, topology_function) : nullptr;
  if (function == nullptr) {
    const char* error = dlerror();
    return Failure{.text = error != nullptr ? error : std::string(topology_module) + " is not installed"};
  }
  const auto read = reinterpret_cast<TopologyFunction>(function);
  std::vector<HardwareThread> threads(256);
  int count = read(threads.data(), static_cast<int>(threads.size()));
  if (count > static_cast<int>(threads.size())) {
    threads.resize(static_cast<std::size_t>(count));
    count = read(threads.data(), count);
  }
  if (count <= 0) return refuse("hwloc cannot read the machine's topology");
  threads.resize(static_cast<std::size_t>(count));
  std::erase_if(threads, [&](const HardwareThread& thread) {
    return std::find(allowed.begin(), allowed.end(), thread.cpu) == allowed.end();
  });
  return threads;
}

}  // namespace heddle::mpiexec
