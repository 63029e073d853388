// A stand-in for an MPI program: does the steps that its arguments name, one after the other. The library behind MPI_Init
// executes a step of an MPI program, MPI_Abort and so on.
//
//   join | leave | who                       initialize, finalize, print "rank R of N"
//   call NUMBER | threads NUMBER             be in that MPI call; start two more threads that are in it
//   calling NUMBER                           start a thread that makes that call again and again
//   cores | app | say TEXT | run COMMAND      print the cores, the program; print a text; run a shell command
//   sleep SECONDS | ignore SIGNAL | kill SIGNAL | exit CODE | return CODE
//   crash | daemon                           write to a page without access; leave a process in a session of its own
//   abort CODE TEXT | only RANK STEP...      abort; do the remaining steps only on that rank (others go on to "all")
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "launch/boot/call_mark.hpp"
#include "launch/boot/join.hpp"

using namespace heddle;

namespace {

// As in the library: it stays until the process ends, and threads watch it.
std::unique_ptr<boot::World>& job = *new std::unique_ptr<boot::World>;

void be_in_call(std::uint16_t call) { boot::take_thread_record(job->record())->calls.store(call); }

void sleep_for(const std::string& seconds) { usleep(static_cast<unsigned>(std::stod(seconds) * 1e6)); }

void join_job() {
  Result<std::unique_ptr<boot::World>> joined = boot::join(1 << 20);
  if (!joined) {
    fprintf(stderr, "%s\n", joined.failure().text.c_str());
    exit(3);
  }
  job = *std::move(joined);
}

int current_rank() { return job ? job->rank() : atoi(getenv(boot::rank_variable)); }

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> steps(argv + 1, argv + argc);
  std::size_t at = 0;
  const auto value = [&]() -> const std::string& { return steps.at(at++); };
  while (at < steps.size()) {
    const std::string step = value();
    if (step == "join")
      join_job();
    else if (step == "leave")
      job->leave();
    else if (step == "who")
      printf("rank %d of %d\n", job->rank(), job->size());
    else if (step == "cores")
      printf("cores %d of %d\n", job->record().cores, job->usable_cores());
    else if (step == "app")
      printf("app %d of %d ranks\n", job->record().appnum, job->record().app_ranks);
    else if (step == "call")
      be_in_call(static_cast<std::uint16_t>(std::stoi(value())));
    else if (step == "threads") {
      const auto call = static_cast<std::uint16_t>(std::stoi(value()));
      static std::latch in_call(2);
      for (int i = 0; i < 2; ++i)
        std::thread([call] {
          be_in_call(call);
          in_call.count_down();
          pause();
        }).detach();
      in_call.wait();
    } else if (step == "calling") {
      const auto call = static_cast<std::uint16_t>(std::stoi(value()));
      std::thread([call] {
        boot::ThreadRecord& record = *boot::take_thread_record(job->record());
        boot::CallMark outer(record, call);
        for (;;) {
          boot::CallMark again(record, call);
          sleep_for("0.01");
        }
      }).detach();
    } else if (step == "say")
      puts(value().c_str());
    else if (step == "run")
      fflush(stdout), (void)!system(value().c_str());
    else if (step == "sleep")
      sleep_for(value());
    else if (step == "ignore")
      signal(std::stoi(value()), SIG_IGN);
    else if (step == "kill")
      raise(std::stoi(value()));
    else if (step == "crash") {
      // A page without access: address 0 would be caught by the undefined behaviour sanitizer before it faults.
      *static_cast<volatile char*>(mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) = 1;
    } else if (step == "exit")
      _exit(std::stoi(value()));
    else if (step == "abort") {
      const int code = std::stoi(value());
      boot::abort(job.get(), code, value().c_str());
    } else if (step == "only") {
      const bool here = current_rank() == std::stoi(value());
      while (!here && at < steps.size() && steps[at] != "all") ++at;
    } else if (step == "daemon") {  // a grandchild that leaves our process group and our session
      if (fork() == 0) {
        setsid();
        if (fork() == 0) {
          sleep_for("100");
        }
        _exit(0);
      }
    } else if (step != "all") {
      fprintf(stderr, "no such step: %s\n", step.c_str());
      return 99;
    }
  }
  return 0;
}
