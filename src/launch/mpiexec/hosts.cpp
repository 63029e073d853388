#include "launch/mpiexec/hosts.hpp"

#include <unistd.h>

#include <algorithm>

#include "launch/mpiexec/options.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

std::string up_to(const std::string& text, char end) { return text.substr(0, text.find(end)); }

int slot_count(const std::string& text, const std::string& entry) {
  const int number = whole_number(text);
  if (number < 1 || number > 1000000)
    throw UsageError("'" + entry + "' in a list of hosts: '" + text + "' is not a number of slots from 1 to 1000000");
  return number;
}

Host read_entry(const std::string& entry) {
  const bool v6 = entry.compare(0, 3, "::1") == 0;
  Host host{v6 ? "::1" : up_to(entry, ':')};
  const std::string rest = entry.substr(host.name.size());
  if (!rest.empty()) host.slots = slot_count(rest.substr(1), entry);
  return host;
}

[[noreturn]] void refuse_word(const std::string& path, const std::string& word, const std::string& line) {
  const std::string meant = nearest(up_to(word, '='), {"slots", "max_slots"});
  throw UsageError("unknown word '" + word + "' in the line '" + line + "' of the file of hosts '" + path +
                   "': a line is HOST [slots=N] [max_slots=N]" +
                   (meant.empty() ? "" : "; did you mean " + meant + "=N?"));
}

// A host that is there several times has the slots of all.
void add(std::vector<Host>& hosts, const Host& host) {
  const auto same = [&](const Host& one) { return one.name == host.name; };
  const auto there = std::find_if(hosts.begin(), hosts.end(), same);
  if (there == hosts.end()) return hosts.push_back(host);
  there->slots += host.slots;
  there->limit += host.limit;
}

int sum(const std::vector<Host>& hosts, int Host::*number) {
  int all = 0;
  for (const Host& host : hosts) all += host.*number;
  return all;
}

}  // namespace

bool is_this_machine(const std::string& host) {
  if (host == "localhost" || host == "::1" || host.compare(0, 4, "127.") == 0) return true;
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return host == name || host == up_to(name, '.') || up_to(host, '.') == name;
}

bool are_this_machine(const std::vector<Host>& hosts) {
  return std::all_of(hosts.begin(), hosts.end(), [](const Host& host) { return is_this_machine(host.name); });
}

std::vector<Host> read_hosts(const std::vector<std::string>& list) {
  std::vector<Host> hosts;
  for (const std::string& entry : list) {
    Host host = read_entry(entry);
    if (host.slots == 0) host.slots = 1;
    add(hosts, host);
  }
  return hosts;
}

std::vector<Host> read_host_file(const std::string& path) {
  std::vector<Host> hosts;
  for (const std::string& line : lines_of_file(path)) {
    const std::vector<std::string> words = split_quoted(line);  // host [slots=N] [max_slots=N], or host:N
    if (words.empty()) continue;
    Host host = read_entry(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
      const std::string name = up_to(words[i], '=');
      const std::string value = words[i].substr(std::min(name.size() + 1, words[i].size()));
      if (name == "slots")
        host.slots += slot_count(value, line);
      else if (name == "max_slots" || name == "max-slots" || name == "slots_max")
        host.limit += slot_count(value, line);
      else
        refuse_word(path, words[i], line);
    }
    add(hosts, host);
  }
  if (hosts.empty())
    throw UsageError("the file of hosts '" + path + "' names no host: write one a line, HOST [slots=N]");
  return hosts;
}

int slots_of(const std::vector<Host>& hosts) { return sum(hosts, &Host::slots); }
int limit_of(const std::vector<Host>& hosts) { return sum(hosts, &Host::limit); }

}  // namespace heddle::mpiexec
