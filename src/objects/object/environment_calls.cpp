// Inquiries, memory and time (MPI 5.0, chapter 9 and sections 11.2 and 11.6).
#include <pthread.h>
#include <sys/utsname.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/platform/hardware.hpp"
#include "base/threads/thread_ref.hpp"
#include "launch/rank/rank.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/info.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/tables.hpp"

namespace heddle::mpi {

namespace {

double seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec); }

// The caller's alignment by the info key mpi_minimum_memory_alignment, if it is a power of two; at least a cache line.
std::size_t wanted_alignment(const Info* info) {
  constexpr std::size_t least = 64;
  const auto value = value_of(info, "mpi_minimum_memory_alignment");
  if (!value) return least;
  const std::size_t wanted = std::strtoull(value->c_str(), nullptr, 10);
  return wanted > least && (wanted & (wanted - 1)) == 0 ? wanted : least;
}

}  // namespace

Error Initialized(int* flag) {
  *flag = current_rank().world_phase.load(std::memory_order_acquire) != Phase::before;
  return success;
}

Error Finalized(int* flag) {
  *flag = current_rank().world_phase.load(std::memory_order_acquire) == Phase::after;
  return success;
}

Error Query_thread(int* provided) {
  *provided = MPI_THREAD_MULTIPLE;
  return success;
}

Error Is_thread_main(int* flag) {
  *flag = current_rank().main_thread == threads::identity();
  return success;
}

Error Get_version(int* version, int* subversion) {
  *version = MPI_VERSION;
  *subversion = MPI_SUBVERSION;
  return success;
}

Error Get_library_version(char* version, int* resultlen) {
  *resultlen = std::snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                             "Heddle " HEDDLE_VERSION " (MPI %d.%d, ABI %d.%d, MPI_THREAD_MULTIPLE)", MPI_VERSION,
                             MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  return success;
}

Error Get_processor_name(char* name, int* resultlen) {
  utsname system{};
  uname(&system);
  *resultlen = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", system.nodename);
  return success;
}

// True if this process is bound to one instance of each kind of hardware.
Error Get_hw_resource_info(MPI_Info* hw_info) {
  const auto instances = hardware_of_this_process();
  InfoEntries entries{{"mpi_shared_memory", "true"}};
  for (std::size_t kind = 0; kind < hardware_kinds; ++kind)
    entries.emplace_back(hardware_names[kind], instances[kind] == nowhere ? "false" : "true");
  *hw_info = handle_of<MPI_Info>(*make_info(std::move(entries)));
  return success;
}

Error Alloc_mem(MPI_Aint size, const Info* info, void* baseptr) {
  Rank& rank = current_rank();
  void* const memory =
      rank.tables->allocated.allocate(rank, size > 0 ? static_cast<std::size_t>(size) : 1, wanted_alignment(info));
  if (memory == nullptr)
    return fail(MPI_ERR_NO_MEM, "out of memory: cannot allocate %lld bytes", static_cast<long long>(size));
  *static_cast<void**>(baseptr) = memory;
  return success;
}

Error Free_mem(void* base) {
  current_rank().tables->allocated.release(current_rank(), base);
  return success;
}

double Wtime() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return seconds(now);
}

double Wtick() {
  timespec resolution{};
  clock_getres(CLOCK_MONOTONIC, &resolution);
  return seconds(resolution);
}

// There is no profiling in the library to control.
Error Pcontrol(int level) { return success; }

}  // namespace heddle::mpi
