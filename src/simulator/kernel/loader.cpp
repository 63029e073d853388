// The loader holds a lock while it calls constructors, so no other thread may run until it is done.
#include <dlfcn.h>

#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

constinit Real<void*(const char*, int)> real_open("dlopen");
constinit Real<int(void*)> real_close("dlclose");

class Frozen {
 public:
  Frozen() {
    if (self != nullptr) ++self->frozen;
  }
  ~Frozen() {
    if (self != nullptr && --self->frozen == 0) simulation->scheduler.limit = 0;
  }
  Frozen(const Frozen&) = delete;
  Frozen& operator=(const Frozen&) = delete;
};

}  // namespace
}  // namespace heddle::simulator

extern "C" {

void* dlopen(const char* file, int mode) {
  const heddle::simulator::Frozen frozen;
  return heddle::simulator::real_open(file, mode);
}
int dlclose(void* handle) {
  const heddle::simulator::Frozen frozen;
  return heddle::simulator::real_close(handle);
}
}
