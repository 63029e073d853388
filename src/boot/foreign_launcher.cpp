#include "boot/foreign_launcher.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "boot/job.hpp"

namespace heddle::boot {
namespace {

struct Sign {
  const char* size;  // variable with the number of processes; null: this launcher says it nowhere
  const char* rank;
  const char* launcher;
};

// A batch script has none of these, only SLURM_NTASKS and the like, which say what its job may start.
constexpr Sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpiexec"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun of Slurm"},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run"},
    {"PALS_SIZE", "PALS_RANKID", "mpiexec of PALS"},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun of LSF"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MVAPICH's launcher"},
    {"PMI_SIZE", "PMI_RANK", "a launcher that speaks PMI (MPICH, Intel MPI)"},
    {nullptr, "PMI_FD", "a launcher that speaks PMI (MPICH, Intel MPI)"},
    {nullptr, "PMIX_RANK", "a launcher that speaks PMIx"},
};

const char* value_of(const char* variable) {
  const char* value = variable != nullptr ? std::getenv(variable) : nullptr;
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool allowed_by_user() {
  const char* value = value_of(singleton_variable);
  return value != nullptr && std::strcmp(value, "0") != 0;
}

}  // namespace

bool refuses_singleton(char* text, std::size_t bytes) {
  // A rank of ours has started this program: what an outer launcher says is not about it.
  if (value_of(launcher_variable) != nullptr || allowed_by_user()) return false;
  bool known_to_be_one = false;
  for (const Sign& sign : signs) {
    const char* size = value_of(sign.size);
    const char* rank = value_of(sign.rank);
    if (size != nullptr && std::atoi(size) == 1) known_to_be_one = true;
    const bool several = size != nullptr && std::atoi(size) > 1;
    // A launcher that does not say how many there are: one of the others may have.
    const bool may_be_several = sign.size == nullptr && rank != nullptr && !known_to_be_one;
    if (!several && !may_be_several) continue;
    char how[64] = "may have started this as one of several";
    if (several) std::snprintf(how, sizeof how, "started this as one of %d", std::atoi(size));
    std::snprintf(
        text, bytes,
        "%s=%.20s: %s %s processes, and Heddle can't join its job: each would be a world of size 1. Use Heddle's "
        "mpiexec -n N instead, or set %s=1 to start alone",
        several ? sign.size : sign.rank, several ? size : rank, sign.launcher, how, singleton_variable);
    return true;
  }
  return false;
}

}  // namespace heddle::boot
