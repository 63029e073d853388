#include "objects/object/info_env.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <climits>

#include "launch/rank/rank.hpp"

namespace heddle {

namespace {

// The command line that the kernel keeps, for callers before the program could pass its own. Read by position: under
// valgrind threads that open it at the same time have one position in common.
std::vector<std::string> command_line() {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  char block[4096];
  for (ssize_t n = 0; (n = pread(file, block, sizeof block, static_cast<off_t>(text.size()))) > 0;)
    text.append(block, static_cast<std::size_t>(n));
  close(file);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1) words.emplace_back(text.c_str() + at);
  return words;
}

// A value that is too long for an info object is left out, and so is an unknown one.
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
  add(entries, "maxprocs", std::to_string(rank.world_size));
  add(entries, "host", system.nodename);
  add(entries, "arch", system.machine);
  add(entries, "wdir", getcwd(directory, sizeof directory) ? directory : "");
  add(entries, "thread_level", "MPI_THREAD_MULTIPLE");
  add(entries, "mpi_memory_alloc_kinds", "mpi,system");
  return entries;
}

}  // namespace heddle
