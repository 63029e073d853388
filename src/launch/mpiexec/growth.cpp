#include "launch/mpiexec/growth.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <stdexcept>

#include "launch/mpiexec/hosts.hpp"
#include "launch/mpiexec/launch.hpp"
#include "launch/mpiexec/program.hpp"

namespace heddle::mpiexec {
namespace {

// The number of ranks of each program: the wanted number, or, where that does not fit and fewer would do, as many as
// fit.
std::vector<int> numbers_that_fit(const std::vector<boot::SpawnProgram>& programs, int room) {
  std::vector<int> numbers;
  numbers.reserve(programs.size());
  for (const boot::SpawnProgram& program : programs) numbers.push_back(program.ranks);
  long sum = std::accumulate(numbers.begin(), numbers.end(), 0L);
  for (std::size_t i = programs.size(); i-- > 0 && sum > room;) {
    const std::vector<int>& fewer = programs[i].fewer;
    const auto fits = [&](int number) { return sum - numbers[i] + number <= room; };
    const auto largest = std::find_if(fewer.rbegin(), fewer.rend(), fits);
    if (fewer.empty()) continue;
    const int number = largest != fewer.rend() ? *largest : fewer.front();
    sum += number - numbers[i];
    numbers[i] = number;
  }
  if (sum > room)
    throw std::runtime_error(std::to_string(sum) + " ranks cannot be added: a job can start " + std::to_string(room) +
                             " more during its life");
  return numbers;
}

}  // namespace

std::string Growth::answer(const std::string& text) {
  boot::SpawnAnswer answer;
  try {
    const auto request = boot::from_text<boot::SpawnRequest>(text, "a request of a rank");
    if (request.key != segment_.header->key) throw std::runtime_error("a request of another job");
    grow(request, answer);
  } catch (const std::exception& problem) {
    answer.problem = problem.what();
    answer.started.clear();
  }
  return boot::to_text(answer);
}

void Growth::grow(const boot::SpawnRequest& request, boot::SpawnAnswer& answer) {
  if (!supervisor_.is_running()) throw std::runtime_error("the job is ending");
  const int first = boot::ranks_so_far(*segment_.header);
  answer.first = first;
  answer.started = numbers_that_fit(request.programs, segment_.header->capacity - first);
  const int size = std::accumulate(answer.started.begin(), answer.started.end(), 0);
  std::vector<Program> programs;
  for (const boot::SpawnProgram& wanted : request.programs) {
    answer.failed_program = static_cast<int>(programs.size());
    programs.push_back(prepare(wanted, answer.started[programs.size()]));
  }

  describe(request, programs, first, size);
  supervisor_.expect(size);
  int rank = first;
  try {
    answer.failed_program = 0;
    for (const Program& program : programs) {
      Starter starter(program.app, program.path, options_.environment, segment_, size, open_files_);
      for (int i = 0; i < program.app.ranks; ++i, ++rank) {
        int exit_code = 0;
        const std::string problem = starter.start(rank, {}, supervisor_, exit_code);
        if (!problem.empty()) throw std::runtime_error(problem);
      }
      ++answer.failed_program;
    }
  } catch (const std::exception&) {
    for (int started = first; started < first + size; ++started) supervisor_.withdraw(started);
    throw;
  }
  answer.failed_program = -1;
}

Growth::Program Growth::prepare(const boot::SpawnProgram& wanted, int ranks) const {
  if (wanted.command.empty() || wanted.command.front().empty()) throw std::runtime_error("no program is named");
  const std::vector<Host> hosts = read_hosts(wanted.hosts);
  for (const Host& host : hosts)
    if (!is_this_machine(host.name))
      throw std::runtime_error("host '" + host.name +
                               "' is not this machine, and processes are spawned on this machine only");
  App app{.ranks = ranks,
          .per_node = 0,
          .hosts = hosts,
          .command = wanted.command,
          .directory = wanted.directory,
          .search_path = wanted.search_path,
          .environment = {}};
  if (!wanted.initial_errhandler.empty())
    app.environment.set.emplace_back(boot::initial_errhandler_variable, wanted.initial_errhandler);
  const std::string path =
      require_program(app, options_.environment, boot::ranks_so_far(*segment_.header) + ranks, false);
  return {std::move(app), path};
}

// Before any of them runs.
void Growth::describe(const boot::SpawnRequest& request, const std::vector<Program>& programs, int first, int size) {
  boot::JobHeader& job = *segment_.header;
  ++groups_;
  int rank = first, appnum = 0;
  for (const Program& program : programs) {
    for (int i = 0; i < program.app.ranks; ++i, ++rank) {
      boot::RankRecord& record = segment_.records[rank];
      record.appnum = appnum;
      record.app_ranks = program.app.ranks;
      record.cores = std::max(1, job.usable_cores / std::max(1, supervisor_.living() + size));
      record.bound = 0;
      record.host = rank;
      record.world_first = first;
      record.world_size = size;
      record.spawned_by = request.asker;
      record.spawn_number = groups_;
      record.greeting = request.greeting;
    }
    ++appnum;
  }
  job.spawned.fetch_add(size, std::memory_order_release);
}

}  // namespace heddle::mpiexec
