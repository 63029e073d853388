// Where threads run: cores, sets of them, and classes of scheduling, of the simulated machine.
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "simulator/kernel/handles.hpp"
#include "simulator/kernel/real.hpp"
#include "simulator/simulation.hpp"

namespace heddle::simulator {
namespace {

constinit Real<int(pthread_t, std::size_t, const cpu_set_t*)> real_set("pthread_setaffinity_np");
constinit Real<int(pthread_t, std::size_t, cpu_set_t*)> real_get("pthread_getaffinity_np");
constinit Real<long(int)> real_sysconf("sysconf");
constinit Real<int()> real_processors("get_nprocs");
constinit Real<int(pthread_t, int, const sched_param*)> real_set_class("pthread_setschedparam");

void get(const Thread& thread, std::size_t bytes, cpu_set_t* set) {
  CPU_ZERO_S(bytes, set);
  for (std::size_t cpu = 0; cpu < thread.allowed.size() && cpu < bytes * 8; ++cpu)
    if (thread.allowed[cpu]) CPU_SET_S(cpu, bytes, set);
}

int set(Thread& thread, std::size_t bytes, const cpu_set_t* set) {
  std::vector<bool> allowed(thread.allowed.size(), false);
  for (std::size_t cpu = 0; cpu < allowed.size() && cpu < bytes * 8; ++cpu) allowed[cpu] = CPU_ISSET_S(cpu, bytes, set);
  if (std::ranges::find(allowed, true) == allowed.end()) return EINVAL;
  enter_kernel(simulation->scheduler.machine().system_call);
  thread.allowed = std::move(allowed);
  simulation->scheduler.moved(thread);
  return 0;
}

void set_class(Thread& thread, int policy) {
  enter_kernel(simulation->scheduler.machine().system_call);
  thread.background = policy == SCHED_IDLE;
}

int fail(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace
}  // namespace heddle::simulator

using namespace heddle::simulator;

// A number of a thread, unlike a handle, is taken for the calling thread's.
extern "C" {

int sched_getcpu() {
  if (self != nullptr) return static_cast<int>(simulation->scheduler.core_of(*self));
  unsigned cpu = 0;
  return system_call(SYS_getcpu, reinterpret_cast<long>(&cpu)) == 0 ? static_cast<int>(cpu) : -1;
}
int getcpu(unsigned* cpu, unsigned* node) {
  if (self == nullptr)
    return static_cast<int>(
        with_errno(system_call(SYS_getcpu, reinterpret_cast<long>(cpu), reinterpret_cast<long>(node))));
  if (cpu != nullptr) *cpu = simulation->scheduler.core_of(*self);
  if (node != nullptr) *node = simulation->scheduler.core_of(*self) / simulation->scheduler.machine().cpus_per_socket;
  return 0;
}
int sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* set) {
  if (self == nullptr) {
    const long got = system_call(SYS_sched_getaffinity, thread, static_cast<long>(bytes), reinterpret_cast<long>(set));
    return static_cast<int>(with_errno(std::min(got, 0L)));
  }
  get(*self, bytes, set);
  return 0;
}
int sched_setaffinity(pid_t thread, std::size_t bytes, const cpu_set_t* cpus) {
  if (self == nullptr)
    return static_cast<int>(
        with_errno(system_call(SYS_sched_setaffinity, thread, static_cast<long>(bytes), reinterpret_cast<long>(cpus))));
  return fail(heddle::simulator::set(*self, bytes, cpus));
}
int pthread_getaffinity_np(pthread_t handle, std::size_t bytes, cpu_set_t* set) {
  const Thread* const thread = self != nullptr ? thread_of(handle) : nullptr;
  if (thread == nullptr) return real_get(handle, bytes, set);
  get(*thread, bytes, set);
  return 0;
}
int pthread_setaffinity_np(pthread_t handle, std::size_t bytes, const cpu_set_t* cpus) {
  Thread* const thread = self != nullptr ? thread_of(handle) : nullptr;
  return thread == nullptr ? real_set(handle, bytes, cpus) : heddle::simulator::set(*thread, bytes, cpus);
}
int sched_setscheduler(pid_t thread, int policy, const sched_param* parameters) {
  if (self == nullptr)
    return static_cast<int>(
        with_errno(system_call(SYS_sched_setscheduler, thread, policy, reinterpret_cast<long>(parameters))));
  set_class(*self, policy);
  return 0;
}
int pthread_setschedparam(pthread_t handle, int policy, const sched_param* parameters) {
  Thread* const thread = self != nullptr ? thread_of(handle) : nullptr;
  if (thread == nullptr) return real_set_class(handle, policy, parameters);
  set_class(*thread, policy);
  return 0;
}
long sysconf(int name) {
  if (self != nullptr && (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF))
    return static_cast<long>(simulation->scheduler.machine().cpus);
  return real_sysconf(name);
}
int get_nprocs() {
  return self != nullptr ? static_cast<int>(simulation->scheduler.machine().cpus) : real_processors();
}
}
