// Every lock, registered by a line.
#pragma once

#include "kit.hpp"
#include "sync/futex_lock.hpp"
#include "sync/mcs_lock.hpp"
#include "sync/mutex_lock.hpp"

namespace heddle::test {

template <platform::Platform P>
using Locks = CaseList<                 //
    Case<"mutex", sync::MutexLock<P>>,  //
    Case<"futex", sync::FutexLock<P>>,  //
    Case<"mcs", sync::McsLock<P>>>;

}  // namespace heddle::test
