#include "launch/mpiexec/nodes/shares.hpp"

#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cctype>

#include "launch/boot/job.hpp"
#include "launch/boot/variables.hpp"
#include "launch/mpiexec/words.hpp"

namespace heddle::mpiexec {
namespace {

// For the shell that ssh hands a command to.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return isalnum(static_cast<unsigned char>(c)) != 0 || strchr("/._-+=:,@%", c) != nullptr;
  };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + '\'';
}

bool is_set(const char* name) {
  const char* const value = getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

std::vector<Share> shares_of(const App& app) {
  const auto hosts = static_cast<int>(app.hosts.size());
  const int slots = slots_of(app.hosts);
  std::vector<Share> shares;
  int left = app.ranks;
  for (int i = 0; i < hosts; ++i) {
    const Host& host = app.hosts[static_cast<std::size_t>(i)];
    const int even = boot::even_first_rank(i + 1, hosts, app.ranks) - boot::even_first_rank(i, hosts, app.ranks);
    const int wanted = app.per_node != 0 ? app.per_node : app.ranks <= slots ? host.slots : even;
    const int ranks = std::min(left, wanted);
    if (ranks > 0) shares.push_back({host.name, ranks});
    left -= ranks;
  }
  if (left > 0)
    throw UsageError(std::to_string(app.ranks) + " ranks do not fit on " + std::to_string(hosts) + " hosts with " +
                     std::to_string(app.per_node) + " on each; name more hosts, or leave -ppn out");
  return shares;
}

std::vector<std::string> words_to_start(const std::string& host, const std::string& option) {
  const std::string program = own_folder() + "mpiexec";
  if (is_this_machine(host)) return {program, option};
  std::vector<std::string> words;
  if (is_set(boot::remote_shell_variable)) {
    words = split_quoted(getenv(boot::remote_shell_variable));
  } else if (is_set("SLURM_JOB_ID")) {
    return {"srun", "--overlap", "--nodes=1", "--ntasks=1", "--nodelist=" + host, program, option};
  } else {
    words = {"ssh", "-x", "-o", "BatchMode=yes"};
  }
  words.insert(words.end(), {host, quoted(program), option});
  return words;
}

}  // namespace heddle::mpiexec
