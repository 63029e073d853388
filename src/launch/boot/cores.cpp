#include "launch/boot/cores.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heddle::boot {
namespace {

// The file's beginning as a string; false if it is unreadable.
bool read_text(const char* path, char* text, std::size_t bytes) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t got = read(fd, text, bytes - 1);
  close(fd);
  text[got > 0 ? got : 0] = '\0';
  return got > 0;
}

int ceil_divide(long long quota, long long period) { return static_cast<int>((quota + period - 1) / period); }

// The cores that a cgroup folder's quota allows; 0: it sets none.
int quota_of(const char* folder) {
  char path[640], text[128];
  long long quota = 0, period = 0;
  std::snprintf(path, sizeof path, "%s/cpu.max", folder);  // cgroup 2: "150000 100000" or "max 100000"
  if (read_text(path, text, sizeof text)) {
    return std::sscanf(text, "%lld %lld", &quota, &period) == 2 && period > 0 ? ceil_divide(quota, period) : 0;
  }
  std::snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", folder);  // cgroup 1: -1 is none
  if (!read_text(path, text, sizeof text) || (quota = std::atoll(text)) <= 0) return 0;
  std::snprintf(path, sizeof path, "%s/cpu.cfs_period_us", folder);
  if (!read_text(path, text, sizeof text) || (period = std::atoll(text)) <= 0) return 0;
  return ceil_divide(quota, period);
}

// The tightest quota from a cgroup up to the root of its hierarchy; 0: none. A container sees its own cgroup as the
// root, and then the first step is the whole path.
int tightest_quota(const char* root, const char* cgroup) {
  char folder[512];
  const std::size_t root_length = std::strlen(root);
  std::snprintf(folder, sizeof folder, "%s%s", root, cgroup);
  int tightest = 0;
  while (true) {
    const int quota = quota_of(folder);
    if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
    char* slash = std::strrchr(folder, '/');
    if (slash == nullptr || slash < folder + root_length) return tightest;
    *slash = '\0';
  }
}

int cgroup_quota() {
  char text[2048];
  if (!read_text("/proc/self/cgroup", text, sizeof text)) return 0;
  int tightest = 0;
  char* rest = text;
  while (char* line = strsep(&rest, "\n")) {  // hierarchy:controllers:path
    char* controllers = std::strchr(line, ':');
    char* path = controllers != nullptr ? std::strchr(controllers + 1, ':') : nullptr;
    if (path == nullptr) continue;
    *path++ = '\0';
    ++controllers;
    const char* root = *controllers == '\0'                   ? "/sys/fs/cgroup"
                       : std::strcmp(controllers, "cpu") == 0 ? "/sys/fs/cgroup/cpu"
                       : std::strstr(controllers, "cpu,") != nullptr || std::strstr(controllers, ",cpu") != nullptr
                           ? "/sys/fs/cgroup/cpu,cpuacct"
                           : nullptr;
    if (root == nullptr) continue;
    const int quota = tightest_quota(root, std::strcmp(path, "/") == 0 ? "" : path);
    if (quota > 0 && (tightest == 0 || quota < tightest)) tightest = quota;
  }
  return tightest;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  // More than 1024 CPUs do not fit the plain set; such a machine's ranks still get a count.
  const int allowed =
      sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  const int quota = cgroup_quota();
  const int cores = quota > 0 && quota < allowed ? quota : allowed;
  return cores > 0 ? cores : 1;
}

void spread(int part, int parts) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int count = CPU_COUNT(&allowed);
  const int here = sched_getcpu();
  if (count < parts || here < 0) return;
  int target = -1;  // the first core of the part
  for (int cpu = 0, place = 0; place < count; ++cpu) {
    if (!CPU_ISSET(cpu, &allowed)) continue;
    if (place++ * parts / count != part) continue;
    if (cpu == here) return;
    if (target < 0) target = cpu;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(target, &one);
  if (sched_setaffinity(0, sizeof one, &one) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
}

}  // namespace heddle::boot
