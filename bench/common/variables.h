// Performance variables of the MPI library (MPI 5.0, section 15.3) over a measured part: which of them an MPI has, and what they
// count, is its own affair; here they are read by name.
#ifndef HEDDLE_BENCH_VARIABLES_H
#define HEDDLE_BENCH_VARIABLES_H

// Starts counting. `names` is a list with commas; what this MPI does not have, or has not for the whole rank, is left out.
void variables_begin(const char* names);

// Stops, and appends the sums over all ranks as a JSON object to rank 0's next result line, under "variables". Collective.
void variables_end(void);

#endif
