// The files of the ranks' output (-outfile-pattern, -errfile-pattern, -output-filename).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/output.hpp"

namespace heddle::mpiexec {

class OutputFileSet {
 public:
  // For the ranks that we start, whose first has this number, of so many in the job. Throws UsageError if a file cannot
  // be made.
  OutputFileSet(const OutputFiles& wanted, int first, int ranks, int all);
  ~OutputFileSet();
  OutputFileSet(const OutputFileSet&) = delete;
  OutputFileSet& operator=(const OutputFileSet&) = delete;

  // Null: this output of the rank goes to no file. Ranks whose file has the same name share it. Throws UsageError if that of a
  // rank which was not among the first ones cannot be made.
  Sink* of(int rank, bool is_stderr);
  // Drains all, and returns the first that can't be written, with its name; null: all can.
  const std::string* drain(int& error);
  bool waiting() const;  // for a file that is no regular one, a named pipe for example, to take more

 private:
  std::string path_of(const std::string& pattern, int rank) const;
  Sink* open_file(const std::string& pattern, int rank);

  const OutputFiles wanted_;
  const int first_;
  const int all_;
  std::map<std::string, std::unique_ptr<Sink>> files_;  // by path
};

}  // namespace heddle::mpiexec
