#include "boot/mpiexec/ignored_options.hpp"

#include <iterator>

namespace heddle::boot {
namespace {

struct Ignored {
  int values;
  const char* names;  // separated by blanks
};

constexpr Ignored ignored[] = {
    // MPICH and Intel: how to reach other nodes, and how to talk to them
    {1,
     "launcher bootstrap launcher-exec bootstrap-exec launcher-exec-args bootstrap-exec-args rmk iface nameserver "
     "pmi-port-range branch-count hydra-bstrap-exec"},
    {0,
     "disable-hostname-propagation order-nodes skip-launch-node pmi-connect pmi-aggregate pmi-noaggregate localhost "
     "disable-x enable-x ilp64 nolocal ordered-output silent-abort s2 noconf"},
    // MPICH and Intel: check-pointing, debugging, tuning, tools
    {1,
     "ckpoint-interval ckpoint-prefix ckpoint-num ckpointlib demux membind topolib gpus-per-proc "
     "gpu-subdevs-per-proc outfile-pattern errfile-pattern soft arch file tune trace trace-imbalance trace-collectives "
     "aps gtool gtoolfile binding tmpdir print-rank-map"},
    {0, "gdb gdba info print-all-exitcodes profile check_mpi mps"},
    // Open MPI: parameters of its components
    {2, "mca gmca prtemca pmixmca omca"},
    // Open MPI: its runtime
    {1,
     "prefix personality preload-files launch-agent max-restarts dvm dvm-uri report-uri report-child-jobs-separately "
     "pset display output-filename xml-file rankfile rf gpu-support display-topo tmpdir-base exec-agent rm "
     "stream-buffering keepalive forward-signals"},
    {0,
     "noprefix no-prefix preload-binary leave-session-attached debug-daemons debug-daemons-file debug-devel "
     "debug-verbose "
     "debug continuous enable-recovery disable-recovery show-progress stop-on-exec stop-in-init stop-in-app "
     "do-not-launch do-not-resolve novm display-map display-devel-map display-allocation display-devel-allocation "
     "get-stack-traces report-state-on-timeout report-pid xml set-cwd-to-session-dir tv timestamp-output "
     "output-proctable nooversubscribe no-oversubscribe host-map enable-instant-on-support "
     "set-sid no-ready-msg daemonize system-server"},
};

bool lists(const char* names, const std::string& name) {
  const std::string all = ' ' + std::string(names) + ' ';
  return all.find(' ' + name + ' ') != std::string::npos;
}

}  // namespace

int ignored_option_values(const std::string& name) {
  for (const Ignored& row : ignored) {
    if (lists(row.names, name)) return row.values;
  }
  return -1;
}

}  // namespace heddle::boot
