#include "boot/mpiexec/topology.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace heddle::boot {

std::vector<HardwareThread> hardware_threads(const std::vector<int>& allowed, std::string& problem) {
  // Found by mpiexec's run path, which names the folder of mpiexec and the one where it is installed.
  void* module = dlopen(topology_module, RTLD_NOW | RTLD_LOCAL);
  void* function = module != nullptr ? dlsym(module, topology_function) : nullptr;
  if (function == nullptr) {
    const char* error = dlerror();
    problem = error != nullptr ? error : "no topology";
    return {};
  }
  const auto read = reinterpret_cast<TopologyFunction>(function);
  std::vector<HardwareThread> threads(256);
  int count = read(threads.data(), static_cast<int>(threads.size()));
  if (count > static_cast<int>(threads.size())) {
    threads.resize(static_cast<std::size_t>(count));
    count = read(threads.data(), count);
  }
  if (count <= 0) {
    problem = "hwloc cannot read the machine's topology";
    return {};
  }
  threads.resize(static_cast<std::size_t>(count));
  std::erase_if(threads, [&](const HardwareThread& thread) {
    return std::find(allowed.begin(), allowed.end(), thread.cpu) == allowed.end();
  });
  return threads;
}

}  // namespace heddle::boot
