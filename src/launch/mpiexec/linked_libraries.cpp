#include "launch/mpiexec/linked_libraries.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <filesystem>
#include <iterator>

#include "launch/boot/job.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

constexpr char standard_abi[] = "libmpi_abi.so";

struct Family {
  const char* stems;  // library names without ".so" and what follows, separated by blanks
  const char* version_prefix;
  const char* name;
};

constexpr Family families[] = {
    {"libmpi", ".40 .20 .1", "Open MPI"},
    {"libmpi_mpifh libmpi_usempi libmpi_usempif08 libmpi_usempi_ignore_tkr libmpi_cxx libmpi_java liboshmem", "",
     "Open MPI"},
    {"libmpi libmpifort libmpicxx", ".12", "MPICH or Intel MPI"},
    {"libmpich libmpichcxx libmpichf90 libmpichfort", "", "MPICH"},
    {"libmpi_mt libmpi_ilp64 libmpigf libmpigc4 libmpiif libmpi_dbg libmpi_dbg_mt", "", "Intel MPI"},
    {"libmpi_cray libmpi_gnu libmpi_intel libmpi_nvidia libmpi_aocc libmpi_amd libmpifort_cray libmpich_cray "
     "libmpich_gnu",
     "", "Cray MPICH"},
    {"libmpi_ibm", "", "IBM Spectrum MPI"},
    {"libmpi libmpifort libmpicxx", "", "another MPI"},
};

// Libraries that every program has and that are no MPI.
bool belongs_to_system(std::string_view name) {
  static constexpr const char* all[] = {"libc.so.",  "libm.so.",      "libdl.so.",    "libpthread.so.", "librt.so.",
                                        "ld-linux-", "libstdc++.so.", "libgcc_s.so.", "libutil.so."};
  return std::ranges::any_of(all, [&](const char* begin) { return name.starts_with(begin); });
}

// The loader's list of the system's libraries. Its layout is glibc's, 1.1: a header of 48 bytes that gives the number of
// entries, entries of 24 bytes with the places of a name and of a path.
std::vector<std::string> paths_in_cache(std::string_view name) {
  constexpr char magic[] = "glibc-ld.so.cache1.1";
  constexpr std::size_t header_bytes = 48, entry_bytes = 24;
  static const std::string cache = bytes_of_file("/etc/ld.so.cache");
  std::vector<std::string> paths;
  const std::size_t begin = cache.find(magic);
  if (begin == std::string::npos || begin + header_bytes > cache.size()) return paths;
  const std::string_view table = std::string_view(cache).substr(begin);
  const auto number_at = [&](std::size_t at) {
    std::uint32_t number = 0;
    std::memcpy(&number, table.data() + at, sizeof number);
    return std::size_t{number};
  };
  const std::size_t entries = std::min(number_at(sizeof magic - 1), (table.size() - header_bytes) / entry_bytes);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = header_bytes + i * entry_bytes;
    const std::size_t key = number_at(entry + 4), value = number_at(entry + 8);
    if (key >= table.size() || value >= table.size()) continue;
    // The string that is the table's rest ends with a null at the latest at the end of `cache`.
    if (name == table.data() + key) paths.emplace_back(table.data() + value);
  }
  return paths;
}

// The loader knows the program by the file that the kernel runs, so behind links, and libraries by the path that it has found them under.
std::string loaded_from(const boot::ElfFile& file) {
  std::error_code none;
  const std::filesystem::path real = std::filesystem::canonical(file.path(), none);
  return none || file.interpreter().empty() ? file.path() : real.string();
}

// The paths of `name`, which `by` needs, that the loader tries before the system's folders.
std::vector<std::string> own_paths(std::string_view name, const boot::ElfFile& by,
                                   const std::vector<std::string>& environment) {
  std::vector<std::string> paths;
  const std::string path = loaded_from(by);
  const std::string origin = path.substr(0, path.rfind('/'));
  const auto add = [&](std::string_view folders) {
    for (std::string folder : split(std::string(folders), ':')) {
      for (const char* token : {"$ORIGIN", "${ORIGIN}"}) {
        if (const std::size_t at = folder.find(token); at != std::string::npos)
          folder.replace(at, std::strlen(token), origin);
      }
      paths.push_back(folder + '/' + std::string(name));
    }
  };
  const bool search_path_first = by.dynamic_value(DT_RUNPATH) == 0;  // then it is a DT_RPATH
  if (search_path_first) add(by.search_path());
  add(value_in(environment, "LD_LIBRARY_PATH"));
  if (!search_path_first) add(by.search_path());
  return paths;
}

bool is_library(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) return false;
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  return file && file->is_program_of_this_machine();
}

// The file that the loader would take; empty: none found.
std::string find_library(std::string_view name, const boot::ElfFile& by, const std::vector<std::string>& environment) {
  const auto first_of = [](const std::vector<std::string>& paths) {
    const auto found = std::ranges::find_if(paths, is_library);
    return found != paths.end() ? *found : "";
  };
  if (name.find('/') != std::string_view::npos) return first_of({std::string(name)});
  std::string path = first_of(own_paths(name, by, environment));
  if (path.empty()) path = first_of(paths_in_cache(name));
  for (const char* folder : {"/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/"}) {
    if (path.empty()) path = first_of({folder + std::string(name)});
  }
  return path;
}

bool contains(const boot::ElfFile& file, std::string_view text) {
  const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  for (const Elf64_Phdr& part : file.segments()) {
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) != 0) continue;
    if (all.substr(part.p_offset, part.p_filesz).find(text) != std::string_view::npos) return true;
  }
  return false;
}

LinkedMpi with_library(std::string_view name, const boot::ElfFile& by, const std::vector<std::string>& environment) {
  const std::string path = find_library(name, by, environment);
  if (path.empty() || value_in(environment, "LD_PRELOAD").find(standard_abi) != std::string::npos)
    return {LinkedMpi::Kind::ours, "", ""};
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  if (file && !is_ours(*file)) return {LinkedMpi::Kind::other_abi_library, path, ""};
  return {LinkedMpi::Kind::ours, "", ""};
}

}  // namespace

bool is_mpi_library(std::string_view name) { return name.starts_with(standard_abi) || !mpi_family(name).empty(); }

std::string mpi_family(std::string_view name) {
  const std::size_t so = name.find(".so");
  if (so == std::string_view::npos || name.starts_with(standard_abi)) return "";
  const std::string stem(name.substr(0, so)), version(name.substr(so + 3));
  for (const Family& family : families) {
    const std::vector<std::string> stems = split(family.stems, ' '), versions = split(family.version_prefix, ' ');
    if (std::ranges::find(stems, stem) == stems.end()) continue;
    const auto fits = [&](const std::string& prefix) { return version == prefix || version.starts_with(prefix + '.'); };
    if (versions.empty() || std::ranges::any_of(versions, fits)) return family.name;
  }
  return "";
}

bool is_ours(const boot::ElfFile& library) { return contains(library, boot::job_fd_variable); }

LinkedMpi linked_mpi(const boot::ElfFile& program, const std::vector<std::string>& environment) {
  struct Wanted {
    std::string name;
    std::string by;  // path of the file that asks for it; empty: the program
  };
  std::deque<Wanted> queue;
  std::vector<std::string> seen;
  const auto take = [&](const boot::ElfFile& file, const std::string& path) {
    for (const std::string_view name : file.needed()) {
      if (belongs_to_system(name) || std::ranges::find(seen, name) != seen.end()) continue;
      seen.emplace_back(name);
      queue.push_back({std::string(name), path});
    }
  };
  // In the order of the loader, breadth first: libraries linked to the program come before those of libraries.
  take(program, "");
  for (; !queue.empty(); queue.pop_front()) {
    const auto& [name, by] = queue.front();
    const Result<boot::ElfFile> file = boot::ElfFile::read(by.empty() ? program.path() : by);
    if (!file) continue;
    if (name.starts_with(standard_abi)) return with_library(name, *file, environment);
    if (const std::string family = mpi_family(name); !family.empty()) return {LinkedMpi::Kind::other_abi, name, family};
    const std::string path = find_library(name, *file, environment);
    if (path.empty()) continue;
    if (const Result<boot::ElfFile> library = boot::ElfFile::read(path)) take(*library, path);
  }
  // Linked in as an archive; a program without a loader may also be stripped, and then the text of its messages is left.
  const bool inside = program.has_function("MPI_Init") ||
                      (program.kind() == boot::ElfFile::Kind::static_program && contains(program, "MPI_Comm_rank"));
  return {inside ? LinkedMpi::Kind::inside : LinkedMpi::Kind::none, "", ""};
}

std::vector<std::string> missing_libraries(const boot::ElfFile& program, const std::vector<std::string>& environment) {
  const auto found = [&](std::string_view name) {
    return belongs_to_system(name) || !find_library(name, program, environment).empty();
  };
  const std::vector<std::string_view> needed = program.needed();
  // glibc's loader lists and starts nothing if this variable is set; another one might run the program.
  const std::string_view loader = program.interpreter();
  if (std::ranges::all_of(needed, found) || loader.find("/ld-linux") == std::string_view::npos) return {};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  std::vector<std::string> words{std::string(loader), loaded_from(program)}, variables = environment;
  set_variable(variables, "LD_TRACE_LOADED_OBJECTS", "1");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; error == 0 && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(got));
  close(ends[0]);
  if (error == 0) waitpid(pid, nullptr, 0);
  std::vector<std::string> missing;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t arrow = line.find(" => not found"), begin = line.find_first_not_of(" \t");
    if (arrow != std::string::npos) missing.push_back(line.substr(begin, arrow - begin));
  }
  return missing;
}

std::string library_folder() {
  const std::string folder = own_folder();
  for (const char* place : {HEDDLE_MODULE_FOLDER "/..", "../../../lib"}) {
    char* path = realpath((folder + place).c_str(), nullptr);
    std::string real = path != nullptr ? path : "";
    free(path);
    if (!real.empty() && access((real + '/' + standard_abi + ".1").c_str(), R_OK) == 0) return real;
  }
  return "";
}

}  // namespace heddle::mpiexec
