// The consequences for a job when its ranks end, successfully or not.
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>

#include "launch/boot/foreign_launcher.hpp"
#include "launch/mpiexec/exit_report.hpp"
#include "launch/mpiexec/limits.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/relay.hpp"
#include "launch/mpiexec/supervisor.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

bool allows_singletons(const Options& options) {
  const std::string value = value_in(environment_of(options.environment, {}, ""), boot::singleton_variable);
  return !value.empty() && value != "0";
}

}  // namespace

void Supervisor::reap() {
  std::vector<End> ends;
  int status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    for (int rank = 0; rank < known_ranks(); ++rank) {
      const Child& child = children_[static_cast<std::size_t>(rank)];
      if (!child.alive || child.pid != pid) continue;
      // A rank that is a thread writes down how it ended; its neighbours end with their process.
      const std::int32_t own = segment_.records[rank].end.load();
      ends.push_back({rank, own != 0 ? boot::wait_status(own) : status, own != 0});
    }
  }
  no_children_ = pid < 0 && errno == ECHILD;
  // The one of several simultaneous ends that shows most about the cause comes first.
  std::stable_sort(ends.begin(), ends.end(), [&](const End& a, const End& b) {
    const auto weight = [&](const End& end) {
      if (segment_.records[end.rank].state.load() == boot::RankState::aborted) return 0;
      return end.is_own && WIFSIGNALED(end.status) ? 1 : WIFSIGNALED(end.status) ? 2 : 3;
    };
    return weight(a) < weight(b);
  });
  for (const End& end : ends) children_[static_cast<std::size_t>(end.rank)].alive = false;
  died_along_ = static_cast<int>(std::count_if(ends.begin(), ends.end(), [&](const End& end) {
    return !end.is_own && ends.front().is_own &&
           children_[static_cast<std::size_t>(end.rank)].pid ==
               children_[static_cast<std::size_t>(ends.front().rank)].pid;
  }));
  for (const End& end : ends) rank_ended(end);
  died_along_ = 0;
  if (failures_) tell_of_failures();
}

void Supervisor::rank_ended(const End& end) {
  boot::RankRecord& record = segment_.records[end.rank];
  read_rank(end.rank);
  if (relay_ != nullptr) relay_->catch_up(end.rank);
  const Child& child = children_[static_cast<std::size_t>(end.rank)];
  if (child.withdrawn || child.lost) return;
  if (!ended_well(end.status, record)) {
    const std::string process = end.is_own ? "" : shared_process(end.rank);
    const int code = job_exit_code(end.status, record);
    if (process.empty())
      fail(end.rank, code, who(end.rank), how_it_ended(end.status, record));
    else
      fail(end.rank, code, process, how_it_ended(end.status) + who_ended_process(end));
    return;
  }
  ended_well_ = true;
  boot::RankState running = boot::RankState::running;
  if (record.state.compare_exchange_strong(running, boot::RankState::exited)) {
    if (refuse_foreign_mpi(end.rank, "has used")) return;
    if (coordinator_ != nullptr)
      coordinator_->send(boot::Frame(boot::FrameKind::missing).add(segment_.first_here + end.rank));
    else
      look_for_missing_ranks();
  }
  if (options_.verbose) say(who(end.rank) + " ended");
}

// A process whose ranks are threads ends by one of them only past libc, whose exit ends the rank: by a system call. The
// thread that made it was outside MPI.
std::string Supervisor::who_ended_process(const End& end) const {
  if (!WIFEXITED(end.status)) return "";
  std::string outside;
  bool joined = false;
  for (int rank = 0; rank < known_ranks(); ++rank) {
    if (children_[static_cast<std::size_t>(rank)].pid != children_[static_cast<std::size_t>(end.rank)].pid) continue;
    const boot::RankRecord& record = segment_.records[rank];
    joined = joined || record.pid.load() > 0;
    if (record.end.load() != 0 || where_it_was(record).find(" in MPI_") != std::string::npos) continue;
    outside += (outside.empty() ? "" : ", ") + std::to_string(segment_.first_rank + rank);
  }
  if (!joined) return "";  // the host has printed itself why it does not run
  return " by the system call exit_group, as Go programs exit, which ends all ranks of the process (outside MPI: " +
         (outside.empty() ? std::string("none") : "rank " + outside) + "); use --ranks processes";
}

// The first failure is the job's; its consequences, and those of our signals, are not reported.
void Supervisor::fail(int rank, int exit_code, const std::string& subject, const std::string& how) {
  const boot::RankRecord& record = segment_.records[rank];
  // The others need nothing of a rank that has finalized: they may finish, only the exit code counts.
  const bool harmless = record.state.load() == boot::RankState::finalized && exit_code < 128;
  if (failures_ && phase_ == Phase::running && record.state.load() != boot::RankState::aborted &&
      !(harmless && !shared_process(rank).empty()))
    return lose(rank, exit_code, subject, how);
  if (!decided_) {
    decided_ = true;
    exit_code_ = exit_code;
    if (record.abort_text[0] != '\0') print(record.abort_text);
    // A rank of another launcher's job has printed itself why it ends it.
    if (relay_ == nullptr || record.state.load() != boot::RankState::aborted)
      say(subject + ' ' + how + (harmless ? "" : ending_others(rank)));
  }
  if (!harmless && phase_ == Phase::running) end_job();
}

// The job goes on without it. Its exit code is the job's only if no rank ends successfully. A rank that is a thread
// takes those of its process with it: their common state is gone, or unknown.
void Supervisor::lose(int rank, int exit_code, const std::string& subject, const std::string& how) {
  const pid_t process = children_[static_cast<std::size_t>(rank)].pid;
  const bool reaped = kill(process, 0) != 0 && errno == ESRCH;
  const std::vector<int> all = ranks_to_lose(rank);
  for (const int one : all) children_[static_cast<std::size_t>(one)].lost = true;
  const auto goes_on = [](const Child& child) { return child.alive && !child.lost; };
  auto left = static_cast<int>(std::count_if(children_.begin(), children_.end(), goes_on));
  if (coordinator_ != nullptr) left = segment_.header->size - failures_->told() - static_cast<int>(all.size());
  const bool takes_others = all.size() > 1 && subject != shared_process(rank);
  say(subject + ' ' + how + (takes_others ? ", which ends " + shared_process(rank) : "") +
      (left != 0 ? "; the job goes on with " + ranks_text(left) : ""));
  if (lost_code_ == 0) lost_code_ = exit_code;
  for (const int one : all) failures_->lost(one, process, reaped);
}

// With those of its process that others may still wait for.
std::vector<int> Supervisor::ranks_to_lose(int rank) const {
  std::vector<int> all;
  for (int other = 0; other < known_ranks(); ++other) {
    const Child& child = children_[static_cast<std::size_t>(other)];
    const bool owes = segment_.records[other].state.load() != boot::RankState::finalized;
    if (other == rank || (child.pid == children_[static_cast<std::size_t>(rank)].pid && !child.lost && owes))
      all.push_back(other);
  }
  return all;
}

void Supervisor::tell_of_failures() {
  tell_at_ = failures_->tell() ? Clock::now() + tell_again_every : Clock::time_point::max();
}

// A rank under a wrapper script ends long before the wrapper does, and one that is a thread before its process, so they
// also send us a signal.
void Supervisor::look_at_records() {
  for (int rank = 0; rank < known_ranks(); ++rank) {
    const boot::RankRecord& record = segment_.records[rank];
    Child& child = children_[static_cast<std::size_t>(rank)];
    const std::int32_t own = record.end.load();
    if (!child.alive) continue;
    if (own != 0 && WIFEXITED(boot::wait_status(own))) {  // if a signal, its process ends with it
      child.alive = false;
      rank_ended({rank, boot::wait_status(own), true});
    } else if (record.state.load() == boot::RankState::aborted) {
      read_rank(rank);
      fail(rank, record.abort_code.load(), who(rank), how_it_ended(0, record));
    }
  }
}

// A rank that ended without ever initializing MPI, in a job where others have: they would wait for it for ever.
void Supervisor::look_for_missing_ranks() {
  check_again_at_ = Clock::time_point::max();
  int missing = -1, inited = -1;
  for (std::size_t rank = 0; rank < children_.size(); ++rank) {
    const boot::RankState state = segment_.records[rank].state.load();
    if (state == boot::RankState::exited) missing = static_cast<int>(rank);
    if (state == boot::RankState::inited) inited = static_cast<int>(rank);
  }
  if (missing < 0 || living() == 0 || phase_ != Phase::running) return;
  if (inited < 0) {
    check_again_at_ = Clock::now() + check_again_every;
    return;
  }
  fail(missing, 1, who(missing),
       "exited without calling MPI_Init, but " + rank_text(segment_, inited) + " has called it");
  if (failures_) {
    segment_.records[missing].state.store(boot::RankState::finalized);  // which has been reported
    tell_of_failures();
    look_for_missing_ranks();
  }
}

// Checks the first rank that has not joined: the others of its program load the same. A job of one rank is the same
// alone.
void Supervisor::look_for_foreign_mpi() {
  look_for_foreign_at_ = Clock::time_point::max();
  if (segment_.header->size == 1 || phase_ != Phase::running || foreign_rank_ >= 0) return;
  const auto waits = [&](const Child& child) {
    const auto rank = &child - children_.data();
    return child.alive && segment_.records[rank].state.load() <= boot::RankState::running;
  };
  const auto first = std::find_if(children_.begin(), children_.end(), waits);
  if (first == children_.end()) return;
  const Clock::time_point now = Clock::now();
  look_for_foreign_at_ = now + (now < begun_ + time_to_initialize ? foreign_early : foreign_later);
  foreign_ = foreign_mpi_of(first->pid);
  if (!foreign_) return;
  foreign_rank_ = static_cast<int>(first - children_.begin());
  // With both libraries it may yet join, and so may a later child of a program that this one has started.
  if (foreign_.is_own && !foreign_.has_ours) (void)refuse_foreign_mpi(foreign_rank_, "has initialized");
}

// A rank that has not joined, if its program has another MPI.
bool Supervisor::refuse_foreign_mpi(int rank, const char* done) {
  if (foreign_rank_ < 0 || allows_singletons(options_)) return false;
  const Child& foreign = children_[static_cast<std::size_t>(foreign_rank_)];
  if (foreign.program != children_[static_cast<std::size_t>(rank)].program) return false;
  const std::string of = foreign_.family.empty() ? " of another MPI" : " of " + foreign_.family;
  fail(rank, 1, who(rank),
       std::string(done) + ' ' + foreign_.path + of +
           ", and each rank runs alone, as a singleton; have it load Heddle's library (Python: MPICC=" + own_folder() +
           "mpicc pip install --no-cache-dir --no-binary mpi4py mpi4py), or start it with the mpiexec of its own MPI, "
           "or "
           "set HEDDLE_SINGLETON=1 to allow it");
  return true;
}

}  // namespace heddle::mpiexec
