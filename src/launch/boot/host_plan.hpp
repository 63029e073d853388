// What mpiexec tells a host, the process whose threads are ranks: which program, which ranks, and what each of them would
// have got as a process of its own.
//
// It travels in a memfd whose number is in the host's environment, so that the environment of the program can be told
// apart from that of the host, whatever either contains.
#pragma once

#include <string>
#include <vector>

namespace heddle::boot {

inline constexpr char host_plan_variable[] = "HEDDLE_HOST_PLAN";
inline constexpr char host_program[] = "heddle-host";

// Where a host looks for the copies of a program's libraries: descriptors of the thread that opens them. A search path of
// the loader, since their names in a copy have room for a number only.
inline constexpr char host_library_path[] = "/proc/thread-self/fd";

// Thread-local memory of a program lies at a fixed distance from the thread pointer, where the host keeps this much free.
// A program with more gets a host that was changed to keep more.
inline constexpr unsigned long host_tls_bytes = 4096;
inline constexpr unsigned long host_tls_alignment = 64;

struct HostedRank {
  int rank = 0;        // as the job's segment numbers them
  int world_rank = 0;  // in the job
  int local_rank = 0;  // of those that this mpiexec starts on this machine
  int launcher = -1;   // descriptor by which it joins the job of another launcher, over PMI-1; -1: mpiexec's own job
  int in = -1, out = -1, err = -1;  // descriptors that become its 0, 1 and 2
  std::vector<int> cpus;            // empty: not bound
};

struct HostPlan {
  std::string program;                         // path
  std::vector<std::string> arguments;          // argv[0] too
  std::vector<std::string> environment;        // of each rank, but for its number
  std::vector<std::string> private_libraries;  // names that the user gave
  std::vector<HostedRank> ranks;
};

// As bytes and back. Throws std::runtime_error if the text is not a plan.
std::string text_of_plan(const HostPlan& plan);
HostPlan plan_of_text(const std::string& text);

}  // namespace heddle::boot
