// The cores of each rank.
//
// The default binds a rank to its share of the cores only where a share is at least two cores: a rank of this library
// has threads, and threads on one core can only take turns (docs/adr: affinity of ranks).
#pragma once

#include <string>
#include <vector>

#include "launch/mpiexec/topology.hpp"

namespace heddle::mpiexec {

enum class Level { automatic, none, hwthread, core, l3cache, numa, package };

struct PlacementRequest {
  Level bind = Level::automatic;
  Level map = Level::automatic;
  int width = 1;               // units a rank gets: `core:2`, `PE=2`
  bool count_threads = false;  // a unit is a hardware thread and not a core
  bool by_location = false;    // number ranks by place, not in the order of mapping
  std::vector<int> cpus;       // only these; empty: all that we may use
  int per_part = 0;            // ranks on each part that `map` names (`ppr:2:socket`), no more; 0: any number
  bool overload = false;       // more ranks may be bound to a core than one
  bool report = false;         // print the cores of each rank
  bool no_oversubscribe = false;

  bool explicit_binding() const { return bind != Level::automatic || map != Level::automatic; }
};

// The values of --bind-to, --map-by, --rank-by and --cpu-set; `option` is the user's spelling. They throw UsageError.
void request_binding(PlacementRequest& request, const std::string& option, const std::string& text);
void request_mapping(PlacementRequest& request, const std::string& option, const std::string& text);
void request_ranking(PlacementRequest& request, const std::string& option, const std::string& text);
void request_cpus(PlacementRequest& request, const std::string& option, const std::string& text);

struct Placement {
  std::vector<std::vector<int>> cpus;  // of each rank, as the kernel numbers them; empty: not bound
  int cores = 1;                       // for a rank that is not bound
};

// True if the ranks' places depend on the machine's topology; reading it costs milliseconds.
bool needs_topology(const PlacementRequest& request, int ranks, int usable_cores, int allowed_cpus);

// The number of ranks by --map-by ppr.
int ranks_of_parts(const PlacementRequest& request, const std::vector<HardwareThread>& machine);

// Throws UsageError if the ranks are more than may be bound. `machine` holds the hardware threads that may be used, in the order of neighbourhood; it may be empty if the
// topology is not needed.
Placement place(const PlacementRequest& request, int ranks, int usable_cores,
                const std::vector<HardwareThread>& machine);

}  // namespace heddle::mpiexec
