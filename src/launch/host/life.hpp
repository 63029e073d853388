// From the beginning to the end of a rank that is a thread.
#pragma once

#include "launch/boot/host_plan.hpp"
#include "launch/boot/job.hpp"
#include "launch/host/program.hpp"
#include "launch/host/seat.hpp"

namespace heddle::host {

// Starts the rank; its program may begin before this returns. False: the thread can't be made, errno says why.
bool start_rank(Seat& seat, const boot::HostPlan& plan, const Program& program);

// Until every rank of this host has ended.
void wait_for_ranks(int ranks);

// Reports to mpiexec how the rank of the calling thread ended, and ends the thread. The first of several ends counts.
[[noreturn]] void end_rank(int wait_status);

// The end of a thread of a rank, its destructors included.
void leave();
void run_thread_exit_handlers();

// True in a child of fork or vfork, which is a process with one thread and no rank.
bool is_forked();

}  // namespace heddle::host
