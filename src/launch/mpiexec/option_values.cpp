#include "launch/mpiexec/option_values.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "launch/boot/job.hpp"
#include "launch/mpiexec/hand_over.hpp"
#include "launch/mpiexec/hosts.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {

void refuse_value(const Parser& parser, const std::string& allowed, const std::string& value) {
  throw UsageError(parser.written + " takes " + allowed + ", not '" + value + "'");
}

int positive(const Parser& parser, const std::string& text, int largest) {
  const int value = whole_number(text);
  if (value < 1 || value > largest) refuse_value(parser, "a whole number from 1 to " + std::to_string(largest), text);
  return value;
}

std::pair<std::string, std::string> assignment(const Parser& parser, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) return assignment(parser, text.substr(0, equals), text.substr(equals + 1));
  const char* ours = getenv(text.c_str());
  return assignment(parser, text, ours != nullptr ? ours : "");
}

std::pair<std::string, std::string> assignment(const Parser& parser, const std::string& name,
                                               const std::string& value) {
  if (name.empty() || name.find('=') != std::string::npos)
    refuse_value(parser, "the name of a variable and its value", name + '=' + value);
  return {name, value};
}

std::vector<std::string> names(const Parser& parser, const std::string& list) {
  std::vector<std::string> all = split(list, ',');
  if (all.empty()) refuse_value(parser, "names that are separated by commas", list);
  return all;
}

void choose_directory(Parser& parser, const std::string& path) {
  struct stat status;
  const bool there = stat(path.c_str(), &status) == 0;
  if (there && !S_ISDIR(status.st_mode)) refuse_value(parser, "a directory", path);
  if (!there || access(path.c_str(), X_OK) != 0)
    throw UsageError(parser.written + ": cannot enter the working directory '" + path + "': " + strerror(errno));
  parser.app.directory = path;
}

// -x of Open MPI: a variable of ours (which is inherited anyway, unless -genvnone says otherwise) or a new value.
void export_variable(Parser& parser, const std::string& text) {
  if (text.find('=') == std::string::npos && getenv(text.c_str()) == nullptr)
    throw UsageError(parser.written + ' ' + text + ": no such variable to pass on. To set it, write " + parser.written +
                     ' ' + text + "=VALUE");
  parser.options.environment.set.push_back(assignment(parser, text));
}

void choose_stdin(Parser& parser, const std::string& who) {
  parser.options.stdin_rank = who == "none" ? stdin_to_none : whole_number(who);
  if (who != "none" && parser.options.stdin_rank < 0)
    refuse_value(parser, "the number of one rank, or none (only one rank can read it)", who);
}

void choose_errhandler(Parser& parser, const std::string& name) {
  const auto known = [&](const char* one) { return name == one; };
  if (std::none_of(std::begin(boot::initial_errhandlers), std::end(boot::initial_errhandlers), known))
    refuse_value(parser, "mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return", name);
  parser.app.environment.set.emplace_back(boot::initial_errhandler_variable, name);
}

void choose_ranks(Parser& parser, const std::string& kind) {
  const std::string threads = "threads";
  if (kind == "processes") {
    parser.options.threads = 0;
  } else if (kind == threads) {
    parser.options.threads = all_ranks;
  } else {
    const int each = kind.starts_with(threads + ':') ? whole_number(kind.substr(threads.size() + 1)) : -1;
    if (each < 1) refuse_value(parser, "processes, threads or threads:N", kind);
    parser.options.threads = each;
  }
}

void choose_fault_tolerance(Parser& parser, const std::string& kind) {
  if (boot::asks_to_survive(kind))
    parser.options.survive_failures = true;
  else if (kind == "no" || kind == "none" || kind == "false")
    parser.options.survive_failures = false;
  else
    refuse_value(parser, "ulfm or no", kind);
}

void choose_universe(Parser& parser, const std::string& size) {
  const int number = whole_number(size);
  if (size == "SYSTEM")
    parser.options.universe_size = universe_of_cores;
  else if (size == "INFINITE")
    parser.options.universe_size = 0;
  else if (number >= 1)
    parser.options.universe_size = number;
  else
    refuse_value(parser, "a whole number of ranks, SYSTEM or INFINITE", size);
}

void choose_per_node(Parser& parser, const std::string& number) {
  parser.count.per_node = positive(parser, number);
  parser.count.per_node_option = parser.written + ' ' + number;
}

// ppr:N:node is a number of ranks, as a node is all that we have.
void choose_mapping(Parser& parser, const std::string& text) {
  PlacementRequest& request = parser.options.placement;
  request_mapping(request, parser.written, text);
  if (request.per_part == 0 || (request.map != Level::automatic && request.map != Level::none)) return;
  parser.count.per_node = request.per_part;
  parser.count.per_node_option = parser.written + ' ' + text;
  request.per_part = 0;
  request.map = Level::automatic;
}

void choose_hosts(Parser& parser, const std::string& list) { parser.app.hosts = read_hosts(names(parser, list)); }

void choose_host_file(Parser& parser, const std::string& path) { parser.app.hosts = read_host_file(path); }

void choose_output_folder(Parser& parser, const std::string& text) {
  std::vector<std::string> words = split(text, ':');
  if (words.empty()) refuse_value(parser, "the name of a folder", text);
  OutputFiles files{.out = {}, .err = {}, .copy = true, .make_folders = true};
  std::string folder = words.front() + "/1";
  for (const std::string& modifiers : std::vector(words.begin() + 1, words.end())) {
    for (const std::string& modifier : split(modifiers, ',')) {
      if (modifier == "nocopy")
        files.copy = false;
      else if (modifier == "nojobid")
        folder = words.front();
      else if (modifier != "copy" && modifier != "jobid")
        refuse_value(parser, "the name of a folder and then :nocopy or :nojobid", text);
    }
  }
  files.out = folder + "/rank.%0r/stdout";
  files.err = folder + "/rank.%0r/stderr";
  parser.options.files = std::move(files);
}

void choose_output_pattern(Parser& parser, std::string& pattern, const std::string& text) {
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 2)) {
    const char kind = at + 1 < text.size() ? text[at + 1] : '\0';
    if (strchr("rgph%", kind) == nullptr || kind == '\0')
      refuse_value(parser, "a file name in which %r is the rank, %h the host and %% a percent sign", text);
  }
  if (text.empty()) refuse_value(parser, "a file name", text);
  pattern = text;
}

void choose_output(Parser& parser, const std::string& list) {
  for (const std::string& written : names(parser, list)) {
    std::string word = written.substr(0, written.find('='));
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
    if (word == "tag" || word == "tag-detailed" || word == "tag-fullname")
      parser.options.label = Label::stream;
    else if (word == "rank")
      parser.options.label = Label::rank;
    else if (word == "merge-stderr-to-stdout" || word == "merge")
      parser.options.merge_stderr = true;
    else if (word == "dir" && written.size() > 4)
      choose_output_folder(parser, written.substr(4));
    else if (word == "timestamp")
      parser.options.ignored.push_back(parser.written + ' ' + written);
    else
      refuse_value(parser, "tag, rank, merge-stderr-to-stdout and dir=FOLDER, separated by commas", written);
  }
}

void choose_display(Parser& parser, const std::string& list) {
  for (const std::string& word : names(parser, list)) {
    if (word == "bind" || word == "bindings")
      parser.options.report_bindings = true;
    else
      parser.options.ignored.push_back(parser.written + ' ' + word);
  }
}

void finish_app(Parser& parser) {
  App& app = parser.app;
  const RankCount& count = parser.count;
  if (app.command.empty()) throw UsageError("no program is named; usage: mpiexec -n 4 ./program");
  if (app.hosts.empty() && parser.options.join == 0)
    app.hosts = parser.options.apps.empty() ? allocated_hosts() : parser.options.apps.front().hosts;
  const bool elsewhere = leads_elsewhere(app.hosts);
  const int nodes = elsewhere ? machines(app.hosts) : 1;
  const int slots = slots_of(app.hosts), limit = limit_of(app.hosts);
  const bool may_be_unknown = parser.options.placement.per_part != 0 || (elsewhere && app.hosts.empty());
  app.ranks = count.given != 0       ? count.given
              : count.per_node != 0  ? count.per_node * nodes
              : count.suggested != 0 ? count.suggested * nodes
              : may_be_unknown       ? 0
                                     : std::max(slots, 1);
  app.per_node = count.per_node != 0 ? count.per_node : count.suggested;
  if (count.per_node != 0 && app.ranks > count.per_node * nodes)
    throw UsageError(count.per_node_option + " allows " + std::to_string(count.per_node) +
                     " ranks on a node, and there " +
                     (nodes == 1 ? "is this node only" : "are " + std::to_string(nodes)) + ", but -n asks for " +
                     std::to_string(app.ranks) + "; leave one of the two out");
  if (limit != 0 && app.ranks > limit)
    throw UsageError("the file of hosts allows at most " + std::to_string(limit) + " ranks " +
                     (elsewhere ? "" : "here ") + "(max_slots), not " + std::to_string(app.ranks));
  parser.options.apps.push_back(std::move(app));
  parser.app = App{};
  parser.count = RankCount{};
}

}  // namespace heddle::mpiexec
