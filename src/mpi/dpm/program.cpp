#include "mpi/dpm/program.hpp"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <string_view>

#include "launch/boot/job.hpp"

namespace heddle::dpm {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) pieces.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return pieces;
}

bool read_number(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// The numbers of processes that `soft` allows, from 1 to maxprocs, ascending: "a", "a:b" and "a:b:c" as Fortran's triplets, with
// commas between them.
bool read_soft(std::string_view text, int maxprocs, std::vector<int>& allowed) {
  for (const std::string_view triplet : split(text, ',')) {
    const std::vector<std::string_view> parts = split(triplet, ':');
    int from = 0, to = 0, step = 1;
    if (parts.empty() || parts.size() > 3 || !read_number(parts[0], from)) return false;
    to = from;
    if (parts.size() > 1 && !read_number(parts[1], to)) return false;
    if (parts.size() > 2 && (!read_number(parts[2], step) || step == 0)) return false;
    const auto in_range = [&](long n) { return step > 0 ? n <= to : n >= to; };
    for (long n = from; in_range(n) && n >= 0; n += step) {
      if (n > maxprocs && step > 0) break;
      if (n >= 1 && n <= maxprocs) allowed.push_back(static_cast<int>(n));
    }
  }
  std::sort(allowed.begin(), allowed.end());
  allowed.erase(std::unique(allowed.begin(), allowed.end()), allowed.end());
  return true;
}

// The program's working directory: ours, or `wdir`, relative to ours.
Error find_directory(const std::string& wdir, std::string& directory) {
  char here[PATH_MAX];
  if (wdir.starts_with('/')) {
    directory = wdir;
  } else if (getcwd(here, sizeof here) == nullptr) {
    return fail(MPI_ERR_SPAWN, "the working directory of this process is not known (was it removed?)");
  } else {
    directory = wdir.empty() ? here : std::string(here) + '/' + wdir;
  }
  return success;
}

// A program of the caller's process as mpiexec can find it. /proc/self is another process there, and a rank that is a
// thread may have read the path of its host in place of its program's (its libc returns the program's).
std::string program_for_mpiexec(const std::string& command) {
  constexpr char own[] = "/proc/self/exe";
  const auto real_path = [](const std::string& path) {
    char* found = realpath(path.c_str(), nullptr);
    std::string real = found != nullptr ? found : path;
    free(found);
    return real;
  };
  if (command.starts_with("/proc/self/") || command.starts_with("/proc/thread-self/")) return real_path(command);
  const std::string program = real_path(own);
  struct stat executed, asked, running;
  const auto same = [](const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  };
  if (command.find('/') == std::string::npos || stat(own, &executed) != 0 || stat(command.c_str(), &asked) != 0 ||
      stat(program.c_str(), &running) != 0)
    return command;
  return same(executed, asked) && !same(executed, running) ? program : command;
}

}  // namespace

Error describe_program(const char* command, char** argv, int maxprocs, const Info* info, boot::SpawnProgram& program) {
  if (maxprocs < 0) return fail(MPI_ERR_ARG, "maxprocs is %d", maxprocs);
  program.command = {program_for_mpiexec(command)};
  for (char** argument = argv; argument != nullptr && *argument != nullptr; ++argument)
    program.command.emplace_back(*argument);
  program.ranks = maxprocs;
  const auto value = [info](KnownKey key) { return value_of(info, key).value_or(""); };
  if (Error e = find_directory(value("wdir"), program.directory)) return e;
  program.search_path = value("path");
  const std::string hosts = value("host");
  for (const std::string_view host : split(hosts, ',')) program.hosts.emplace_back(host);

  const std::string soft = value("soft");
  if (!soft.empty()) {
    if (!read_soft(soft, maxprocs, program.fewer))
      return fail(MPI_ERR_INFO_VALUE, "info's soft is '%.100s', which is not a list of numbers and triplets",
                  soft.c_str());
    if (program.fewer.empty())
      return fail(MPI_ERR_SPAWN, "info's soft is '%.100s', which allows no number of processes up to maxprocs, %d",
                  soft.c_str(), maxprocs);
    program.ranks = program.fewer.back();
  }

  program.initial_errhandler = value("mpi_initial_errhandler");
  const auto& known = boot::initial_errhandlers;
  if (!program.initial_errhandler.empty() &&
      std::find(std::begin(known), std::end(known), program.initial_errhandler) == std::end(known))
    return fail(MPI_ERR_INFO_VALUE, "info's mpi_initial_errhandler is '%.100s', which is none of %s, %s and %s",
                program.initial_errhandler.c_str(), known[0], known[1], known[2]);
  return success;
}

}  // namespace heddle::dpm
