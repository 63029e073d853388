#include "object/info_env.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <memory>

#include "rank/rank.hpp"

namespace heddle {

namespace {

// The command line that the kernel keeps, for who calls before the program could have told us.
std::vector<std::string> command_line() {
  std::vector<std::string> words;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen("/proc/self/cmdline", "re"), std::fclose);
  if (!file) return words;
  std::string word;
  for (int c = std::fgetc(file.get()); c != EOF; c = std::fgetc(file.get())) {
    if (c != '\0') {
      word.push_back(static_cast<char>(c));
      continue;
    }
    words.push_back(std::move(word));
    word.clear();
  }
  return words;
}

// A value that is too long for an info object is left out, and so is one that nobody knows.
void add(InfoEntries& entries, const char* key, std::string value) {
  if (!value.empty() && value.size() < MPI_MAX_INFO_VAL) entries.emplace_back(key, std::move(value));
}

}  // namespace

InfoEntries describe_environment(const Rank& rank, const char* const* argv, int argc) {
  const std::vector<std::string> words =
      argv && argc > 0 ? std::vector<std::string>(argv, argv + argc) : command_line();
  std::string arguments;
  for (std::size_t i = 1; i < words.size(); ++i) arguments += (i > 1 ? " " : "") + words[i];

  utsname system{};
  uname(&system);
  char directory[PATH_MAX];

  InfoEntries entries;
  add(entries, "command", words.empty() ? "" : words[0]);
  add(entries, "argv", arguments);
  add(entries, "maxprocs", std::to_string(rank.job.size));
  add(entries, "host", system.nodename);
  add(entries, "arch", system.machine);
  add(entries, "wdir", getcwd(directory, sizeof directory) ? directory : "");
  add(entries, "thread_level", "MPI_THREAD_MULTIPLE");
  add(entries, "mpi_memory_alloc_kinds", "mpi,system");
  return entries;
}

}  // namespace heddle
