#include "launch/mpiexec/ignored_options.hpp"

#include <iterator>

namespace heddle::mpiexec {
namespace {

struct Ignored {
  int values;
  const char* names;  // separated by blanks
};

constexpr Ignored ignored[] = {
    // MPICH and Intel: how to reach other nodes, and how to communicate with them
    {1,
     "launcher bootstrap launcher-exec bootstrap-exec launcher-exec-args bootstrap-exec-args rmk iface nameserver "
     "pmi-port-range branch-count hydra-bstrap-exec localhost order-nodes"},
    {0,
     "disable-hostname-propagation enable-hostname-propagation pmi-connect pmi-aggregate pmi-noaggregate pmi-port "
     "pmi_port disable-x enable-x ordered-output silent-abort noconf"},
    // MPICH and Intel: tuning and its reports
    {1, "demux membind topolib soft arch binding tmpdir"},
    {0, "print-rank-map print-all-exitcodes profile"},
    // Open MPI: parameters of its components
    {2, "mca gmca prtemca pmixmca omca gomca"},
    // Open MPI: its runtime
    {1,
     "prefix personality launch-agent dvm dvm-uri report-uri report-pid report-events tmpdir-base exec-agent rm "
     "stream-buffering keepalive forward-signals max-vm-size spawn-timeout output-proctable debug-verbose gpu-support"},
    {0,
     "noprefix no-prefix leave-session-attached debug-daemons debug-daemons-file debug-devel show-progress "
     "do-not-resolve novm hetero-nodes hetero-apps report-child-jobs-separately parseable parsable "
     "display-map display-devel-map display-diffable-map display-allocation display-devel-allocation display-topo "
     "display-comm display-comm-finalize get-stack-traces report-state-on-timeout timestamp-output "
     "enable-instant-on-support set-sid no-ready-msg daemonize system-server"},
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

}  // namespace heddle::mpiexec
