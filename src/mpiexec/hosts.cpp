#include "mpiexec/hosts.hpp"

#include <unistd.h>

#include "mpiexec/options.hpp"
#include "mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

std::string up_to(const std::string& text, char end) { return text.substr(0, text.find(end)); }

bool is_this_machine(const std::string& host) {
  if (host == "localhost" || host == "::1" || host.compare(0, 4, "127.") == 0) return true;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return host == name || host == up_to(name, '.') || up_to(host, '.') == name;
}

int slot_count(const std::string& text, const std::string& entry) {
  const int number = whole_number(text);
  if (number < 1 || number > 1000000)
    throw UsageError("'" + entry + "' in a list of hosts: '" + text + "' is not a number of slots from 1 to 1000000");
  return number;
}

// The slots that "host:N" names; 0: it names none. Throws if the host is another machine.
int slots_of_entry(const std::string& entry) {
  const bool v6 = entry.compare(0, 3, "::1") == 0;
  const std::string host = v6 ? "::1" : up_to(entry, ':');
  if (!is_this_machine(host))
    throw UsageError("host '" + host +
                     "' is not this machine, and this mpiexec starts ranks on one machine only; leave the host out to "
                     "start them all here");
  const std::string rest = entry.substr(host.size());
  return rest.empty() ? 0 : slot_count(rest.substr(1), entry);
}

}  // namespace

HostSlots slots_of_hosts(const std::vector<std::string>& hosts) {
  HostSlots all;
  for (const std::string& entry : hosts) {
    const int slots = slots_of_entry(entry);
    all.slots += slots != 0 ? slots : 1;
  }
  return all;
}

HostSlots slots_of_host_file(const std::string& path) {
  HostSlots all;
  for (const std::string& line : lines_of_file(path)) {
    const std::vector<std::string> words = split_quoted(line);  // host [slots=N] [max_slots=N], or host:N
    if (words.empty()) continue;
    all.slots += slots_of_entry(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string name = up_to(words[i], '=');
      const std::string value = words[i].substr(std::min(name.size() + 1, words[i].size()));
      if (name == "slots")
        all.slots += slot_count(value, line);
      else if (name == "max_slots" || name == "max-slots" || name == "slots_max")
        all.limit += slot_count(value, line);
    }
  }
  return all;
}

}  // namespace heddle::mpiexec
