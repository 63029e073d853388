#include "launch/mpiexec/children.hpp"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <memory>

namespace heddle::mpiexec {
namespace {

using File = std::unique_ptr<FILE, int (*)(FILE*)>;

File open_list(pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", process, process);
  return {fopen(path, "re"), fclose};
}

pid_t parent_of(const char* pid) {
  char path[64], line[512];
  snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
  const File file(fopen(path, "re"), fclose);
  if (!file || fgets(line, sizeof line, file.get()) == nullptr) return -1;
  const char* end_of_name = strrchr(line, ')');  // the name may hold anything, a ')' too
  int parent = -1;
  return end_of_name != nullptr && sscanf(end_of_name, ") %*c %d", &parent) == 1 ? parent : -1;
}

}  // namespace

std::vector<pid_t> listed_children(pid_t process) {
  std::vector<pid_t> children;
  if (const File list = open_list(process); list)
    for (int pid; fscanf(list.get(), "%d", &pid) == 1;) children.push_back(pid);
  return children;
}

std::vector<pid_t> own_children() {
  if (open_list(getpid())) return listed_children(getpid());
  std::vector<pid_t> children;
  // A kernel without that list (it is optional): scan all processes.
  const std::unique_ptr<DIR, int (*)(DIR*)> all(opendir("/proc"), closedir);
  while (const dirent* entry = all ? readdir(all.get()) : nullptr) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == getpid()) {
      children.push_back(atoi(entry->d_name));
    }
  }
  return children;
}

}  // namespace heddle::mpiexec
