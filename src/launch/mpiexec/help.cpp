// The output of mpiexec --help: everyday options first, then all others, in lines that fit the terminal.
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

// By their first names, in the order in which they are shown.
constexpr std::string_view everyday[] = {"n",       "host",    "hostfile", "ranks",           "x",
                                         "wdir",    "l",       "bind-to",  "report-bindings", "timeout",
                                         "verbose", "version", "help"};

constexpr std::size_t names_width = 26;
constexpr std::size_t indent = names_width + 4;  // two blanks before the names, and two after them

// Columns of a line: limited for readability, but wide enough for the names.
std::size_t line_width() {
  int columns = 80;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    columns = size.ws_col;
  else if (const char* given = getenv("COLUMNS"); given != nullptr && whole_number(given) > 0)
    columns = whole_number(given);
  return static_cast<std::size_t>(std::clamp(columns, 70, 100));
}

// Lines of at most `width` columns. A line ends at a blank, or after a bar between choices.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    std::size_t next = end + 1;
    if (end == std::string_view::npos || end == 0) next = end = text.rfind('|', width - 1) + 1;
    if (end == 0) next = end = width;
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(next);
  }
  lines.emplace_back(text);
  return lines;
}

void print_paragraph(std::string_view text, std::size_t width) {
  for (const std::string& line : wrapped(text, width)) puts(line.c_str());
}

void print_option(const OptionHelp& option, std::size_t width) {
  std::string left;
  for (const std::string& name : option.names) left += (left.empty() ? "-" : ", -") + name;
  if (*option.usage != '\0') left += ' ' + std::string(option.usage);
  std::vector<std::string> names = wrapped(left, width - 2);
  const std::vector<std::string> help = wrapped(option.help, width - indent);
  std::size_t beside = 0;  // lines of the help that stand beside the names
  if (names.size() == 1 && left.size() <= names_width) {
    printf("  %-*s  %s\n", static_cast<int>(names_width), left.c_str(), help[0].c_str());
    beside = 1;
  } else {
    for (const std::string& line : names) printf("  %s%s\n", &line == names.data() ? "" : "  ", line.c_str());
  }
  for (std::size_t i = beside; i < help.size(); ++i) printf("%*s%s\n", static_cast<int>(indent), "", help[i].c_str());
}

}  // namespace

void print_help() {
  const std::size_t width = line_width();
  const std::vector<OptionHelp> options = described_options();
  puts(
      "Usage: mpiexec [options] -n N program [arguments]\n"
      "               [: [options] -n N program [arguments]] ...\n");
  print_paragraph(
      "Start MPI ranks on this machine, or on others by an installed launcher (-host). Options are those of "
      "MPICH's and Open MPI's mpiexec; one or two dashes are the same.",
      width);
  puts("\nEveryday options:");
  for (const std::string_view name : everyday) {
    for (const OptionHelp& option : options)
      if (option.names.front() == name) print_option(option, width);
  }
  puts("\nAll other options:");
  for (const OptionHelp& option : options) {
    if (std::ranges::find(everyday, option.names.front()) == std::end(everyday)) print_option(option, width);
  }
  puts(
      "\nExamples:\n"
      "  mpiexec -n 4 ./program                    four ranks\n"
      "  mpiexec -n 4 --ranks threads ./program    four ranks as threads\n"
      "  mpiexec -n 1 ./master : -n 3 ./worker     two programs in one job\n"
      "  mpiexec --host node1:2,node2:2 ./program  two ranks on each node\n");
  print_paragraph(
      "Exit code: the one of the first failed rank; 128 + the number of the signal that killed it; 124 after "
      "-timeout; 1 if output cannot be written or a limit of the machine is met; 2 for a wrong command line; 126 or "
      "127 if a program cannot be run or found.",
      width);
}

}  // namespace heddle::mpiexec
