#include "launch/mpiexec/placement.hpp"

#include <gtest/gtest.h>

#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {
namespace {

using Cpus = std::vector<std::vector<int>>;

// Two packages with a NUMA node and a cache each, `cores` cores a package, two threads a core; the kernel numbers the
// second threads after all the first ones, as it usually does.
std::vector<HardwareThread> machine(int cores) {
  std::vector<HardwareThread> threads;
  for (int core = 0; core < 2 * cores; ++core) {
    const int package = core / cores;
    for (int second : {0, 1}) threads.push_back({core + second * 2 * cores, core, package, package, package});
  }
  return threads;
}

Placement place_as(int ranks, const std::vector<std::string>& bind, const std::vector<std::string>& map = {},
                   const std::vector<std::string>& rank = {}) {
  PlacementRequest request;
  for (const std::string& text : bind) request_binding(request, "--bind-to", text);
  for (const std::string& text : map) request_mapping(request, "--map-by", text);
  for (const std::string& text : rank) request_ranking(request, "--rank-by", text);
  return place(request, ranks, 16, machine(4));
}

TEST(Placement, DefaultGivesEachRankItsShareOfCores) {
  const Placement placement = place_as(2, {});
  EXPECT_EQ(placement.cpus, (Cpus{{0, 8, 1, 9, 2, 10, 3, 11}, {4, 12, 5, 13, 6, 14, 7, 15}}));
  EXPECT_EQ(place_as(4, {}).cpus[3], (std::vector<int>{6, 14, 7, 15}));
}

TEST(Placement, DefaultBindsNoRankToASingleCore) {
  for (int ranks : {1, 5, 8, 16, 100})
    EXPECT_EQ(place_as(ranks, {}).cpus, Cpus(static_cast<std::size_t>(ranks))) << ranks;
  EXPECT_EQ(place_as(8, {}).cores, 2);
  EXPECT_EQ(place_as(100, {}).cores, 1);
}

TEST(Placement, TopologyIsReadOnlyWhenItMatters) {
  const PlacementRequest nothing;
  EXPECT_FALSE(needs_topology(nothing, 2, 2, 2));
  EXPECT_FALSE(needs_topology(nothing, 1, 16, 16));
  EXPECT_FALSE(needs_topology(nothing, 2, 4, 16)) << "a quota is not a set of cores";
  EXPECT_TRUE(needs_topology(nothing, 2, 16, 16));
  PlacementRequest core;
  request_binding(core, "--bind-to", "core");
  EXPECT_TRUE(needs_topology(core, 2, 2, 2));
  PlacementRequest none;
  request_binding(none, "--bind-to", "none");
  EXPECT_FALSE(needs_topology(none, 2, 16, 16));
}

TEST(Placement, BindToCore) {
  EXPECT_EQ(place_as(3, {"core"}).cpus, (Cpus{{0, 8}, {1, 9}, {2, 10}}));
  EXPECT_EQ(place_as(2, {"core:2"}).cpus, (Cpus{{0, 8, 1, 9}, {2, 10, 3, 11}}));
  EXPECT_EQ(place_as(9, {"core:overload-allowed"}).cpus[8], (std::vector<int>{0, 8})) << "begins again";
}

TEST(Placement, BindToHardwareThread) { EXPECT_EQ(place_as(3, {"hwthread"}).cpus, (Cpus{{0}, {8}, {1}})); }

TEST(Placement, BindToSocketAndNuma) {
  const Cpus expected{{0, 8, 1, 9, 2, 10, 3, 11}, {4, 12, 5, 13, 6, 14, 7, 15}};
  EXPECT_EQ(place_as(2, {"socket"}, {"socket"}).cpus, expected);
  EXPECT_EQ(place_as(2, {}, {"numa"}).cpus, expected) << "bound to what it is mapped by";
  EXPECT_EQ(place_as(2, {"socket"}).cpus, (Cpus{expected[0], expected[0]})) << "consecutive cores are on one socket";
}

TEST(Placement, MapBySocketBindToCore) {
  EXPECT_EQ(place_as(4, {"core"}, {"socket"}).cpus, (Cpus{{0, 8}, {4, 12}, {1, 9}, {5, 13}}));
  EXPECT_EQ(place_as(4, {"core"}, {"socket"}, {"core"}).cpus, (Cpus{{0, 8}, {1, 9}, {4, 12}, {5, 13}}));
  EXPECT_EQ(place_as(2, {"core"}, {"socket:PE=2"}).cpus, (Cpus{{0, 8, 1, 9}, {4, 12, 5, 13}}));
  EXPECT_EQ(place_as(2, {"core"}, {"ppr:1:socket"}).cpus, (Cpus{{0, 8}, {4, 12}}));
}

TEST(Placement, ModifiersAlone) {
  EXPECT_EQ(place_as(2, {}, {":PE=2"}).cpus, (Cpus{{0, 8, 1, 9}, {2, 10, 3, 11}}));
  EXPECT_EQ(place_as(2, {}, {":OVERSUBSCRIBE"}).cpus, place_as(2, {}).cpus);
}

TEST(Placement, RefusesWhatItDoesNotKnow) {
  PlacementRequest request;
  EXPECT_THROW(request_binding(request, "--bind-to", "moon"), UsageError);
  EXPECT_THROW(request_binding(request, "--bind-to", "core:sideways"), UsageError);
  EXPECT_THROW(request_mapping(request, "--map-by", "dist"), UsageError);
  EXPECT_THROW(request_ranking(request, "--rank-by", "age"), UsageError);
  EXPECT_THROW(request_cpus(request, "--cpu-set", "3-1"), UsageError);
  EXPECT_THROW(request_cpus(request, "--cpu-set", "a"), UsageError);
  EXPECT_THROW(request_cpus(request, "--cpu-set", ""), UsageError);
  EXPECT_THROW(request_cpus(request, "--cpu-set", "0-4000000000"), UsageError);
  EXPECT_THROW(request_mapping(request, "--map-by", "ppr:0:socket"), UsageError);
  EXPECT_THROW(request_mapping(request, "--map-by", "ppr:2"), UsageError);
}

TEST(Placement, RefusesMoreBoundRanksThanCores) {
  EXPECT_THROW(place_as(9, {"core"}), UsageError);
  EXPECT_THROW(place_as(9, {}, {"socket"}), UsageError);
  EXPECT_THROW(place_as(5, {"core:2"}), UsageError);
  EXPECT_NO_THROW(place_as(16, {"hwthread"}));
  EXPECT_THROW(place_as(17, {"hwthread"}), UsageError);
  EXPECT_NO_THROW(place_as(9, {"none"}));
  EXPECT_NO_THROW(place_as(9, {"core:overload-allowed"}));
  EXPECT_THROW(place_as(1, {"core"}, {"socket:PE=5"}), UsageError) << "a socket has 4 cores";
}

TEST(Placement, RanksOnEachPart) {
  EXPECT_EQ(place_as(4, {"core"}, {"ppr:2:socket"}).cpus, (Cpus{{0, 8}, {1, 9}, {4, 12}, {5, 13}}));
  EXPECT_THROW(place_as(5, {"core"}, {"ppr:2:socket"}), UsageError);
  PlacementRequest request;
  request_mapping(request, "--map-by", "ppr:2:numa");
  EXPECT_EQ(ranks_of_parts(request, machine(4)), 4);
}

TEST(Placement, CpuLists) {
  PlacementRequest request;
  request_cpus(request, "--cpu-set", "0,2-4");
  EXPECT_EQ(request.cpus, (std::vector<int>{0, 2, 3, 4}));
}

}  // namespace
}  // namespace heddle::mpiexec
