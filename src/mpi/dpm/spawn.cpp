// MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI 5.0, section 11.8): the root asks mpiexec to start the processes and
// sends its group the result.
#include <cstdio>
#include <exception>
#include <numeric>
#include <vector>

#include "launch/boot/join.hpp"
#include "launch/boot/spawn_request.hpp"
#include "mpi/coll/internal.hpp"
#include "mpi/comm/hints.hpp"
#include "mpi/comm/join_groups.hpp"
#include "mpi/dpm/parent.hpp"
#include "mpi/dpm/program.hpp"
#include "objects/binding/impl.hpp"
#include "objects/object/context.hpp"
#include "objects/object/faults.hpp"
#include "objects/object/resolve.hpp"

namespace heddle {

namespace {

// The result of a call, which the root sends.
struct Outcome {
  int error = MPI_SUCCESS;
  int first = 0;    // of the new processes, in the job
  int started = 0;  // how many there are
  int programs = 0;
  char sentence[sizeof ErrorDetail::text] = "";
};

Error refuse(const boot::SpawnAnswer& answer, std::size_t programs) {
  if (programs > 1 && answer.failed_program >= 0)
    return fail(MPI_ERR_SPAWN, "program %d of array_of_commands: %.440s", answer.failed_program,
                answer.problem.c_str());
  return fail(MPI_ERR_SPAWN, "%.480s", answer.problem.c_str());
}

// At the root.
Error ask(Rank& rank, const std::vector<boot::SpawnProgram>& programs, Context greeting, boot::SpawnAnswer& answer) {
  const int wanted =
      std::accumulate(programs.begin(), programs.end(), 0, [](int sum, const auto& one) { return sum | one.ranks; });
  if (wanted == 0) return fail(MPI_ERR_SPAWN, "no processes are requested (maxprocs is 0)");
  const boot::SpawnRequest request{rank.job->key(), rank.world_rank, greeting, programs};
  const Result<std::string> text = rank.job->ask_launcher(boot::to_text(request));
  if (!text) return fail(MPI_ERR_SPAWN, "cannot start processes: %.400s", text.failure().text.c_str());
  try {
    answer = boot::from_text<boot::SpawnAnswer>(*text, "mpiexec's answer");
  } catch (const std::exception& error) {
    return fail(MPI_ERR_SPAWN, "%s", error.what());
  }
  return answer.problem.empty() ? success : refuse(answer, programs.size());
}

// The requested maximum of processes of a program, and the number of started ones.
struct Count {
  int wanted;
  int started;
};

// A code for each requested process; those that `soft` has left out were not spawned.
void write_codes(const std::vector<Count>& counts, int* code) {
  for (const Count& count : counts)
    for (int n = 0; n < count.wanted; ++n) *code++ = n < count.started ? MPI_SUCCESS : MPI_ERR_SPAWN;
}

// At the root, from the moment that processes have been started: they wait in MPI_Init for their greeting. If it cannot
// be sent, for lack of memory, no other process could end that wait.
class Greeting {
 public:
  explicit Greeting(Rank& rank) : rank_(rank) {}
  ~Greeting() {
    if (due_)
      boot::abort(rank_.job.get(), MPI_ERR_SPAWN, "cannot send the spawned processes their parents: out of memory");
  }
  Greeting(const Greeting&) = delete;
  Greeting& operator=(const Greeting&) = delete;
  void is_due() { due_ = true; }
  void is_sent() { due_ = false; }

 private:
  Rank& rank_;
  bool due_ = false;
};

// Collective over `comm`. `prepare` is called at the root only: it describes the programs.
template <class Prepare>
Error spawn(Comm& comm, int root, Prepare&& prepare, MPI_Comm* intercomm, int* array_of_errcodes) {
  Rank& rank = *comm.owner;
  *intercomm = MPI_COMM_NULL;
  int model = 0;
  if (Error e = choose_model(rank, *comm.local_group, nullptr, model)) return e;
  const bool is_root = comm.rank == root;
  const Context greeting = fresh_context(rank);
  Outcome outcome;
  std::vector<Count> counts;
  Greeting greeted(rank);
  if (is_root) {
    std::vector<boot::SpawnProgram> programs;
    boot::SpawnAnswer answer;
    Error error = prepare(programs, counts);
    if (!error) error = ask(rank, programs, greeting, answer);
    outcome.error = error.code();
    if (error) std::snprintf(outcome.sentence, sizeof outcome.sentence, "%s", error_detail().text);
    if (!error) greeted.is_due();
    if (!error)
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i].started = answer.started.at(i);
    outcome.first = answer.first;
    outcome.started = std::accumulate(counts.begin(), counts.end(), 0,
                                      [](int sum, const Count& count) { return sum + count.started; });
    outcome.programs = static_cast<int>(counts.size());
  }
  if (Error e = coll::bcast_bytes(comm, &outcome, sizeof outcome, root)) return e;
  counts.resize(static_cast<std::size_t>(outcome.programs));
  if (Error e = coll::bcast_bytes(comm, counts.data(), counts.size() * sizeof(Count), root)) return e;
  if (array_of_errcodes != MPI_ERRCODES_IGNORE) write_codes(counts, array_of_errcodes);
  if (outcome.error != MPI_SUCCESS) return fail(outcome.error, "%s", outcome.sentence);

  const auto exchange = [&](const Group&, Context, Remote& remote) {
    remote.size = outcome.started;
    remote.world_ranks.resize(static_cast<std::size_t>(outcome.started));
    std::iota(remote.world_ranks.begin(), remote.world_ranks.end(), outcome.first);
    return success;
  };
  Comm* made = nullptr;
  if (Error e = join_groups(comm, root, nullptr, model, exchange, made)) return e;
  *intercomm = handle_of<MPI_Comm>(*made);
  if (!is_root) return success;
  if (Error e = dpm::greet_spawned(rank, greeting, outcome.first, *comm.local_group, made->context)) return e;
  greeted.is_sent();
  return success;
}

}  // namespace

namespace mpi {

Error Comm_spawn(const char* command, char* argv[], int maxprocs, const Info* info, int root, Comm& comm,
                 MPI_Comm* intercomm, int array_of_errcodes[]) {
  if (Error e = check_survivable(*comm.owner, "an intercommunicator")) return e;
  const auto prepare = [&](std::vector<boot::SpawnProgram>& programs, std::vector<Count>& counts) {
    counts = {{maxprocs, 0}};
    return dpm::describe_program(command, argv, maxprocs, info, programs.emplace_back());
  };
  return spawn(comm, root, prepare, intercomm, array_of_errcodes);
}

Error Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[], const int array_of_maxprocs[],
                          const MPI_Info array_of_info[], int root, Comm& comm, MPI_Comm* intercomm,
                          int array_of_errcodes[]) {
  if (Error e = check_survivable(*comm.owner, "an intercommunicator")) return e;
  const auto prepare = [&](std::vector<boot::SpawnProgram>& programs, std::vector<Count>& counts) {
    for (int i = 0; i < count; ++i) counts.push_back({array_of_maxprocs[i], 0});
    if (array_of_commands == nullptr) return fail(MPI_ERR_ARG, "array_of_commands is a null pointer");
    for (int i = 0; i < count; ++i) {
      const Info* const info = object(array_of_info[i]);
      if (info == nullptr && array_of_info[i] != MPI_INFO_NULL)
        return fail(MPI_ERR_INFO, "array_of_info[%d] is not an info object", i);
      if (array_of_commands[i] == nullptr) return fail(MPI_ERR_ARG, "array_of_commands[%d] is a null pointer", i);
      char** const argv = array_of_argv != MPI_ARGVS_NULL ? array_of_argv[i] : MPI_ARGV_NULL;
      if (Error e =
              dpm::describe_program(array_of_commands[i], argv, array_of_maxprocs[i], info, programs.emplace_back()))
        return e;
    }
    return success;
  };
  return spawn(comm, root, prepare, intercomm, array_of_errcodes);
}

}  // namespace mpi
}  // namespace heddle
