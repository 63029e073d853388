// Every synchronization counter, registered by a line.
#pragma once

#include "base/sync/competitive_counter.hpp"
#include "base/sync/kernel_counter.hpp"
#include "base/sync/user_counter.hpp"
#include "kit.hpp"

namespace heddle::test {

template <platform::Platform P>
using Counters = CaseList<                   //
    Case<"user", sync::UserCounter<P>>,      //
    Case<"kernel", sync::KernelCounter<P>>,  //
    Case<"competitive", sync::CompetitiveCounter<P>>>;

// Those that work between processes.
template <platform::Platform P>
using SharedCounters = CaseList<         //
    Case<"user", sync::UserCounter<P>>,  //
    Case<"kernel", sync::KernelCounter<P, platform::Scope::machine>>,
    Case<"competitive", sync::CompetitiveCounter<P, 500, platform::Scope::machine>>>;

}  // namespace heddle::test
