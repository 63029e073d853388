#include "tool/cvar.hpp"

#include <mpi.h>

#include <array>

#include "rank/rank.hpp"
#include "rank/settings.hpp"
#include "tool/enumeration.hpp"
#include "tool/report.hpp"

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

constexpr std::array variables{
    Cvar{.name = "HEDDLE_MODEL",
         .description = "Safety model: what keeps the library correct when many threads enter it. Read at the first "
                        "initialization; empty: the default",
         .items = nullptr,
         .capacity = 256,
         .verbosity = MPI_T_VERBOSITY_TUNER_BASIC,
         .scope = MPI_T_SCOPE_LOCAL,
         .may_change = before_start,
         .changed = nullptr},
    Cvar{.name = "HEDDLE_SPLIT_COPY",
         .description =
             "From how many bytes on the sender and the receiver of a message share its copying; `never`: the "
             "receiver alone. Read at the first initialization; empty: the default",
         .items = nullptr,
         .capacity = 32,
         .verbosity = MPI_T_VERBOSITY_TUNER_DETAIL,
         .scope = MPI_T_SCOPE_LOCAL,
         .may_change = before_start,
         .changed = nullptr},
    Cvar{.name = "HEDDLE_PROGRESS",
         .description =
             "Progress on cores that would idle, while the program computes: idle or off; with idle,defer=tasklet or "
             "idle,defer=direct they also submit nonblocking sends, of from=BYTES on. Read at initialization; empty: "
             "idle with at least two cores for each of several ranks",
         .items = nullptr,
         .capacity = 64,
         .verbosity = MPI_T_VERBOSITY_USER_BASIC,
         .scope = MPI_T_SCOPE_LOCAL,
         .may_change = before_start,
         .changed = nullptr},
    Cvar{.name = "HEDDLE_WAIT",
         .description =
             "How a thread that waits spends its time: auto (as the safety model has it), busy, passive, spin, or "
             "spin:MICROSECONDS; chosen when the program is started",
         .items = nullptr,
         .capacity = 32,
         .verbosity = MPI_T_VERBOSITY_USER_BASIC,
         .scope = MPI_T_SCOPE_CONSTANT,
         .may_change = nullptr,
         .changed = nullptr},
    Cvar{.name = "HEDDLE_REPORT",
         .description =
             "What threads did with the library, told at finalization: 1 to standard error, else the name of "
             "a file; empty or 0: no report",
         .items = nullptr,
         .capacity = 4096,
         .verbosity = MPI_T_VERBOSITY_USER_BASIC,
         .scope = MPI_T_SCOPE_LOCAL,
         .may_change = until_the_end,
         .changed = report_changed},
    Cvar{.name = "HEDDLE_INITIAL_ERRHANDLER",
         .description =
             "Error handler of MPI_COMM_WORLD and MPI_COMM_SELF, and of errors before they exist; chosen when "
             "the program is started, by mpiexec's option -initial-errhandler",
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
