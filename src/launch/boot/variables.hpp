// Every variable HEDDLE_... of the environment, in one table: the candidates for a misspelled name, and the text for
// manual pages, the reference and the control variables of MPI_T.
//
// A variable that is read anywhere is listed here. Names that begin with one of `reserved_prefixes` belong to the tests
// and benchmarks and never cause a warning.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::boot {

enum class Reader : std::uint8_t {
  library,   // read by a rank when it initializes MPI; for users
  compiler,  // read by mpicc and mpicxx; for users
  tool,      // read by the command heddle; for users
  launch,    // set by mpiexec for its ranks, never by users
};

struct Variable {
  std::string_view name;
  std::string_view values;      // its values, as in a usage line
  std::string_view by_default;  // the default
  std::string_view help;        // one sentence, without a full stop
  std::string_view guide;       // the guide for it, below docs/; empty: none
  Reader reader = Reader::library;
  bool words = true;  // the value is made of words and not of names of files: see spelled()
};

inline constexpr std::array variables{
    Variable{"HEDDLE_MODEL", "PRESET[,PART=CHOICE...]", "auto",
             "Safety model: what keeps the library correct when many threads enter it; the same for all ranks. "
             "Parts are vnis, lock, submit, wait and strategy",
             "guides/safety-models.md"},
    Variable{
        "HEDDLE_WAIT", "auto|busy|passive|spin|spin:MICROSECONDS", "auto",
        "How a waiting thread spends its time: auto as the safety model has it, busy without ever sleeping, passive "
        "asleep after one poll, spin awake for a while",
        "guides/waiting.md"},
    Variable{"HEDDLE_PROGRESS", "off|idle[,defer=tasklet|direct[,from=BYTES]]",
             "idle with at least two cores for each of several ranks, else off",
             "Progress on cores that would idle while the program computes; with defer they also submit nonblocking "
             "sends of from=BYTES (default 2048) on",
             "guides/progress.md"},
    Variable{"HEDDLE_STAGED_COPY", "BYTES|never",
             "what has been faster for messages of such a length; with more ranks than cores `never`, but from 16 to "
             "256 KiB",
             "From how many bytes on a long message between processes of a node goes through shared memory, one side "
             "packing while the other unpacks; never: the kernel copies it",
             "adr/0075-measured-copy-choice.md"},
    Variable{
        "HEDDLE_SPLIT_COPY", "BYTES|never", "a length that suits the memory bandwidth of one core",
        "From how many bytes on the sender and the receiver of a message share its copying, where it is not staged; "
        "never: the receiver copies alone",
        "guides/ranks-as-threads.md"},
    Variable{"HEDDLE_THREADS", "none|NAME-OR-PATH[,NAME-OR-PATH...]", "the thread runtimes that the program has loaded",
             "Thread runtimes whose user-level threads may call MPI: pthreads, boost-fiber, argobots, qthreads, or the "
             "path of a component; none: every caller counts as a kernel thread",
             "guides/thread-runtimes.md"},
    Variable{"HEDDLE_REPORT", "0|1|FILE", "0",
             "What threads did with the library, printed at finalization: 1 to standard error, else to that file",
             "guides/your-program.md", Reader::library, false},
    Variable{"HEDDLE_STRICT_CHAR", "0|1", "0",
             "Whether arithmetic reductions of MPI_CHAR, which the standard does not define, are errors; else "
             "characters are "
             "small integers",
             "guides/your-program.md"},
    Variable{"HEDDLE_INITIAL_ERRHANDLER", "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
             "mpi_errors_are_fatal",
             "Error handler that communicators begin with, also of errors before there is one; mpiexec sets it for its "
             "option -initial-errhandler",
             "guides/your-program.md"},
    Variable{"HEDDLE_FAULT_TOLERANCE", "ulfm|no", "no",
             "Whether a job goes on without ranks that fail, as after mpiexec's option -with-ft; read by mpiexec",
             "guides/fault-tolerance.md"},
    Variable{"HEDDLE_REMOTE_SHELL", "COMMAND", "srun in an allocation of Slurm, else ssh",
             "What starts a program on another machine for a job that goes on without ranks that fail: a command that "
             "takes a host and a line for its shell, as ssh does; read by mpiexec",
             "guides/fault-tolerance.md"},
    Variable{"HEDDLE_SHARED_HEAP", "0|1", "0",
             "Whether large blocks of the ranks' memory lie where the others see them, as with mpiexec's option "
             "-shared-heap; read by "
             "mpiexec",
             "guides/shared-heap.md"},
    Variable{
        "HEDDLE_SINGLETON", "0|1", "0",
        "Whether a program that another launcher started as one of several starts alone, as a singleton, instead of "
        "joining its job; and whether mpiexec's ranks may use another MPI, each alone",
        "troubleshooting.md"},
    Variable{"HEDDLE_TIMEOUT", "SECONDS", "never",
             "Time after which a job says where its threads are and ends with exit code 124, as with mpiexec's option "
             "-timeout; under other launchers, too",
             "troubleshooting.md"},
    Variable{"HEDDLE_BACKTRACE", "0|1", "1",
             "Whether a rank that crashes prints a backtrace and the MPI calls that its threads were in",
             "troubleshooting.md"},

    Variable{"HEDDLE_NODES", "NUMBER", "1",
             "Pretends that the ranks of a job are on so many nodes, which talk over a network for tests that refuses, "
             "delays "
             "and reorders messages",
             "guides/networks.md"},
    Variable{"HEDDLE_LLN", "loopback|NAME-OR-PATH",
             "loopback between nodes that are pretended, else the first of ucx and ofi that is there",
             "Network between nodes: loopback, ucx, ofi, or the path of a component", "guides/networks.md"},
    Variable{
        "HEDDLE_RAILS", "NUMBER|DEVICE,DEVICE[,DEVICE...]", "one, over any device",
        "Rails between nodes, at most 4: devices of the network, as UCX_NET_DEVICES names them or fi_info the domains; "
        "of loopback a number. Long messages are split over all of them with strategy=split",
        "guides/networks.md", Reader::library, false},
    Variable{
        "HEDDLE_UNEXPECTED_BYTES", "BYTES",
        "a quarter of the node's memory, divided by its ranks and by the ranks of other nodes, but at least 64 MiB",
        "Memory that messages of one rank of another node may occupy on a VNI before their receives are posted; "
        "beyond it short messages are sent by rendezvous",
        "guides/networks.md"},
    Variable{"HEDDLE_PORTS", "FIRST-LAST", "a port that the kernel chooses",
             "TCP ports of which rank 0, and mpiexec -with-ft, take one for the start of a job on several nodes",
             "guides/many-machines.md"},
    Variable{"HEDDLE_LOOPBACK_SEED", "NUMBER", "1", "What that network's accidents follow from", "guides/networks.md"},
    Variable{"HEDDLE_LOOPBACK_NARROW", "0|1", "0",
             "Whether that network takes a message only when the receiver has read the one before",
             "guides/networks.md"},

    Variable{"HEDDLE_CC", "COMMAND", "cc", "C compiler that mpicc calls", "guides/your-program.md", Reader::compiler},
    Variable{"HEDDLE_CXX", "COMMAND", "c++", "C++ compiler that mpicxx calls", "guides/your-program.md",
             Reader::compiler},
    Variable{"HEDDLE_FC", "COMMAND", "gfortran", "Fortran compiler that mpifort calls", "guides/fortran.md",
             Reader::compiler},

    Variable{"HEDDLE_PEERS", "FOLDER", "environments that the tool makes itself",
             "Folder with an environment for each other MPI that heddle bench compares with", "measuring.md",
             Reader::tool},
    Variable{"HEDDLE_BENCH_LOCK", "FILE", "none",
             "File that heddle bench locks while it measures, so that only one measures on a machine", "measuring.md",
             Reader::tool},

    Variable{"HEDDLE_JOB_FD", "NUMBER", "", "Descriptor of the job's shared segment", "", Reader::launch},
    Variable{"HEDDLE_LAUNCHER", "NUMBER", "", "Process of mpiexec", "", Reader::launch},
    Variable{"HEDDLE_RANK", "NUMBER", "",
             "Rank in MPI_COMM_WORLD; of a process that was spawned, its number in the job", "", Reader::launch},
    Variable{"HEDDLE_SIZE", "NUMBER", "", "Size of MPI_COMM_WORLD", "", Reader::launch},
    Variable{"HEDDLE_LOCAL_RANK", "NUMBER", "",
             "Number of the rank among those that its mpiexec starts on this machine; also set as "
             "OMPI_COMM_WORLD_LOCAL_RANK and MPI_LOCALRANKID",
             "guides/your-program.md", Reader::launch},
    Variable{
        "HEDDLE_LOCAL_SIZE", "NUMBER", "",
        "How many ranks its mpiexec starts on this machine; also set as OMPI_COMM_WORLD_LOCAL_SIZE and MPI_LOCALNRANKS",
        "guides/your-program.md", Reader::launch},
    Variable{"HEDDLE_HOST_PLAN", "TEXT", "", "How the ranks of a process that are its threads are started", "",
             Reader::launch},
};

inline constexpr std::string_view variable_prefix = "HEDDLE_";
inline constexpr std::string_view reserved_prefixes[] = {"HEDDLE_TEST_", "HEDDLE_BENCH_"};

consteval const Variable& variable(std::string_view name) {
  std::size_t i = 0;
  while (variables.at(i).name != name) ++i;  // an unknown name does not compile
  return variables[i];
}

// A sentence about those of these names that have our prefix and are unknown, with the most similar name for each.
// Empty: there are none.
std::string unknown_variables(const std::vector<std::string>& names);

// A value in the form in which the variable's reader compares it: small letters, without blanks beside commas, colons
// and equals signs and at both ends. A value with a slash is the name of a file and keeps its letters.
std::string spelled(std::string_view value);
// The value of a variable of the table, in that form if it is made of words.
std::string spelled(std::string_view name, std::string_view value);

// The most similar of the names that users may set; empty if none is similar enough for a typing error.
std::string_view nearest_variable(std::string_view name);

}  // namespace heddle::boot
