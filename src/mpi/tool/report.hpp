// The report of HEDDLE_REPORT: the threads' use of the library, printed at the end.
//
//     HEDDLE_REPORT=1      to standard error
//     HEDDLE_REPORT=FILE   to the file, anew
//     HEDDLE_REPORT=0      no report
// yes, on and true mean 1; no, off and false mean 0.
//
// Rank 0 writes for all, in the order of ranks.
#pragma once

#include <string>

#include "objects/object/error.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::tool {

// While the library comes up: starts counting if a report is wanted. Fails if rank 0, which writes it, cannot.
Error prepare_report(const Rank& rank);

// The tool interface has changed HEDDLE_REPORT.
void change_report(const std::string& from, const std::string& to);

// The report of this rank; "" if none is wanted. To be taken before the library's own last messages.
std::string take_report(Rank& rank);

// In MPI_Finalize, on every rank: collective over MPI_COMM_WORLD, and a barrier, also when there is nothing to report.
// An error of communication is returned; a file that cannot be written causes a message and no failure.
Error publish_report(Rank& rank, const std::string& report);

// For a rank that never had MPI_COMM_WORLD, and so no rank 0 that writes for it; a file is then appended to.
void print_report(const std::string& report);

}  // namespace heddle::tool
