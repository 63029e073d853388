// The command line: one row an option, with its names, values, action and help.
//
// A table of our own and not a command-line library, because two grammars have to be read at once: MPICH's long
// options have one dash (`-genv K V`, which CLI11 and getopt take for seven short ones), many take two values, all
// are positional between `:`, and the first word that is no option ends them. One or two dashes are the same to us.
#include "boot/mpiexec/options.hpp"

#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>

#include "boot/job.hpp"
#include "boot/mpiexec/hosts.hpp"
#include "boot/mpiexec/ignored_options.hpp"
#include "boot/mpiexec/words.hpp"

namespace heddle::boot {
namespace {

struct Parser {
  Options options;
  App app;        // the one being read
  int depth = 0;  // of files that name files
};

using Values = std::span<const std::string>;

constexpr int name_and_value = -2;  // two words, or one of the form NAME=VALUE

struct Option {
  const char* names;  // without dashes, separated by blanks; the first one is shown
  int values;         // how many, or name_and_value
  void (*act)(Parser&, Values);
  const char* usage;  // how the values are shown
  const char* help;   // null: accepted, not shown
};

void parse_words(Parser& parser, const std::vector<std::string>& words);

int positive(const std::string& text, const char* what) {
  const int value = whole_number(text);
  if (value < 1) throw UsageError(std::string(what) + " must be a positive number, not '" + text + "'");
  return value;
}

std::pair<std::string, std::string> assignment(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return {text.substr(0, equals), text.substr(equals + 1)};
  const char* ours = getenv(text.c_str());
  return {text, ours != nullptr ? ours : ""};
}

// -x of Open MPI: a variable of ours (which is inherited anyway, unless -genvnone says otherwise) or a new value.
void export_variable(EnvironmentPlan& plan, const std::string& text) {
  if (text.find('=') == std::string::npos && getenv(text.c_str()) == nullptr) return;
  plan.set.push_back(assignment(text));
}

void read_command_file(Parser& parser, const std::string& path) {
  if (++parser.depth > 8) throw UsageError("command files name each other: " + path);
  bool first = true;
  for (const std::string& line : lines_of_file(path)) {
    std::vector<std::string> words = split_quoted(line);
    if (words.empty()) continue;
    if (!first && words.front() != ":") words.insert(words.begin(), ":");
    first = false;
    parse_words(parser, words);
  }
}

void choose_stdin(Parser& parser, const std::string& who) {
  if (who == "none") {
    parser.options.stdin_rank = stdin_to_nobody;
    return;
  }
  const int rank = whole_number(who);
  if (rank < 0) throw UsageError("standard input goes to one rank or to 'none', not to '" + who + "'");
  parser.options.stdin_rank = rank;
}

void choose_errhandler(Parser& parser, const std::string& name) {
  const auto known = [&](const char* one) { return name == one; };
  if (std::none_of(std::begin(initial_errhandlers), std::end(initial_errhandlers), known))
    throw UsageError("-initial-errhandler takes mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return, not '" +
                     name + "'");
  parser.app.environment.set.emplace_back(initial_errhandler_variable, name);
}

void choose_ranks(Parser& parser, const std::string& kind) {
  const std::string threads = "threads";
  if (kind == "processes") {
    parser.options.threads = 0;
  } else if (kind == threads) {
    parser.options.threads = all_ranks;
  } else if (kind.starts_with(threads + ':')) {
    parser.options.threads = positive(kind.substr(threads.size() + 1), "the number of ranks in a process");
  } else {
    throw UsageError("--ranks takes processes, threads or threads:N, not '" + kind + "'");
  }
}

// Open MPI 5: --output tag,merge,... ; what it can't do here is named as ignored.
void choose_output(Parser& parser, const std::string& list) {
  for (const std::string& word : split(list, ',')) {
    if (word == "tag" || word == "tag-detailed" || word == "tag-fullname")
      parser.options.label = Label::stream;
    else if (word == "rank")
      parser.options.label = Label::rank;
    else if (word == "merge-stderr-to-stdout" || word == "merge")
      parser.options.merge_stderr = true;
    else
      parser.options.ignored.push_back("--output " + word);
  }
}

constexpr Option table[] = {
    {"n np c", 1, [](Parser& p, Values v) { p.app.ranks = positive(v[0], "the number of ranks"); }, "N",
     "start N ranks of the program that follows (default 1)"},
    {"ranks", 1, [](Parser& p, Values v) { choose_ranks(p, v[0]); }, "processes|threads[:N]",
     "ranks are processes (default), or threads of one process, or of processes of N ranks each"},
    {"private", 1,
     [](Parser& p, Values v) {
       for (const std::string& name : split(v[0], ',')) p.options.private_libraries.push_back(name);
     },
     "LIB,...", "libraries of which each rank that is a thread gets its own copy, besides the program's own"},
    {"wdir wd cwd dir", 1, [](Parser& p, Values v) { p.app.directory = v[0]; }, "DIR", "run the program in DIR"},
    {"configfile app", 1, [](Parser& p, Values v) { read_command_file(p, v[0]); }, "FILE",
     "read options and programs from FILE, one program a line"},
    {"stdin s", 1, [](Parser& p, Values v) { choose_stdin(p, v[0]); }, "RANK|none",
     "the rank that gets standard input (default 0)"},
    {"initial-errhandler", 1, [](Parser& p, Values v) { choose_errhandler(p, v[0]); },
     "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
     "the error handler that communicators of the program that follows begin with (default: the first)"},
    {"timeout", 1, [](Parser& p, Values v) { p.options.timeout_seconds = positive(v[0], "the timeout in seconds"); },
     "SECONDS", "end the job after this time, with exit code 124"},
    {"usize", 1, [](Parser& p, Values v) { p.options.universe_size = positive(v[0], "the size of the universe"); }, "N",
     "the value of MPI_UNIVERSE_SIZE"},

    {"genv", name_and_value, [](Parser& p, Values v) { p.options.environment.set.emplace_back(v[0], v[1]); },
     "NAME VALUE", "set a variable for all programs"},
    {"env", name_and_value, [](Parser& p, Values v) { p.app.environment.set.emplace_back(v[0], v[1]); }, "NAME VALUE",
     "set a variable for the program that follows"},
    {"x", 1, [](Parser& p, Values v) { export_variable(p.options.environment, v[0]); }, "NAME[=VALUE]",
     "pass on a variable, or set it, for all programs"},
    {"genvlist", 1,
     [](Parser& p, Values v) {
       p.options.environment.inherit = Inherit::listed;
       p.options.environment.listed = split(v[0], ',');
     },
     "A,B,...", "pass on only these variables"},
    {"genvnone", 0, [](Parser& p, Values) { p.options.environment.inherit = Inherit::none; }, "",
     "pass on no variables"},
    {"genvall", 0, [](Parser& p, Values) { p.options.environment.inherit = Inherit::all; }, "",
     "pass on all variables (default)"},
    {"envlist", 1,
     [](Parser& p, Values v) {
       p.app.environment.inherit = Inherit::listed;
       p.app.environment.listed = split(v[0], ',');
     },
     "A,B,...", "the same three for the program that follows"},
    {"envnone", 0, [](Parser& p, Values) { p.app.environment.inherit = Inherit::none; }, "", ""},
    {"envall", 0, [](Parser& p, Values) { p.app.environment.inherit = Inherit::all; }, "", ""},

    {"l prepend-rank", 0, [](Parser& p, Values) { p.options.label = Label::rank; }, "",
     "begin each line of output with its rank: [3] text"},
    {"tag-output", 0, [](Parser& p, Values) { p.options.label = Label::stream; }, "",
     "begin each line of output as Open MPI does: [1,3]<stdout>: text"},
    {"merge-stderr-to-stdout", 0, [](Parser& p, Values) { p.options.merge_stderr = true; }, "",
     "write what ranks write to standard error to standard output"},
    {"output", 1, [](Parser& p, Values v) { choose_output(p, v[0]); }, "tag,rank,merge",
     "the same three as Open MPI 5 names them"},

    {"bind-to", 1, [](Parser& p, Values v) { request_binding(p.options.placement, v[0]); },
     "none|hwthread|core|l3cache|numa|socket[:N]",
     "what a rank is bound to (default: its share of the cores where that is 2 or more, else none)"},
    {"map-by", 1, [](Parser& p, Values v) { request_mapping(p.options.placement, v[0]); },
     "hwthread|core|l3cache|numa|socket|slot[:PE=N]", "where consecutive ranks go"},
    {"rank-by", 1, [](Parser& p, Values v) { request_ranking(p.options.placement, v[0]); }, "slot|core|span|fill",
     "number ranks as they were mapped (slot, span) or by where they are (core, fill)"},
    {"cpu-set cpu-list", 1, [](Parser& p, Values v) { request_cpus(p.options.placement, v[0]); }, "0,2-5",
     "use only these hardware threads"},
    {"use-hwthread-cpus", 0, [](Parser& p, Values) { p.options.placement.count_threads = true; }, "",
     "count hardware threads, not cores"},
    {"report-bindings", 0, [](Parser& p, Values) { p.options.report_bindings = true; }, "",
     "say on standard error where each rank may run"},
    {"bind-to-core", 0, [](Parser& p, Values) { request_binding(p.options.placement, "core"); }, "", nullptr},
    {"bind-to-socket", 0, [](Parser& p, Values) { request_binding(p.options.placement, "socket"); }, "", nullptr},
    {"bind-to-none", 0, [](Parser& p, Values) { request_binding(p.options.placement, "none"); }, "", nullptr},
    {"bycore", 0, [](Parser& p, Values) { request_mapping(p.options.placement, "core"); }, "", nullptr},
    {"bysocket", 0, [](Parser& p, Values) { request_mapping(p.options.placement, "socket"); }, "", nullptr},

    {"host hosts H", 1, [](Parser&, Values v) { require_local_hosts(split(v[0], ',')); }, "localhost",
     "accepted if it names this machine: Heddle starts ranks on one machine"},
    {"hostfile machinefile f default-hostfile machine", 1, [](Parser&, Values v) { require_local_hostfile(v[0]); },
     "FILE", "the same for a file of hosts"},
    {"quiet q", 0, [](Parser& p, Values) { p.options.quiet = true; }, "", "no notes about ignored options"},
    {"verbose v", 0, [](Parser& p, Values) { p.options.verbose = true; }, "", "say what is done"},
    {"version V", 0, [](Parser& p, Values) { p.options.show_version = true; }, "", "print the version"},
    {"help h ?", 0, [](Parser& p, Values) { p.options.show_help = true; }, "", "print this"},

    // Said by habit, and already so: one node, any number of ranks, any user, all ranks end when one fails.
    {"ppn perhost grr rr-group N npernode per-node", 1, [](Parser&, Values) {}, "N", nullptr},
    {"oversubscribe allow-run-as-root rr bynode byslot pernode enable-cleanup", 0, [](Parser&, Values) {}, "", nullptr},
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

void finish_app(Parser& parser) {
  if (parser.app.command.empty()) throw UsageError("no program is named");
  parser.options.apps.push_back(std::move(parser.app));
  parser.app = App{};
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
  const Option* option = find_option(name);
  int wanted = option != nullptr ? option->values : ignored_option_values(name);
  if (option == nullptr && wanted < 0) throw UsageError("unknown option " + written + " (mpiexec --help lists them)");
  ++at;
  if (wanted == name_and_value) {
    wanted = 2;
    if (at < words.size() && words[at].find('=') != std::string::npos) {
      const auto [variable, value] = assignment(words[at++]);
      values = {variable, value};
    }
  }
  while (static_cast<int>(values.size()) < wanted) {
    if (at == words.size()) throw UsageError("option " + written + " lacks a value");
    values.push_back(words[at++]);
  }
  if (static_cast<int>(values.size()) > wanted) throw UsageError("option " + written + " takes no value");
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
  if (const char* timeout = getenv("MPIEXEC_TIMEOUT"); timeout != nullptr && *timeout != '\0') {
    parser.options.timeout_seconds = positive(timeout, "MPIEXEC_TIMEOUT");
  }
  parse_words(parser, arguments);
  if (!parser.options.show_help && !parser.options.show_version) finish_app(parser);
  return std::move(parser.options);
}

void print_help() {
  puts(
      "Usage: mpiexec [options] -n N program [arguments] [: [options] -n N program [arguments]] ...\n"
      "Starts MPI ranks on this machine. Options are those of MPICH's and Open MPI's mpiexec; one or two dashes\n"
      "are the same.\n");
  for (const Option& option : table) {
    if (option.help == nullptr) continue;
    std::string left;
    for (const std::string& name : split(option.names, ' ')) left += (left.empty() ? "-" : ", -") + name;
    if (*option.usage != '\0') left += ' ' + std::string(option.usage);
    if (*option.help == '\0')
      printf("  %s\n", left.c_str());
    else if (left.size() < 26)
      printf("  %-26s  %s\n", left.c_str(), option.help);
    else
      printf("  %s\n  %-26s  %s\n", left.c_str(), "", option.help);
  }
  puts("\nExit code: that of the first rank that failed; 128 + the number of the signal that killed it.");
}

}  // namespace heddle::boot
