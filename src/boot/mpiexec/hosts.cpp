#include "boot/mpiexec/hosts.hpp"

#include <unistd.h>

#include "boot/mpiexec/options.hpp"
#include "boot/mpiexec/words.hpp"

namespace heddle::boot {
namespace {

std::string up_to(const std::string& text, char end) { return text.substr(0, text.find(end)); }

bool is_this_machine(const std::string& host) {
  if (host == "localhost" || host == "::1" || host.compare(0, 4, "127.") == 0) return true;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return host == name || host == up_to(name, '.') || up_to(host, '.') == name;
}

}  // namespace

void require_local_hosts(const std::vector<std::string>& hosts) {
  for (const std::string& entry : hosts) {
    const std::string host = entry.compare(0, 3, "::1") == 0 ? "::1" : up_to(entry, ':');
    if (!is_this_machine(host)) {
      throw UsageError("host '" + host + "' is not this machine; this mpiexec starts ranks on one machine only");
    }
  }
}

void require_local_hostfile(const std::string& path) {
  for (const std::string& line : lines_of_file(path)) {
    const std::vector<std::string> words = split_quoted(line);  // host [slots=N] [max_slots=N], or host:N
    if (!words.empty()) require_local_hosts({words.front()});
  }
}

}  // namespace heddle::boot
