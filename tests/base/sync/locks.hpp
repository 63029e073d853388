// Every lock, registered by a line.
#pragma once

#include "base/sync/clh_lock.hpp"
#include "base/sync/clhub_lock.hpp"
#include "base/sync/cohort_lock.hpp"
#include "base/sync/dsm_synch.hpp"
#include "base/sync/futex_lock.hpp"
#include "base/sync/hmcs_lock.hpp"
#include "base/sync/mcs_lock.hpp"
#include "base/sync/mutex_lock.hpp"
#include "base/sync/pclh_lock.hpp"
#include "base/sync/reserved_lock.hpp"
#include "base/sync/tas_lock.hpp"
#include "base/sync/ticket_lock.hpp"
#include "base/sync/ttas_lock.hpp"
#include "kit.hpp"

namespace heddle::test {

// Hierarchical locks on a made-up machine: even processors are one NUMA node, odd ones another, and four of them share
// a package. (The checker gives every thread a processor of its own.) Bounds are small, so that they are reached.
template <class L>
class OnTwoNodes : public L {
 public:
  OnTwoNodes() : L(machine()) {}

 private:
  static platform::Topology machine() {
    platform::Topology::Level node(8);
    platform::Topology::Level package(8);
    for (std::uint32_t p = 0; p != 8; ++p) {
      node[p] = (p % 2) * 2 + p / 4;
      package[p] = p / 4;
    }
    return platform::Topology({node, package});
  }
};

struct NoOperation {
  void operator()(int&) const {}
};

template <platform::Platform P>
using Locks = CaseList<                                  //
    Case<"mutex", sync::MutexLock<P>>,                   //
    Case<"futex", sync::FutexLock<P>>,                   //
    Case<"tas", sync::TasLock<P>>,                       //
    Case<"ttas", sync::TtasLock<P>>,                     //
    Case<"ticket", sync::TicketLock<P>>,                 //
    Case<"clh", sync::ClhLock<P>>,                       //
    Case<"mcs", sync::McsLock<P>>,                       //
    Case<"hmcs2", OnTwoNodes<sync::HmcsLock<P, 2, 2>>>,  //
    Case<"hmcs3", OnTwoNodes<sync::HmcsLock<P, 3, 2>>>,  //
    Case<"cohort", OnTwoNodes<sync::CohortLock<P, 2>>>,  //
    Case<"pclh", sync::PClhLock<P>>,                     //
    Case<"clhub", sync::ClhubLock<P>>,                   //
    Case<"hclhub", OnTwoNodes<sync::HclhubLock<P>>>,     //
    Case<"reserved", sync::ReservedLock<P, sync::TtasLock<P>>>, Case<"dsm-synch", sync::DsmSynch<P, int, NoOperation>>>;

// Those that work between processes.
template <platform::Platform P>
using SharedLocks = CaseList<                                     //
    Case<"futex", sync::FutexLock<P, platform::Scope::machine>>,  //
    Case<"tas", sync::TasLock<P>>,                                //
    Case<"ttas", sync::TtasLock<P>>,                              //
    Case<"ticket", sync::TicketLock<P>>>;

// Those that promise FIFO order (the hierarchical ones inside a domain).
template <platform::Platform P>
using FifoLocks = CaseList<               //
    Case<"ticket", sync::TicketLock<P>>,  //
    Case<"clh", sync::ClhLock<P>>,        //
    Case<"mcs", sync::McsLock<P>>,        //
    Case<"hmcs2", sync::HmcsLock<P, 2>>,  //
    Case<"hmcs3", sync::HmcsLock<P, 3>>,  //
    Case<"cohort", sync::CohortLock<P>>,  //
    Case<"pclh", sync::PClhLock<P>>,      //
    Case<"dsm-synch", sync::DsmSynch<P, int, NoOperation>>>;

// Those with two classes of caller.
template <platform::Platform P>
using TwoClassLocks = CaseList<         //
    Case<"pclh", sync::PClhLock<P>>,    //
    Case<"clhub", sync::ClhubLock<P>>,  //
    Case<"hclhub", sync::HclhubLock<P>>>;

}  // namespace heddle::test
