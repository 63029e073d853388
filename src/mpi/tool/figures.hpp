// The data of the report of one rank: plain data, collected once.
#pragma once

#include <string>
#include <vector>

#include "base/instruments/counter_registry.hpp"
#include "base/instruments/counters.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::tool {

struct CommFigures {
  std::string name;
  int size = 0;
  int vni = instruments::no_vni;  // that carries it, or no_vni or over_lanes (counter_registry.hpp)
  std::uint64_t freed = 0;        // number of freed communicators summed up here; 0: a living one
  instruments::Totals totals;
};

struct VniFigures {
  int index = 0;
  instruments::Totals totals;
};

struct Figures {
  int rank = 0;
  int ranks = 1;
  std::string model;
  bool model_was_chosen = false;  // by HEDDLE_MODEL
  std::string waiting;            // the policy, and its origin (base/safety/wait_policy.hpp)
  bool never_sleep = false;       // threads that wait, however long
  bool may_sleep = true;          // if HEDDLE_WAIT=spin allows it, which not every model supports
  int threads = 1;                // the kernel's count for the rank's process; 1 where ranks share one
  int cores = 1;                  // for them: the rank's own, or of all cores its share
  int nodes = 1;
  std::string network;             // to other nodes, by its name; empty: there are none
  int rails = 1;                   // of that network
  std::uint64_t unexpected = 0;    // bytes that unexpected messages of one peer on another node may occupy on a VNI
  std::string strategy;            // the default of the outboxes
  std::vector<std::string> asked;  // requested by sessions and communicators: the VNIs and the model of each
  std::vector<VniFigures> vnis;
  std::vector<CommFigures> comms;  // that have been used
};

Figures collect(Rank& rank);

// The time of a VNI, in ticks.
std::uint64_t time_in_library(const instruments::Totals& vni);

// One line for a person: the most notable counts, and the remedy. It gives only advice whose effect the same counts
// show (tests/tool/advised.py follows it), and none about a program that did next to nothing.
std::string advice(const Figures& figures);

// The whole block, with a line break at its end.
std::string render(const Figures& figures);

}  // namespace heddle::tool
