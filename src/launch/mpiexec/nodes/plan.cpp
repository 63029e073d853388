#include "launch/mpiexec/nodes/plan.hpp"

#include <errno.h>
#include <unistd.h>

#include <concepts>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "launch/boot/sequence.hpp"

namespace heddle::mpiexec {
namespace {

constexpr std::size_t longest_line = 16 * 1024;

}  // namespace

template <class Plan, class F>
requires std::same_as<std::remove_const_t<Plan>, Summons>
void for_each_field(Plan& summons, F& f) {
  f(summons.addresses);
  f(summons.port);
  f(summons.secret.low);
  f(summons.secret.high);
  f(summons.node);
}
template <class Plan, class F>
requires std::same_as<std::remove_const_t<Plan>, NodePlan>
void for_each_field(Plan& plan, F& f) {
  f(plan.host);
  f(plan.first_ranks);
  f(plan.key);
  f(plan.directory);
  f(plan.arguments);
  f(plan.environment);
}

// Remote shells pass on lines of text, so the nulls between its words are blanks here; none of its words has one.
std::string line_of(const Summons& summons) {
  std::string line = boot::to_text(summons);
  for (char& c : line)
    if (c == '\0') c = ' ';
  line.back() = '\n';
  return line;
}

Summons read_summons(int fd) {
  std::string line;
  while (line.size() < longest_line) {
    char c = 0;
    const ssize_t n = read(fd, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0 || c == '\n') break;
    line += c == ' ' ? '\0' : c;
  }
  line += '\0';
  return boot::from_text<Summons>(line, "what the standard input says of the job");
}

std::string text_of_plan(const NodePlan& plan) { return boot::to_text(plan); }
NodePlan node_plan_of(const std::string& text) { return boot::from_text<NodePlan>(text, "the plan of the node"); }

bool belongs_to_machine(const std::string& variable) {
  using namespace std::string_view_literals;
  for (const std::string_view begin : {"SLURM_"sv, "SSH_"sv, "PMI_"sv, "PMIX_"sv, "HOSTNAME"sv, "XDG_"sv})
    if (variable.starts_with(begin)) return true;
  return false;
}

}  // namespace heddle::mpiexec
