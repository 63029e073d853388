// The command line: one row an option, with its names, values, action and help.
//
// A table of our own and not a command-line library, because two grammars have to be read at once: MPICH's long
// options have one dash (`-genv K V`, which CLI11 and getopt take for seven short ones), many take two values, all
// are positional between `:`, and the first word that is no option ends them. One or two dashes are the same to us.
#include "launch/mpiexec/options.hpp"

#include <stdlib.h>

#include <span>
#include <utility>

#include "launch/boot/foreign_launcher.hpp"
#include "launch/boot/job.hpp"
#include "launch/mpiexec/ignored_options.hpp"
#include "launch/mpiexec/option_values.hpp"
#include "launch/mpiexec/refused_options.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

using Values = std::span<const std::string>;

constexpr int name_and_value = -2;  // two words, or one of the form NAME=VALUE

struct Option {
  const char* names;  // without dashes, separated by blanks; the first one is shown
  int values;         // how many, or name_and_value
  void (*act)(Parser&, Values);
  const char* usage;  // how the values are shown
  const char* help;
};

void parse_words(Parser& parser, const std::vector<std::string>& words);

void read_command_file(Parser& parser, const std::string& path) {
  if (++parser.depth > 8) throw UsageError(parser.written + ' ' + path + ": command files name each other");
  bool first = true;
  for (const std::string& line : lines_of_file(path)) {
    std::vector<std::string> words = split_quoted(line);
    if (words.empty()) continue;
    if (!first && words.front() != ":") words.insert(words.begin(), ":");
    first = false;
    parse_words(parser, words);
  }
}

constexpr Option table[] = {
    {"n np c", 1, [](Parser& p, Values v) { p.count.given = positive(p, v[0]); }, "N",
     "start N ranks of the program that follows (default 1)"},
    {"ppn perhost grr", 1, [](Parser& p, Values v) { p.count.suggested = positive(p, v[0]); }, "N",
     "ranks on each node, as in MPICH and Intel MPI: on one machine no effect with -n, and the same as -n without"},
    {"N npernode", 1, [](Parser& p, Values v) { choose_per_node(p, v[0]); }, "N",
     "ranks on each node, as in Open MPI: N ranks without -n, and never more than N"},
    {"pernode", 0, [](Parser& p, Values) { choose_per_node(p, "1"); }, "", "one rank on each node: -N 1"},
    {"ranks", 1, [](Parser& p, Values v) { choose_ranks(p, v[0]); }, "processes|threads[:N]",
     "run ranks as processes (default), as threads of one process, or of processes of N ranks each"},
    {"join", 1, [](Parser& p, Values v) { p.options.join = positive(p, v[0]); }, "N",
     "start N of the ranks, which are threads; start the others on other nodes, where the same launcher has "
     "started mpiexec with the "
     "same words (mpiexec does so itself for -host with -ranks threads)"},
    {"private", 1,
     [](Parser& p, Values v) {
       for (const std::string& name : names(p, v[0])) p.options.private_libraries.push_back(name);
     },
     "LIB,...", "copy these libraries for each rank that is a thread, besides the program's own"},
    {"wdir wd cwd dir", 1, [](Parser& p, Values v) { choose_directory(p, v[0]); }, "DIR", "run the program in DIR"},
    {"path", 1, [](Parser& p, Values v) { p.app.search_path = v[0]; }, "DIR:...",
     "search the program that follows in these directories before those of PATH"},
    {"configfile app", 1, [](Parser& p, Values v) { read_command_file(p, v[0]); }, "FILE",
     "read options and programs from FILE, one program a line"},
    {"stdin s", 1, [](Parser& p, Values v) { choose_stdin(p, v[0]); }, "RANK|none",
     "send standard input to this rank (default 0)"},
    {"initial-errhandler", 1, [](Parser& p, Values v) { choose_errhandler(p, v[0]); },
     "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
     "set the initial error handler of the program that follows (default: the first)"},
    {"with-ft", 1, [](Parser& p, Values v) { choose_fault_tolerance(p, v[0]); }, "ulfm|no",
     "survive failed ranks, and notify the others (MPIX_ functions of mpi-ext.h); default: "
     "no"},
    {"disable-auto-cleanup enable-recovery", 0, [](Parser& p, Values) { p.options.survive_failures = true; }, "",
     "the same as -with-ft ulfm"},
    {"enable-auto-cleanup disable-recovery cleanup", 0, [](Parser& p, Values) { p.options.survive_failures = false; },
     "", "the same as -with-ft no: end all ranks when one fails"},
    {"shared-heap", 0, [](Parser& p, Values) { p.options.shared_heap = true; }, "",
     "allocate large blocks (malloc, from 64 KiB on) in shared memory so that peers copy long messages "
     "once and "
     "without the kernel; not for programs whose children of fork go on working with such blocks"},
    {"timeout", 1, [](Parser& p, Values v) { p.options.timeout_seconds = positive(p, v[0]); }, "SECONDS",
     "end the job after this time, with exit code 124"},
    {"usize", 1, [](Parser& p, Values v) { choose_universe(p, v[0]); }, "N|SYSTEM|INFINITE",
     "set MPI_UNIVERSE_SIZE; SYSTEM is the number of usable cores, INFINITE (default) leaves it unset"},

    {"genv", name_and_value,
     [](Parser& p, Values v) { p.options.environment.set.push_back(assignment(p, v[0], v[1])); }, "NAME VALUE",
     "set a variable for all programs"},
    {"env", name_and_value, [](Parser& p, Values v) { p.app.environment.set.push_back(assignment(p, v[0], v[1])); },
     "NAME VALUE", "set a variable for the program that follows"},
    {"x", 1, [](Parser& p, Values v) { export_variable(p, v[0]); }, "NAME[=VALUE]",
     "pass on a variable, or set it, for all programs"},
    {"genvlist", 1,
     [](Parser& p, Values v) {
       p.options.environment.inherit = Inherit::listed;
       p.options.environment.listed = names(p, v[0]);
     },
     "A,B,...", "pass on only these variables"},
    {"genvnone", 0, [](Parser& p, Values) { p.options.environment.inherit = Inherit::none; }, "",
     "pass on no variables"},
    {"genvall", 0, [](Parser& p, Values) { p.options.environment.inherit = Inherit::all; }, "",
     "pass on all variables (default)"},
    {"envlist", 1,
     [](Parser& p, Values v) {
       p.app.environment.inherit = Inherit::listed;
       p.app.environment.listed = names(p, v[0]);
     },
     "A,B,...", "pass on only these variables to the program that follows"},
    {"envnone", 0, [](Parser& p, Values) { p.app.environment.inherit = Inherit::none; }, "",
     "pass on no variables to the program that follows"},
    {"envall", 0, [](Parser& p, Values) { p.app.environment.inherit = Inherit::all; }, "",
     "pass on all variables to the program that follows"},

    {"l prepend-rank", 0, [](Parser& p, Values) { p.options.label = Label::rank; }, "",
     "begin each line of output with its rank: [3] text"},
    {"tag-output", 0, [](Parser& p, Values) { p.options.label = Label::stream; }, "",
     "begin each line of output as Open MPI does: [1,3]<stdout>: text"},
    {"merge-stderr-to-stdout", 0, [](Parser& p, Values) { p.options.merge_stderr = true; }, "",
     "merge the ranks' standard error into standard output"},
    {"output", 1, [](Parser& p, Values v) { choose_output(p, v[0]); }, "tag,rank,merge,dir=DIR",
     "the same three, and -output-filename, as Open MPI 5 names them"},
    {"output-filename output-directory", 1, [](Parser& p, Values v) { choose_output_folder(p, v[0]); },
     "DIR[:nocopy][:nojobid]",
     "also write the output of rank R to DIR/1/rank.R/stdout and stderr, as Open MPI does; with nocopy only there, "
     "with "
     "nojobid without the 1"},
    {"outfile-pattern", 1, [](Parser& p, Values v) { choose_output_pattern(p, p.options.files.out, v[0]); }, "FILE",
     "write the ranks' standard output to FILE; in its name %r is the rank, %h the host, %% a percent sign"},
    {"errfile-pattern", 1, [](Parser& p, Values v) { choose_output_pattern(p, p.options.files.err, v[0]); }, "FILE",
     "the same for standard error"},

    {"bind-to", 1, [](Parser& p, Values v) { request_binding(p.options.placement, p.written, v[0]); },
     "none|hwthread|core|l3cache|numa|socket[:N]",
     "bind each rank to this resource (default: its share of the cores where that is 2 or more, else none); more ranks "
     "than "
     "cores need :overload-allowed. Several ranks that are not bound get OMP_NUM_THREADS, their share of the cores, "
     "unless "
     "it is set"},
    {"map-by", 1, [](Parser& p, Values v) { choose_mapping(p, v[0]); },
     "hwthread|core|l3cache|numa|socket|slot|ppr:N:RESOURCE[:PE=N]",
     "place consecutive ranks on these resources; ppr puts N ranks on each RESOURCE"},
    {"ppr", 1, [](Parser& p, Values v) { choose_mapping(p, "ppr:" + v[0]); }, "N:RESOURCE", "the same as -map-by ppr"},
    {"npersocket", 1, [](Parser& p, Values v) { choose_mapping(p, "ppr:" + v[0] + ":socket"); }, "N",
     "N ranks on each socket: -map-by ppr:N:socket"},
    {"rank-by", 1, [](Parser& p, Values v) { request_ranking(p.options.placement, p.written, v[0]); },
     "slot|core|span|fill", "number ranks in mapping order (slot, span) or by place (core, fill)"},
    {"cpus-per-proc cpus-per-rank", 1, [](Parser& p, Values v) { p.options.placement.width = positive(p, v[0]); }, "N",
     "bind each rank to N cores: -map-by :PE=N"},
    {"cpu-set cpu-list", 1, [](Parser& p, Values v) { request_cpus(p.options.placement, p.written, v[0]); }, "0,2-5",
     "use only these hardware threads"},
    {"use-hwthread-cpus", 0, [](Parser& p, Values) { p.options.placement.count_threads = true; }, "",
     "count hardware threads, not cores"},
    {"report-bindings", 0, [](Parser& p, Values) { p.options.report_bindings = true; }, "",
     "print the cores of each rank to standard error"},
    {"display", 1, [](Parser& p, Values v) { choose_display(p, v[0]); }, "bind", "the same as Open MPI 5 names it"},
    {"bind-to-core", 0, [](Parser& p, Values) { p.options.placement.bind = Level::core; }, "", "-bind-to core"},
    {"bind-to-socket", 0, [](Parser& p, Values) { p.options.placement.bind = Level::package; }, "", "-bind-to socket"},
    {"bind-to-none", 0, [](Parser& p, Values) { p.options.placement.bind = Level::none; }, "", "-bind-to none"},
    {"bycore", 0, [](Parser& p, Values) { p.options.placement.map = Level::core; }, "", "-map-by core"},
    {"bysocket", 0, [](Parser& p, Values) { p.options.placement.map = Level::package; }, "", "-map-by socket"},
    {"byslot bynode rr", 0, [](Parser&, Values) {}, "",
     "accepted: consecutive ranks go to consecutive slots, and there is one node"},
    {"oversubscribe", 0,
     [](Parser& p, Values) {
       p.options.placement.overload = true;
       p.options.placement.no_oversubscribe = false;
     },
     "", "allow more ranks than cores (default), also with binding"},
    {"nooversubscribe no-oversubscribe", 0, [](Parser& p, Values) { p.options.placement.no_oversubscribe = true; }, "",
     "allow at most as many ranks as slots: those of the named hosts, else the usable cores"},

    {"host hosts H", 1, [](Parser& p, Values v) { choose_hosts(p, v[0]); }, "HOST[:N],...",
     "start ranks on these machines, by srun, prterun or mpiexec.hydra, the first that is available, except in jobs "
     "that survive failed ranks (-with-ft); without -n there are N ranks"},
    {"hostfile machinefile f default-hostfile machine", 1, [](Parser& p, Values v) { choose_host_file(p, v[0]); },
     "FILE", "the same for a file of hosts: HOST:N, or HOST slots=N max_slots=M"},
    {"do-not-launch donotlaunch", 0, [](Parser& p, Values) { p.options.start_nothing = true; }, "",
     "check the command line and place the ranks, but start nothing"},
    {"quiet q", 0, [](Parser& p, Values) { p.options.quiet = true; }, "", "suppress notes about ignored options"},
    {"verbose v", 0, [](Parser& p, Values) { p.options.verbose = true; }, "", "print each step"},
    {"version V info", 0, [](Parser& p, Values) { p.options.show_version = true; }, "", "print the version"},
    {"help h ?", 0, [](Parser& p, Values) { p.options.show_help = true; }, "", "print this"},
    {"allow-run-as-root", 0, [](Parser&, Values) {}, "", "accepted: any user may start ranks"},
};

bool has_name(const Option& option, const std::string& name) {
  for (const std::string& one : split(option.names, ' ')) {
    if (one == name) return true;
  }
  return false;
}

const Option* find_option(const std::string& name) {
  for (const Option& option : table) {
    if (has_name(option, name)) return &option;
  }
  return nullptr;
}

// For an unknown option: the most similar known one.
[[noreturn]] void refuse_unknown(const std::string& written, const std::string& name) {
  const std::string dashes = written.substr(0, written.find(name));
  std::string hint;
  const std::size_t digits = name.find_first_of("0123456789");
  const Option* glued = digits != std::string::npos && digits > 0 ? find_option(name.substr(0, digits)) : nullptr;
  if (glued != nullptr && glued->values == 1) {
    hint = dashes + name.substr(0, digits) + ' ' + name.substr(digits);
  } else {
    std::vector<std::string> known;
    for (const Option& option : table)
      for (const std::string& one : split(option.names, ' ')) known.push_back(one);
    hint = nearest(name, known);
    if (!hint.empty()) hint.insert(0, dashes);
  }
  throw UsageError("unknown option " + written + (hint.empty() ? "" : "; did you mean " + hint + "?") +
                   " (mpiexec --help lists all)");
}

// Reads the option at words[at]; returns the index of the first word after it.
std::size_t parse_option(Parser& parser, const std::vector<std::string>& words, std::size_t at) {
  const std::string& written = words[at];
  std::string name = written.substr(written.compare(0, 2, "--") == 0 ? 2 : 1);
  std::vector<std::string> values;
  const std::size_t equals = name.find('=');
  if (equals != std::string::npos) {
    values.push_back(name.substr(equals + 1));
    name.resize(equals);
  }
  parser.written = written.substr(0, written.find('='));
  const Option* option = find_option(name);
  if (option == nullptr) {
    if (const char* reason = why_refused(name); reason != nullptr)
      throw UsageError("option " + parser.written + " is refused: " + reason);
  }
  int wanted = option != nullptr ? option->values : ignored_option_values(name);
  if (option == nullptr && wanted < 0) refuse_unknown(parser.written, name);
  ++at;
  if (wanted == name_and_value) {
    wanted = 2;
    if (at < words.size() && words[at].find('=') != std::string::npos) {
      const auto [variable, value] = assignment(parser, words[at++]);
      values = {variable, value};
    }
  }
  while (static_cast<int>(values.size()) < wanted) {
    if (at == words.size()) {
      const std::string form = option != nullptr ? std::string(": ") + parser.written + ' ' + option->usage : "";
      throw UsageError("option " + parser.written + " lacks a value" + form);
    }
    values.push_back(words[at++]);
  }
  if (static_cast<int>(values.size()) > wanted)
    throw UsageError("option " + parser.written + " takes no value, but '" + values.front() + "' was given");
  if (option != nullptr) {
    option->act(parser, values);
  } else {
    std::string text = written;
    if (equals == std::string::npos) {
      for (const std::string& value : values) text += ' ' + value;
    }
    parser.options.ignored.push_back(text);
  }
  return at;
}

void parse_words(Parser& parser, const std::vector<std::string>& words) {
  std::size_t at = 0;
  while (at < words.size()) {
    const std::string& word = words[at];
    if (word == ":") {
      finish_app(parser);
      ++at;
    } else if (word.size() > 1 && word[0] == '-' && word != "--") {
      at = parse_option(parser, words, at);
    } else {
      if (word == "--") ++at;
      while (at < words.size() && words[at] != ":") parser.app.command.push_back(words[at++]);
    }
  }
}

}  // namespace

Options parse_options(const std::vector<std::string>& arguments) {
  Parser parser;
  for (const char* const name : {boot::timeout_variable, "MPIEXEC_TIMEOUT"}) {
    const char* const timeout = getenv(name);
    if (timeout == nullptr || *timeout == '\0') continue;
    parser.written = std::string("the variable ") + name;
    parser.options.timeout_seconds = positive(parser, timeout);
  }
  if (const char* kind = getenv(boot::fault_tolerance_variable); kind != nullptr && *kind != '\0') {
    parser.written = std::string("the variable ") + boot::fault_tolerance_variable;
    choose_fault_tolerance(parser, kind);
  }
  if (const char* wanted = getenv(boot::shared_heap_variable); wanted != nullptr && *wanted != '\0') {
    parser.written = std::string("the variable ") + boot::shared_heap_variable;
    const std::string value = wanted;
    if (value != "0" && value != "1") refuse_value(parser, "0 or 1", value);
    parser.options.shared_heap = value == "1";
  }
  parse_words(parser, arguments);
  // the ranks of all nodes watch the time together
  if (parser.options.join != 0 && parser.options.timeout_seconds > 0) {
    const double seconds = std::exchange(parser.options.timeout_seconds, 0);
    parser.options.environment.set.emplace_back(boot::timeout_variable, std::to_string(static_cast<int>(seconds)));
  }
  if (!parser.options.show_help && !parser.options.show_version) finish_app(parser);
  return std::move(parser.options);
}

std::vector<OptionHelp> described_options() {
  std::vector<OptionHelp> options;
  for (const Option& option : table) options.push_back({split(option.names, ' '), option.usage, option.help});
  return options;
}

}  // namespace heddle::mpiexec
