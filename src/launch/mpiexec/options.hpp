// The user's options of mpiexec.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "launch/mpiexec/hosts.hpp"
#include "launch/mpiexec/placement.hpp"

namespace heddle::mpiexec {

// A wrong command line; the text gives the error and the remedy. An exception, since it ends mpiexec from any depth of the options:
// only main catches it.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A program that cannot be started, with the exit code that shells have for it. An exception for the same reason.
struct ProgramError : std::runtime_error {
  static constexpr int not_found = 127;
  static constexpr int not_executable = 126;
  ProgramError(const std::string& text, int code) : std::runtime_error(text), exit_code(code) {}
  int exit_code;
};

enum class Inherit { unset, all, none, listed };

// The part of our environment that a program gets, and the variables set on top of it.
struct EnvironmentPlan {
  Inherit inherit = Inherit::unset;
  std::vector<std::string> listed;                       // names
  std::vector<std::pair<std::string, std::string>> set;  // later ones win
  std::string preload;                                   // a library that comes before all others (LD_PRELOAD)
};

// One part of `mpiexec A : B : C`.
struct App {
  int ranks = 0;                     // 0 while it is not known
  int per_node = 0;                  // on each of several machines, in blocks; 0: it was not said
  std::vector<Host> hosts;           // empty: none were named
  std::vector<std::string> command;  // the program and its arguments
  std::string directory;             // empty: ours
  std::string search_path;           // directories that are searched before those of PATH
  EnvironmentPlan environment;
};

enum class Label {
  none,
  rank,    // "[3] "                 -l, -prepend-rank
  stream,  // "[1,3]<stdout>: "      --tag-output, as Open MPI writes it
};

// Files that the ranks' output goes to. In a pattern %r is the rank, %0r the rank with as many digits as the last one,
// %h the host, %% a percent sign.
struct OutputFiles {
  std::string out, err;  // patterns; empty: no file
  bool copy = false;     // also to our own output
  bool make_folders = false;
};

inline constexpr int stdin_to_none = -1;
inline constexpr int all_ranks = 0x7fffffff;
inline constexpr int universe_of_cores = -1;

struct Options {
  std::vector<App> apps;
  EnvironmentPlan environment;  // for all programs
  PlacementRequest placement;
  Label label = Label::none;
  OutputFiles files;
  bool merge_stderr = false;
  bool report_bindings = false;
  bool no_oversubscribe = false;
  bool survive_failures = false;  // the job survives failed ranks
  bool shared_heap = false;       // large blocks of the ranks' heaps are mapped by peers
  bool start_nothing = false;
  bool quiet = false;
  bool verbose = false;
  bool show_help = false;
  bool show_version = false;
  double timeout_seconds = 0;  // 0: none
  int stdin_rank = 0;
  int universe_size = 0;  // 0: not given
  int threads = 0;        // ranks that are threads of one process, at most; 0: ranks are processes
  int join = 0;           // ranks that this mpiexec starts of a job on several nodes, at most; 0: all
  std::vector<std::string> private_libraries;  // libraries that each rank which is a thread has a copy of
  std::vector<std::string> ignored;            // known options that mean nothing here, as they were written
};

// Throws UsageError.
Options parse_options(const std::vector<std::string>& arguments);

void print_help();  // help.cpp

// An option in the help: the source of manual pages, completion and the reference (describe.cpp).
struct OptionHelp {
  std::vector<std::string> names;  // without dashes
  const char* usage;               // how the values are shown
  const char* help;
};
std::vector<OptionHelp> described_options();

}  // namespace heddle::mpiexec
