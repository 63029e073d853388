#include "launch/mpiexec/hosting.hpp"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "launch/boot/elf_file.hpp"
#include "launch/boot/host_plan.hpp"
#include "launch/mpiexec/program.hpp"
#include "launch/mpiexec/spawn.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// Beside mpiexec, as it was built, or where it is installed. Empty: nowhere.
std::string find_host() {
  const std::string folder = own_folder();
  for (const char* place : {"", HEDDLE_MODULE_FOLDER "/"})
    if (std::string path = folder + place + boot::host_program; access(path.c_str(), X_OK) == 0) return path;
  return "";
}

// A memfd that a child inherits or executes.
int make_file(const char* name, const void* content, std::size_t bytes) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd < 0) fail("cannot make a file in memory (memfd_create)");
  const auto* from = static_cast<const char*>(content);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t written = pwrite(fd, from + done, bytes - done, static_cast<off_t>(done));
    if (written <= 0) fail("cannot write a file in memory");
    done += static_cast<std::size_t>(written);
  }
  return fd;
}

// The host keeps room for the thread-local variables of its program, and gives its size in its header of that segment.
// A program that has more gets a host with another header.
struct HostFile {
  std::string path;
  int fd = -1;  // of a changed host, or -1
};
HostFile host_for(const boot::ElfFile& program) {
  HostFile host{find_host()};
  const Elf64_Phdr* wanted = program.segment(PT_TLS);
  if (wanted == nullptr) return host;
  const std::uint64_t alignment = std::max<std::uint64_t>(wanted->p_align, boot::host_tls_alignment);
  const std::uint64_t bytes = (wanted->p_memsz + alignment - 1) / alignment * alignment;
  if (bytes <= boot::host_tls_bytes && alignment <= boot::host_tls_alignment) return host;

  const Result<boot::ElfFile> read = boot::ElfFile::read(host.path);
  if (!read) throw std::runtime_error("cannot read " + host.path + ": " + read.failure().text);
  const boot::ElfFile& original = *read;
  std::string content(reinterpret_cast<const char*>(original.bytes().data()), original.bytes().size());
  const auto offset =
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(original.segment(PT_TLS)) - original.bytes().data());
  auto& header = *reinterpret_cast<Elf64_Phdr*>(content.data() + offset);
  header.p_memsz = bytes;
  header.p_align = alignment;
  host.fd = make_file(boot::host_program, content.data(), content.size());
  host.path = "/proc/self/fd/" + std::to_string(host.fd);
  return host;
}

// For ranks that join the job of another launcher. Its PMI variables are about us.
std::vector<std::string> environment_of_joining(std::vector<std::string> environment, const Relay& relay) {
  std::erase_if(environment, [](const std::string& entry) {
    const std::string name = name_of(entry);
    return name == boot::job_fd_variable || name == boot::launcher_variable || name.starts_with("PMI_");
  });
  set_variable(environment, "PMI_SIZE", std::to_string(relay.all()));
  return environment;
}

// The host's own environment: the way to the plan and to the copies of libraries, and memory for the thread-local
// variables of those copies.
std::vector<std::string> host_environment(const HostedApp& hosted, int plan, int ranks) {
  std::vector<std::string> environment = hosted.environment;
  set_variable(environment, boot::host_plan_variable, std::to_string(plan));
  const auto value_of = [&](const std::string& name) {
    const auto found = std::ranges::find(environment, name, name_of);
    return found != environment.end() ? found->substr(name.size() + 1) : std::string();
  };
  const std::string folder = find_host().substr(0, find_host().rfind('/'));
  // A changed host has no folder of its own, so its library is searched in that of the original.
  const std::string libraries = std::string(boot::host_library_path) + ':' + folder + ':' + folder + "/..";
  const std::string theirs = value_of("LD_LIBRARY_PATH");
  set_variable(environment, "LD_LIBRARY_PATH", theirs.empty() ? libraries : libraries + ':' + theirs);
  const std::string tunables = value_of("GLIBC_TUNABLES");
  const std::string room = "glibc.rtld.optional_static_tls=" + std::to_string(4096 + 1024 * ranks);
  set_variable(environment, "GLIBC_TUNABLES", tunables.empty() ? room : tunables + ':' + room);
  return environment;
}

}  // namespace

void require_hostable(const std::string& path) {
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  const auto refuse = [&](const char* why) {
    throw UsageError("--ranks threads can't run " + path + ": it is " + why + "; use --ranks processes");
  };
  if (!file) throw UsageError("cannot read " + path + ": " + file.failure().text);
  switch (file->kind()) {
    case boot::ElfFile::Kind::position_independent_program:
      break;
    case boot::ElfFile::Kind::fixed_program:
      refuse("linked to one address (compile with -fPIE and link with -pie)");
      break;
    case boot::ElfFile::Kind::static_program:
      refuse("statically linked");
      break;
    case boot::ElfFile::Kind::library:
      refuse("a library");
      break;
    case boot::ElfFile::Kind::object:
    case boot::ElfFile::Kind::damaged:
    case boot::ElfFile::Kind::other_machine:
    case boot::ElfFile::Kind::not_elf:
      refuse("a script, or not a program of this machine");
      break;
  }
  if (find_host().empty())
    throw ProgramError(
        std::string(boot::host_program) +
            ", which runs ranks as threads, is not installed beside mpiexec; install it, or use --ranks processes",
        ProgramError::not_found);
}

bool launch_hosts(const HostedApp& hosted, const Placement& placement, const Segment& segment, const rlimit& open_files,
                  Supervisor& supervisor) {
  const Result<boot::ElfFile> program = boot::ElfFile::read(hosted.path);
  if (!program) throw UsageError("cannot read " + hosted.path + ": " + program.failure().text);
  const HostFile host = host_for(*program);
  std::vector<std::string> words = hosted.app.command;
  const std::vector<char*> arguments = pointers_to(words);
  // In the simulator ranks that stand for processes are threads of one.
  const bool apart = value_in(hosted.environment, "HEDDLE_SIMULATED_PROCESSES") == "1";
  const int end = hosted.first_rank + hosted.app.ranks;
  for (int first = hosted.first_rank; first < end;) {
    const int count = std::min(hosted.options.threads, end - first);
    const Relay* const relay = hosted.relay;
    boot::HostPlan plan{hosted.path,
                        hosted.app.command,
                        relay != nullptr ? environment_of_joining(hosted.environment, *relay) : hosted.environment,
                        hosted.options.private_libraries,
                        {}};
    std::vector<Supervisor::Ends> ends;
    std::vector<int> inherited;
    for (int rank = first; rank < first + count; ++rank) {
      const Supervisor::Ends own = ends.emplace_back(supervisor.make_ends(rank));
      const int launcher = relay != nullptr ? relay->descriptor_of(rank) : -1;
      plan.ranks.push_back({segment.first_here + rank, segment.first_rank + rank, rank, launcher, own.in, own.out,
                            own.err, placement.cpus[static_cast<std::size_t>(rank)]});
      inherited.insert(inherited.end(), {own.in, own.out, own.err});
      if (launcher >= 0) inherited.push_back(launcher);
      segment.records[rank].host = segment.first_here + (apart ? rank : first);
      segment.records[rank].state.store(boot::RankState::running);
    }
    // Our own input has the number 0 on both sides, so it must stay there if one of these ranks gets it.
    const bool own_input = std::ranges::find(ends, STDIN_FILENO, &Supervisor::Ends::in) != ends.end();
    const std::string text = text_of_plan(plan);
    const int plan_file = make_file("heddle-plan", text.data(), text.size());
    inherited.push_back(plan_file);
    std::vector<std::string> environment = host_environment(hosted, plan_file, count);
    const std::vector<char*> variables = pointers_to(environment);
    const Spawned child = spawn({.path = host.path.c_str(),
                                 .arguments = arguments.data(),
                                 .script_arguments = nullptr,
                                 .environment = variables.data(),
                                 .directory = hosted.app.directory.empty() ? nullptr : hosted.app.directory.c_str(),
                                 .cpus = nullptr,
                                 .cpus_bytes = 0,
                                 .in = own_input ? STDIN_FILENO : ends[0].in,
                                 .out = ends[0].out,
                                 .err = ends[0].err,
                                 .inherited = inherited,
                                 .signal_mask = &supervisor.rank_mask(),
                                 .default_signals = &supervisor.rank_defaults(),
                                 .open_files = &open_files});
    for (int i = 0; i < count; ++i)
      supervisor.started(first + i, child.pid, hosted.app.command.front(), ends[static_cast<std::size_t>(i)]);
    close(plan_file);
    if (child.error != 0) {
      supervisor.start_failed("cannot " + std::string(child.step) + " of rank " +
                                  std::to_string(segment.first_rank + first) + " (" + host.path +
                                  "): " + why_not_executed(host.path, child.error),
                              exit_code_of_start(child.error));
      return false;
    }
    first += count;
  }
  if (host.fd >= 0) close(host.fd);
  return true;
}

}  // namespace heddle::mpiexec
