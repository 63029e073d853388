#include "mpi/tool/cvar.hpp"

#include <mpi.h>

#include <array>

#include "launch/boot/job.hpp"
#include "launch/boot/variables.hpp"
#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"
#include "mpi/tool/enumeration.hpp"
#include "mpi/tool/report.hpp"

namespace heddle::tool {

namespace {

// The library reads it once, when it comes up for the first time, and stays up.
Error before_start(const Rank& rank) { return rank.engine == nullptr ? success : Error(MPI_T_ERR_CVAR_SET_NEVER); }

Error until_the_end(const Rank& rank) {
  return rank.phase.load(std::memory_order_acquire) == Phase::after ? Error(MPI_T_ERR_CVAR_SET_NEVER) : success;
}

void report_changed(const Rank& rank, const std::string& from, const std::string& to) {
  if (rank.engine != nullptr) change_report(from, to);
}

constexpr Cvar text(const boot::Variable& variable, int capacity, int verbosity,
                    Error (*may_change)(const Rank&) = nullptr,
                    void (*changed)(const Rank&, const std::string&, const std::string&) = nullptr) {
  return {.name = variable.name.data(),
          .description = variable.help.data(),
          .items = nullptr,
          .capacity = capacity,
          .verbosity = verbosity,
          .scope = may_change != nullptr ? MPI_T_SCOPE_LOCAL : MPI_T_SCOPE_CONSTANT,
          .may_change = may_change,
          .changed = changed};
}

// Those that are constant are read when the program is started.
constexpr std::array variables{
    text(boot::variable("HEDDLE_MODEL"), 256, MPI_T_VERBOSITY_TUNER_BASIC, before_start),
    text(boot::variable("HEDDLE_STAGED_COPY"), 32, MPI_T_VERBOSITY_TUNER_DETAIL, before_start),
    text(boot::variable("HEDDLE_SPLIT_COPY"), 32, MPI_T_VERBOSITY_TUNER_DETAIL, before_start),
    text(boot::variable("HEDDLE_PROGRESS"), 64, MPI_T_VERBOSITY_USER_BASIC, before_start),
    text(boot::variable("HEDDLE_WAIT"), 32, MPI_T_VERBOSITY_USER_BASIC),
    text(boot::variable("HEDDLE_REPORT"), 4096, MPI_T_VERBOSITY_USER_BASIC, until_the_end, report_changed),
    Cvar{.name = boot::initial_errhandler_variable,
         .description = boot::variable(boot::initial_errhandler_variable).help.data(),
         .items = &initial_errhandlers,
         .capacity = 1,
         .verbosity = MPI_T_VERBOSITY_USER_DETAIL,
         .scope = MPI_T_SCOPE_CONSTANT,
         .may_change = nullptr,
         .changed = nullptr},
};

}  // namespace

std::span<const Cvar> cvars() { return variables; }

}  // namespace heddle::tool
