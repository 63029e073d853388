// Every synchronization counter, registered by a line.
#pragma once

#include "kit.hpp"
#include "sync/competitive_counter.hpp"
#include "sync/kernel_counter.hpp"
#include "sync/user_counter.hpp"

namespace heddle::test {

template <platform::Platform P>
using Counters = CaseList<                   //
    Case<"user", sync::UserCounter<P>>,      //
    Case<"kernel", sync::KernelCounter<P>>,  //
    Case<"competitive", sync::CompetitiveCounter<P>>>;

}  // namespace heddle::test
