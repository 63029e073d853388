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
             "Safety model for multithreaded access, the same for all ranks. "
             "Parts are vnis, lanes, lock, submit, wait and strategy",
             "guides/safety-models.md"},
    Variable{"HEDDLE_WAIT", "auto|busy|passive|spin|spin:MICROSECONDS", "auto",
             "Waiting policy: auto uses that of the safety model, busy never blocks, passive blocks "
             "after one poll, spin blocks after a limited time",
             "guides/waiting.md"},
    Variable{"HEDDLE_PROGRESS", "off|idle[,defer=tasklet|direct[,from=BYTES]]",
             "idle with at least two cores for each of several ranks, else off",
             "Progress on idle cores while the program computes; with defer they also submit nonblocking "
             "sends of at least from=BYTES (default 2048)",
             "guides/progress.md"},
    Variable{"HEDDLE_STAGED_COPY", "BYTES|never",
             "the faster way so far for messages of that length; with more ranks than cores `never`, except from 16 to "
             "256 KiB",
             "Shortest message in bytes that processes of a node copy through shared memory, one side "
             "packing while the other unpacks; never: the kernel copies it",
             "adr/0075-measured-copy-choice.md"},
    Variable{"HEDDLE_SPLIT_COPY", "BYTES|never", "a length that suits the memory bandwidth of one core",
             "Shortest message in bytes that sender and receiver copy together, if it is not staged; "
             "never: the receiver copies alone",
             "guides/ranks-as-threads.md"},
    Variable{"HEDDLE_THREADS", "none|NAME-OR-PATH[,NAME-OR-PATH...]", "the thread runtimes that the program has loaded",
             "Thread runtimes whose user-level threads may call MPI: pthreads, boost-fiber, argobots, qthreads, or the "
             "path of a component; none: every caller counts as a kernel thread",
             "guides/thread-runtimes.md"},
    Variable{
        "HEDDLE_REPORT", "0|1|FILE", "0",
        "Report of the threads' use of the library at finalization: 1 prints it to standard error, else to that file",
        "guides/your-program.md", Reader::library, false},
    Variable{"HEDDLE_STRICT_CHAR", "0|1", "0",
             "Makes arithmetic reductions of MPI_CHAR, which the standard does not define, errors; else "
             "characters are "
             "small integers",
             "guides/your-program.md"},
    Variable{"HEDDLE_INITIAL_ERRHANDLER", "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
             "mpi_errors_are_fatal",
             "Initial error handler of communicators, and of errors before there is one; mpiexec sets it for its "
             "option -initial-errhandler",
             "guides/your-program.md"},
    Variable{"HEDDLE_FAULT_TOLERANCE", "ulfm|no", "no",
             "Lets a job survive failed ranks, as mpiexec's option -with-ft; read by mpiexec",
             "guides/fault-tolerance.md"},
    Variable{"HEDDLE_REMOTE_SHELL", "COMMAND", "srun in an allocation of Slurm, else ssh",
             "Command that starts a program on another machine, in a job that survives failed ranks: it "
             "takes a host and a line for its shell, as ssh does; read by mpiexec",
             "guides/fault-tolerance.md"},
    Variable{"HEDDLE_SHARED_HEAP", "0|1", "0",
             "Allocates large blocks in shared memory so that peers copy once, as mpiexec's option "
             "-shared-heap; read by "
             "mpiexec",
             "guides/shared-heap.md"},
    Variable{"HEDDLE_SINGLETON", "0|1", "0",
             "Starts a program that another launcher started as one of several as a singleton, instead of "
             "joining its job; lets mpiexec's ranks use another MPI, each alone",
             "troubleshooting.md"},
    Variable{"HEDDLE_TIMEOUT", "SECONDS", "never",
             "Time limit of a job, which then reports where its threads are and ends with exit code 124, as mpiexec's "
             "option "
             "-timeout; under other launchers, too",
             "troubleshooting.md"},
    Variable{"HEDDLE_BACKTRACE", "0|1", "1",
             "Prints a backtrace of a rank that crashes, and the MPI calls of its threads", "troubleshooting.md"},

    Variable{"HEDDLE_NODES", "NUMBER", "1",
             "Simulates so many nodes on one machine, connected by a test network that refuses, "
             "delays "
             "and reorders messages",
             "guides/networks.md"},
    Variable{"HEDDLE_LLN", "loopback|NAME-OR-PATH",
             "loopback between simulated nodes, else the first of ucx and ofi that is available",
             "Network between nodes: loopback, ucx, ofi, or the path of a component", "guides/networks.md"},
    Variable{"HEDDLE_RAILS", "NUMBER|DEVICE,DEVICE[,DEVICE...]", "one, over any device",
             "Rails between nodes, at most 4: devices of the network, by their names in UCX_NET_DEVICES or the domains "
             "of fi_info; "
             "a number for loopback. Long messages are split over all of them with strategy=split",
             "guides/networks.md", Reader::library, false},
    Variable{
        "HEDDLE_UNEXPECTED_BYTES", "BYTES",
        "a quarter of the node's memory, divided by its ranks and by the ranks of other nodes, but at least 64 MiB",
        "Memory limit on a VNI for unexpected messages of one rank of another node; "
        "beyond it short messages are sent by rendezvous",
        "guides/networks.md"},
    Variable{"HEDDLE_PORTS", "FIRST-LAST", "a port that the kernel chooses",
             "TCP ports from which rank 0, and mpiexec -with-ft, take one to start a job on several nodes",
             "guides/many-machines.md"},
    Variable{"HEDDLE_SIMULATION", "FILE", "none",
             "Settings of the simulator, which heddle simulate writes; read by programs that are compiled for it",
             "guides/simulator.md", Reader::library, false},
    Variable{"HEDDLE_SIMULATED_PROCESSES", "0|1", "0",
             "Lets ranks that are threads take each other for processes, as heddle simulate --rank-kind processes "
             "does; read "
             "by mpiexec",
             "guides/simulator.md", Reader::tool},
    Variable{"HEDDLE_LOOPBACK_SEED", "NUMBER", "1", "Seed of the random faults of loopback", "guides/networks.md"},
    Variable{"HEDDLE_LOOPBACK_NARROW", "0|1", "0",
             "Makes loopback take a message only when the receiver has read the previous one", "guides/networks.md"},

    Variable{"HEDDLE_CC", "COMMAND", "cc", "C compiler that mpicc calls", "guides/your-program.md", Reader::compiler},
    Variable{"HEDDLE_CXX", "COMMAND", "c++", "C++ compiler that mpicxx calls", "guides/your-program.md",
             Reader::compiler},
    Variable{"HEDDLE_FC", "COMMAND", "gfortran", "Fortran compiler that mpifort calls", "guides/fortran.md",
             Reader::compiler},

    Variable{"HEDDLE_PEERS", "FOLDER", "environments made by the tool",
             "Folder with an environment for each other MPI that heddle bench compares with", "measuring.md",
             Reader::tool},
    Variable{"HEDDLE_BENCH_LOCK", "FILE", "none",
             "File that heddle bench locks, so that only one measures on a machine at a time", "measuring.md",
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
    Variable{"HEDDLE_LOCAL_SIZE", "NUMBER", "",
             "Number of ranks that its mpiexec starts on this machine; also set as OMPI_COMM_WORLD_LOCAL_SIZE and "
             "MPI_LOCALNRANKS",
             "guides/your-program.md", Reader::launch},
    Variable{"HEDDLE_HOST_PLAN", "TEXT", "", "Descriptor of the plan of a process whose threads are ranks", "",
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
