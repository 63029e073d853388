#include "launch/boot/foreign_launcher.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "launch/boot/job.hpp"
#include "launch/boot/pmi/pmi_wireup.hpp"
#include "launch/boot/pmix/pmix_wireup.hpp"

namespace heddle::boot {
namespace {

struct Sign {
  const char* size;  // variable with the number of processes; null: this launcher sets none
  const char* rank;
  const char* launcher;
  const char* cure;  // the option that makes it offer the interface that Heddle needs
};

// A batch script has none of these, only SLURM_NTASKS and the like, which describe the job that it may start.
constexpr Sign signs[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpiexec",
     "Heddle needs its PMIx (version 4.2 or later)"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun of Slurm", "Use srun --mpi=pmi2 or srun --mpi=pmix"},
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK", "flux run", "Use flux run -o pmi=simple"},
    {"PALS_SIZE", "PALS_RANKID", "mpiexec of PALS", "Use Slurm's srun, prterun or Hydra inside the allocation"},
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun of LSF", "Use prterun or Hydra inside the allocation"},
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "MVAPICH's launcher", "Use its mpiexec (Hydra)"},
    {"PMI_SIZE", "PMI_RANK", "a launcher with PMI (MPICH, Intel MPI)", "Heddle needs its socket PMI_FD"},
    {nullptr, "PMI_FD", "a launcher with PMI (MPICH, Intel MPI)", "Heddle needs its socket PMI_FD"},
    {nullptr, "PMIX_RANK", "a launcher with PMIx", "Heddle needs libpmix.so.2"},
};

const char* value_of(const char* variable) {
  const char* value = variable != nullptr ? std::getenv(variable) : nullptr;
  return value != nullptr && *value != '\0' ? value : nullptr;
}

bool allowed_by_user() {
  const char* value = value_of(singleton_variable);
  return value != nullptr && std::strcmp(value, "0") != 0;
}

// The sign that this process is, or may be, one of several. Null: there is none.
const Sign* find_sign() {
  bool known_to_be_one = false;
  for (const Sign& sign : signs) {
    const char* const size = value_of(sign.size);
    if (size != nullptr && std::atoi(size) == 1) known_to_be_one = true;
    if (size != nullptr && std::atoi(size) > 1) return &sign;
    // A launcher that does not give the number of processes: another one may have.
    if (sign.size == nullptr && value_of(sign.rank) != nullptr && !known_to_be_one) return &sign;
  }
  return nullptr;
}

Failure refuse_to_be_alone(const Sign& sign, const std::string& reason) {
  const char* const size = value_of(sign.size);
  char how[64] = "may have started this as one of several";
  if (size != nullptr) std::snprintf(how, sizeof how, "started this as one of %d", std::atoi(size));
  return refuse(
      "%s=%.20s: %s %s processes, and Heddle can't join its job, so each would run alone, as a singleton: %.200s. "
      "%s, or Heddle's own mpiexec -n N, or set %s=1 to start alone",
      size != nullptr ? sign.size : sign.rank, size != nullptr ? size : value_of(sign.rank), sign.launcher, how,
      reason.c_str(), sign.cure, singleton_variable);
}

}  // namespace

Result<std::unique_ptr<Wireup>> find_launcher() {
  // One of our own ranks has started this program: an outer launcher's variables are not about it.
  const Sign* const sign = value_of(launcher_variable) != nullptr || allowed_by_user() ? nullptr : find_sign();
  if (sign == nullptr) return nullptr;
  std::string why;
  if (const char* const descriptor = value_of("PMI_FD")) {
    Result<std::unique_ptr<Wireup>> wireup = PmiWireup::open(descriptor);
    if (wireup) return wireup;
    why = wireup.failure().text;
  }
  if (value_of("PMIX_RANK") != nullptr && value_of("PMIX_NAMESPACE") != nullptr) {
    Result<std::unique_ptr<Wireup>> wireup = PmixWireup::open();
    if (wireup) return wireup;
    why += (why.empty() ? "" : "; ") + wireup.failure().text;
  }
  if (why.empty()) why = "it offers neither PMI (PMI_FD) nor PMIx (PMIX_RANK)";
  return refuse_to_be_alone(*sign, why);
}

}  // namespace heddle::boot
