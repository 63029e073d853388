// The tables of mpiexec's options, of the variables HEDDLE_... and of info keys as JSON, which the manual pages, the
// completion and the reference are generated from (tools/manual). Never installed.
#include <cstdio>
#include <string>
#include <string_view>

#include "base/info_keys.hpp"
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

void print_info_calls() {
  const char* before = "";
  for (const InfoCalls& one : info_calls) {
    std::printf("%s\n  {\"name\": %s, \"calls\": %s}", before, quoted(one.name).c_str(), quoted(one.calls).c_str());
    before = ",";
  }
}

void print_info_keys() {
  const char* before = "";
  for (const InfoKey& key : info_keys) {
    std::string readers;
    for (const InfoCalls& one : info_calls)
      if (key.is_read_by(one.reader)) readers += (readers.empty() ? "" : ", ") + quoted(one.name);
    std::printf("%s\n  {\"name\": %s, \"readers\": [%s], \"values\": %s, \"default\": %s, \"help\": %s}", before,
                quoted(key.name).c_str(), readers.c_str(), quoted(key.values).c_str(), quoted(key.by_default).c_str(),
                quoted(key.help).c_str());
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
  std::printf("],\n\"info_calls\": [");
  heddle::mpiexec::print_info_calls();
  std::printf("],\n\"info_keys\": [");
  heddle::mpiexec::print_info_keys();
  std::printf("]}\n");
}
