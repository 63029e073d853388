#include "launch/boot/launched/rank_processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "launch/boot/launched/connection.hpp"

namespace heddle::boot {
namespace {

constexpr std::string_view rank_variables[] = {"PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
constexpr std::string_view job_variables[] = {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_JOB_ID", "SLURM_STEP_ID"};

std::string text_of(int process, const char* file) {
  const Descriptor opened(
      open(("/proc/" + std::to_string(process) + '/' + file).c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  std::string text;
  char bytes[4096];
  for (ssize_t n; (n = read(opened.get(), bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(n));
  return text;
}

// The parent of a process, from the kernel; 0: the process is gone, or dead and not yet waited for.
int parent_of(int process) {
  const std::string text = text_of(process, "stat");
  const std::size_t name_end = text.rfind(')');
  char state = 'X';
  int parent = 0;
  if (name_end == std::string::npos || std::sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) != 2)
    return 0;
  return state == 'Z' || state == 'X' ? 0 : parent;
}

// The initial environment of a process.
class Environment {
 public:
  explicit Environment(int process) : text_('\0' + text_of(process, "environ")) {}

  std::optional<std::string_view> value(std::string_view name) const {
    const std::string begin = '\0' + std::string(name) + '=';
    const std::size_t at = text_.find(begin);
    if (at == std::string::npos) return std::nullopt;
    return std::string_view(text_.c_str() + at + begin.size());
  }
  bool is_of_job_of(const Environment& other) const {
    for (const std::string_view name : job_variables)
      if (value(name) != other.value(name)) return false;
    return true;
  }

 private:
  std::string text_;
};

}  // namespace

std::vector<int> without_process(int own_rank, const std::vector<int>& ranks) {
  const Environment own(getpid());
  std::string_view variable;
  for (const std::string_view name : rank_variables)
    if (variable.empty() && own.value(name) == std::to_string(own_rank)) variable = name;
  if (variable.empty()) return {};
  // The launcher's process that started the ranks is the first ancestor that is no rank. A wrapper carries the
  // variables as the program does.
  int starter = getpid();
  while (starter > 1 && Environment(starter).value(variable) == own.value(variable)) starter = parent_of(starter);
  if (starter <= 1) return {};
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc"), closedir);
  if (all == nullptr) return {};
  std::set<std::string, std::less<>> there;
  while (const dirent* const entry = readdir(all.get())) {
    int process = 0;
    const char* const name_end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, name_end, process).ptr != name_end) continue;
    const Environment environment(process);
    const std::optional<std::string_view> rank = environment.value(variable);
    if (rank && environment.is_of_job_of(own))
      there.emplace(*rank);
    else if (parent_of(process) == starter)
      return {};  // it may become any of them
  }
  std::vector<int> gone;
  for (const int rank : ranks)
    if (!there.contains(std::to_string(rank))) gone.push_back(rank);
  return gone;
}

}  // namespace heddle::boot
