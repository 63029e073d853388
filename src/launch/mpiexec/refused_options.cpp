#include "launch/mpiexec/refused_options.hpp"

#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

struct Refused {
  const char* names;  // separated by blanks
  const char* reason;
};

constexpr Refused refused[] = {
    {"rankfile rf", "files that place each rank are not read; use --bind-to with --map-by or --cpu-set"},
    {"preload-binary preload-files preload-files-dest-dir set-cwd-to-session-dir",
     "nothing is copied, as all ranks run on this machine; leave it out, and use -wdir DIR to run in another "
     "directory"},
    {"nolocal no-local skip-launch-node", "ranks run on this machine only; leave it out"},
    {"xml xml-file", "output has no XML form; use --tag-output"},
    {"pset", "process sets can't be named; programs may use mpi://WORLD and mpi://SELF"},
    {"index-argv-by-rank", "all ranks get the same arguments; use the variable HEDDLE_RANK"},
    {"continuous max-restarts", "a rank that fails is not started again; with -with-ft ulfm the others can go on"},
    {"ckpoint ckpoint-interval ckpoint-num ckpoint-prefix ckpointlib ckpoint-preserve restart",
     "there are no checkpoints; leave it out"},
    {"gpus-per-proc gpu-subdevs-per-proc",
     "ranks are not given GPUs; use a script that sets CUDA_VISIBLE_DEVICES (or its like) from HEDDLE_RANK"},
    {"gdb gdba tv debug debugger xterm",
     "it opens no debugger; use mpiexec -n 2 xterm -e gdb ./program, or attach to a rank"},
    {"stop-on-exec stop-in-init stop-in-app", "ranks do not wait for a debugger; attach to a rank, -v shows its pid"},
    {"gtool gtoolfile", "tools are not put before programs; write mpiexec -n 1 TOOL ./program : -n 3 ./program"},
    {"trace t trace-imbalance trace-collectives trace-pt2pt check_mpi check-mpi aps mps mps-full",
     "it comes with Intel's tools, which Heddle does not start; leave it out, or preload the tool's library with "
     "-genv LD_PRELOAD"},
    {"tune am amca", "files of parameters are not read; leave it out, and set variables with -x NAME=VALUE"},
    {"ilp64", "INTEGER has 4 bytes in Heddle's Fortran interface; compile with default integers and leave it out"},
    {"file", "the form of such a file is each implementation's own; use -configfile FILE"},
    {"pmi-args", "a program that was started alone stays alone; start it with mpiexec"},
};

}  // namespace

const char* why_refused(const std::string& name) {
  for (const Refused& row : refused) {
    for (const std::string& one : split(row.names, ' '))
      if (one == name) return row.reason;
  }
  return nullptr;
}

}  // namespace heddle::mpiexec
