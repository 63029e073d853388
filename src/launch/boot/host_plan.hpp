// The plan that mpiexec gives a host, the process whose threads are ranks: the program, its ranks, and the settings
// that each of them would have as a separate process.
//
// It is in a memfd whose number is in the host's environment, so that the program's environment is separate from the
// host's, whatever either contains.
#pragma once

#include <string>
#include <vector>

namespace heddle::boot {

inline constexpr char host_plan_variable[] = "HEDDLE_HOST_PLAN";
inline constexpr char host_program[] = "heddle-host";

// The place where a host finds the copies of a program's libraries: descriptors of the thread that opens them. A search
// path of the loader, since their names in a copy have room for a number only.
inline constexpr char host_library_path[] = "/proc/thread-self/fd";

// Thread-local memory of a program lies at a fixed distance from the thread pointer, where the host reserves this much.
// A program with more gets a host that was changed to reserve more.
inline constexpr unsigned long host_tls_bytes = 4096;
inline constexpr unsigned long host_tls_alignment = 64;

struct HostedRank {
  int rank = 0;        // the rank's number in the job's segment
  int world_rank = 0;  // in the job
  int local_rank = 0;  // its number among those that this mpiexec starts on this machine
  int launcher = -1;   // descriptor for joining the job of another launcher, over PMI-1; -1: mpiexec's own job
  int in = -1, out = -1, err = -1;  // descriptors that become its 0, 1 and 2
  std::vector<int> cpus;            // empty: not bound
};

struct HostPlan {
  std::string program;                         // path
  std::vector<std::string> arguments;          // of each rank, without its number
  std::vector<std::string> environment;        // of each rank, but for its number
  std::vector<std::string> private_libraries;  // names that the user gave
  std::vector<HostedRank> ranks;
};

// Conversion to bytes and back. Throws std::runtime_error if the text is not a plan.
std::string text_of_plan(const HostPlan& plan);
HostPlan plan_of_text(const std::string& text);

}  // namespace heddle::boot
