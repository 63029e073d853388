#include "launch/mpiexec/program.hpp"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "launch/boot/elf_file.hpp"
#include "launch/mpiexec/hosting.hpp"
#include "launch/mpiexec/linked_libraries.hpp"
#include "launch/mpiexec/words.hpp"

extern char** environ;

namespace heddle::mpiexec {
namespace {

constexpr std::size_t script_head_bytes = 256;  // of which the kernel reads the first line

[[noreturn]] void refuse(const std::string& path, const std::string& reason, int code = ProgramError::not_executable) {
  throw ProgramError("cannot run " + path + ": " + reason, code);
}

bool is_executable(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

// The places searched for a program of this name. A name with a slash counts from the program's working directory, as
// it would in a shell, or else from ours; a bare name is looked up in -path and PATH and then in those two directories.
std::vector<std::string> places_of(const App& app) {
  const std::string& name = app.command.front();
  char here[PATH_MAX];
  const std::string ours = getcwd(here, sizeof here) != nullptr ? here : ".";
  const std::string theirs = app.directory.empty()          ? ours
                             : app.directory.front() == '/' ? app.directory
                                                            : ours + '/' + app.directory;
  if (name.empty()) return {};
  if (name.front() == '/') return {name};
  std::vector<std::string> places;
  if (name.find('/') == std::string::npos) {
    const char* path = getenv("PATH");
    for (const std::string& folders :
         {app.search_path, std::string(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin")}) {
      for (const std::string& folder : split(folders, ':'))
        places.emplace_back(folder.front() == '/' ? "" : ours + '/').append(folder).append("/").append(name);
    }
  }
  places.insert(places.end(), {theirs + '/' + name, ours + '/' + name});
  return places;
}

// A file of this name exists, but it can't be executed.
[[noreturn]] void refuse_file(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
    refuse(path, "it is a directory. Name a program in it");
  if (!S_ISREG(status.st_mode)) refuse(path, "it is not a regular file");
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  if (file && file->kind() == boot::ElfFile::Kind::object)
    refuse(path, "it is an object file; link it into a program (compile without -c)");
  refuse(path, "it is not executable; compile it if it is a source file, else chmod +x " + path +
                   " (or its file system is mounted noexec)");
}

void require_interpreter(const std::string& path, const std::string& head) {
  std::string line = head.substr(2, head.find('\n') - 2);
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string::npos) refuse(path, "its first line, #!, names no interpreter");
  line = line.substr(begin, line.find_first_of(" \t", begin) - begin);
  const bool from_windows = !line.empty() && line.back() == '\r';
  if (line.front() != '/' || access(line.c_str(), X_OK) == 0) return;
  if (from_windows)
    refuse(path,
           "its first line ends in a carriage return, as files from Windows do; convert it: sed -i 's/\\r$//' " + path,
           ProgramError::not_found);
  refuse(path,
         "its first line names the interpreter " + printable(line) +
             ", which is not there or not executable; install it or "
             "change the line",
         ProgramError::not_found);
}

std::string where_to_recompile() {
  return "compile it with Heddle's mpicc, or for the standard ABI of MPI 5.0 (MPICH: mpicc_abi), which needs no "
         "library of "
         "its own; or start it with the mpiexec of its own MPI";
}

void require_our_mpi(const std::string& path, const LinkedMpi& mpi, int ranks) {
  const std::string folder = library_folder();
  switch (mpi.kind) {
    case LinkedMpi::Kind::other_abi:
      refuse(path, "it is linked with " + mpi.name + " of " + mpi.family +
                       ", and each rank would run alone, as a singleton; " + where_to_recompile());
    case LinkedMpi::Kind::other_abi_library:
      refuse(path, "the loader finds " + mpi.name +
                       ", which is another MPI's library and not Heddle's, and each rank "
                       "would run alone, as a singleton; put Heddle's first: LD_LIBRARY_PATH=" +
                       (folder.empty() ? "$HEDDLE/lib" : folder) + " mpiexec ...");
    case LinkedMpi::Kind::inside:
      if (ranks > 1)
        refuse(path,
               "it has an MPI library (or a replacement for one) linked into it, and each rank would run alone, as a "
               "singleton; " +
                   where_to_recompile());
      return;
    case LinkedMpi::Kind::none:
    case LinkedMpi::Kind::ours:
      return;
  }
}

bool is_our_library(const std::string& name) { return name.starts_with("libmpi_abi"); }

void require_libraries(const std::string& path, const boot::ElfFile& file, const std::vector<std::string>& environment,
                       bool ranks_are_threads) {
  std::vector<std::string> missing = missing_libraries(file, environment);
  // The process whose threads the ranks are brings our library along.
  if (ranks_are_threads) std::erase_if(missing, is_our_library);
  if (missing.empty()) return;
  std::string list;
  for (const std::string& name : missing) list += (list.empty() ? "" : ", ") + printable(name);
  refuse(path,
         "the loader does not find " + list +
             ", with which it is linked. Set LD_LIBRARY_PATH to its folder, or link with -Wl,-rpath,FOLDER",
         ProgramError::not_found);
}

void require_runnable(const std::string& path, const std::vector<std::string>& environment, int ranks,
                      bool ranks_are_threads) {
  const Result<boot::ElfFile> read = boot::ElfFile::read(path);
  if (!read) return;  // it may be executable and not readable
  const boot::ElfFile& file = *read;
  switch (file.kind()) {
    case boot::ElfFile::Kind::damaged:
      refuse(path, "the file is damaged or not complete; compile or copy it again");
    case boot::ElfFile::Kind::object:
      refuse(path, "it is an object file; link it into a program (compile without -c)");
    case boot::ElfFile::Kind::other_machine:
      return;  // the kernel may know how to run it
    case boot::ElfFile::Kind::not_elf: {
      const std::string head = bytes_of_file(path, script_head_bytes);
      if (head.empty()) refuse(path, "the file is empty; compile or copy it again");
      if (head.starts_with("#!")) return require_interpreter(path, head);
      return;
    }
    default:
      break;
  }
  const std::string interpreter(file.interpreter());
  if (!interpreter.empty() && access(interpreter.c_str(), X_OK) != 0)
    refuse(path,
           "it asks for the loader " + printable(interpreter) +
               ", which does not exist: it was built for another system, so "
               "compile it here",
           ProgramError::not_found);
  require_our_mpi(path, linked_mpi(file, environment), ranks);
  if (!interpreter.empty()) require_libraries(path, file, environment, ranks_are_threads);
}

}  // namespace

void add_our_library(std::vector<std::string>& environment, const std::string& path) {
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  if (!file || !file->is_program_of_this_machine()) return;
  if (std::ranges::none_of(missing_libraries(*file, environment), is_our_library)) return;
  const std::string folder = library_folder(), others = value_in(environment, "LD_LIBRARY_PATH");
  if (!folder.empty()) set_variable(environment, "LD_LIBRARY_PATH", (others.empty() ? "" : others + ':') + folder);
}

std::vector<std::string> environment_of(const EnvironmentPlan& all, const EnvironmentPlan& own,
                                        const std::string& path) {
  const EnvironmentPlan& rule = own.inherit != Inherit::unset ? own : all;
  std::vector<std::string> environment;
  for (char** entry = environ; rule.inherit != Inherit::none && *entry != nullptr; ++entry) {
    const bool listed = std::count(rule.listed.begin(), rule.listed.end(), name_of(*entry)) != 0;
    if (rule.inherit != Inherit::listed || listed) environment.emplace_back(*entry);
  }
  for (const EnvironmentPlan* plan : {&all, &own}) {
    for (const auto& [name, value] : plan->set) set_variable(environment, name, value);
  }
  if (!all.preload.empty()) {
    const std::string others = value_in(environment, "LD_PRELOAD");
    set_variable(environment, "LD_PRELOAD", all.preload + (others.empty() ? "" : ':' + others));
  }
  if (!path.empty()) add_our_library(environment, path);
  return environment;
}

std::string find_program(const App& app) {
  const std::vector<std::string> places = places_of(app);
  const auto found = std::find_if(places.begin(), places.end(), is_executable);
  if (found != places.end()) return *found;
  const auto there = [](const std::string& path) { return access(path.c_str(), F_OK) == 0; };
  if (const auto other = std::find_if(places.begin(), places.end(), there); other != places.end()) refuse_file(*other);
  const std::string& name = app.command.front();
  const bool is_path = name.find('/') != std::string::npos;
  const std::string where = is_path ? "there is no such file" : "it is neither in PATH nor in the working directory";
  throw ProgramError("cannot find the program '" + name + "': " + where, ProgramError::not_found);
}

std::string require_program(const App& app, const EnvironmentPlan& all, int ranks, bool ranks_are_threads) {
  std::string path = find_program(app);
  require_runnable(path, environment_of(all, app.environment, path), ranks, ranks_are_threads);
  if (ranks_are_threads) require_hostable(path);
  return path;
}

void require_programs(const Options& options) {
  int ranks = 0;
  for (const App& app : options.apps) ranks += app.ranks;
  for (const App& app : options.apps) (void)require_program(app, options.environment, ranks, options.threads != 0);
}

bool is_plain_script(const std::string& path) {
  const std::string head = bytes_of_file(path, script_head_bytes);
  return !head.starts_with(ELFMAG) && head.substr(0, head.find('\n')).find('\0') == std::string::npos;
}

std::string why_not_executed(const std::string& path, int error) {
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  if (error == ENOEXEC && file && file->kind() == boot::ElfFile::Kind::other_machine)
    return "it is a program for " + std::string(file->machine()) + ", not for this machine; compile it here";
  if (error == ENOEXEC) return "it is neither a program of this machine nor a script; compile or copy it again";
  if (error == ETXTBSY) return "it is being written; wait until it is complete";
  if (error == E2BIG) return "its arguments and environment are too long; pass them in a file, or raise ulimit -s";
  if (error == EAGAIN)
    return "the limit of processes is reached. Raise it (ulimit -u, or pids.max of the cgroup) or start fewer ranks";
  if (error == ENOMEM) return "out of memory. Start fewer ranks, or use --ranks threads";
  if (error == EACCES || error == EPERM)
    return std::string(strerror(error)) +
           "; check its permissions, those of its interpreter, and that its file system is not mounted noexec";
  return strerror(error);
}

}  // namespace heddle::mpiexec
