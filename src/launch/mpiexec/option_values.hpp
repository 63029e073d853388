// The values of mpiexec's options. Every function throws a UsageError that names the option as it was written, the
// value, and the allowed values.
#pragma once

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {

// The number of ranks of the program that is being read.
struct RankCount {
  int given = 0;                // -n
  int per_node = 0;             // -N: as many as this if -n is not there, and never more
  std::string per_node_option;  // the option that set it
  int suggested = 0;            // -ppn: as many as this if -n is not there
};

// The position in a command line.
struct Parser {
  Options options;
  App app;              // the program that is being read
  RankCount count;      // its ranks
  int depth = 0;        // of files that name files
  std::string written;  // the option that is being read, as the user wrote it
};

// "-n takes a whole number from 1 to 9, not 'two'"
[[noreturn]] void refuse_value(const Parser& parser, const std::string& allowed, const std::string& value);

int positive(const Parser& parser, const std::string& text, int largest = std::numeric_limits<int>::max());
std::pair<std::string, std::string> assignment(const Parser& parser, const std::string& text);
std::pair<std::string, std::string> assignment(const Parser& parser, const std::string& name, const std::string& value);
std::vector<std::string> names(const Parser& parser, const std::string& list);  // separated by commas, at least one

void choose_directory(Parser& parser, const std::string& path);
void choose_stdin(Parser& parser, const std::string& who);
void choose_errhandler(Parser& parser, const std::string& name);
void choose_ranks(Parser& parser, const std::string& kind);
void choose_fault_tolerance(Parser& parser, const std::string& kind);
void choose_universe(Parser& parser, const std::string& size);
void choose_per_node(Parser& parser, const std::string& number);
void choose_mapping(Parser& parser, const std::string& text);
void choose_hosts(Parser& parser, const std::string& list);
void choose_host_file(Parser& parser, const std::string& path);
void export_variable(Parser& parser, const std::string& text);

// Open MPI 5: --output tag,merge,dir=... and --display bind,map,...
void choose_output(Parser& parser, const std::string& list);
void choose_display(Parser& parser, const std::string& list);
// Open MPI: NAME[:nocopy][:nojobid], a folder; MPICH: a pattern for each stream.
void choose_output_folder(Parser& parser, const std::string& text);
void choose_output_pattern(Parser& parser, std::string& pattern, const std::string& text);

// Ends the program that is being read.
void finish_app(Parser& parser);

}  // namespace heddle::mpiexec
