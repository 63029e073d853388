// The tables of mpiexec's options and of the variables HEDDLE_... as JSON, which the manual pages, the completion and the reference
// are generated from (tools/manual). Never installed.
#include <cstdio>
#include <string>
#include <string_view>

#include "launch/boot/variables.hpp"
#include "launch/mpiexec/options.hpp"

namespace heddle::mpiexec {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string_view name_of(boot::Reader reader) {
  switch (reader) {
    case boot::Reader::library:
      return "library";
    case boot::Reader::compiler:
      return "compiler";
    case boot::Reader::tool:
      return "tool";
    case boot::Reader::launch:
      break;
  }
  return "launch";
}

void print_options() {
  const char* before = "";
  for (const OptionHelp& option : described_options()) {
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + quoted(name);
    std::printf("%s\n  {\"names\": [%s], \"usage\": %s, \"help\": %s}", before, names.c_str(),
                quoted(option.usage).c_str(), quoted(option.help).c_str());
    before = ",";
  }
}

void print_variables() {
  const char* before = "";
  for (const boot::Variable& one : boot::variables) {
    std::printf("%s\n  {\"name\": %s, \"values\": %s, \"default\": %s, \"help\": %s, \"guide\": %s, \"reader\": %s}",
                before, quoted(one.name).c_str(), quoted(one.values).c_str(), quoted(one.by_default).c_str(),
                quoted(one.help).c_str(), quoted(one.guide).c_str(), quoted(name_of(one.reader)).c_str());
    before = ",";
  }
}

}  // namespace
}  // namespace heddle::mpiexec

int main() {
  std::printf("{\"options\": [");
  heddle::mpiexec::print_options();
  std::printf("],\n\"variables\": [");
  heddle::mpiexec::print_variables();
  std::printf("]}\n");
}
