#include "simulator/machine.hpp"

#include <cstdio>
#include <fstream>
#include <map>
#include <variant>

#include "simulator/kernel/real.hpp"

namespace heddle::simulator {

Settings read_settings(const char* path) {
  Settings settings;
  Machine& m = settings.machine;
  const auto at = [&](Distance distance) { return &m.latency[static_cast<std::size_t>(distance)]; };
  const std::map<std::string, std::variant<Time*, unsigned*, bool*, std::string*>> names = {
      {"cpus", &m.cpus},
      {"cpus_per_core", &m.cpus_per_core},
      {"cpus_per_cluster", &m.cpus_per_cluster},
      {"cpus_per_socket", &m.cpus_per_socket},
      {"latency_core", at(Distance::core)},
      {"latency_cluster", at(Distance::cluster)},
      {"latency_socket", at(Distance::socket)},
      {"latency_machine", at(Distance::machine)},
      {"latency_memory", at(Distance::memory)},
      {"variation", &m.variation},
      {"cache_lines", &m.cache_lines},
      {"prefetched", &m.prefetched},
      {"access", &m.access},
      {"call", &m.call},
      {"atomic", &m.atomic},
      {"fence", &m.fence},
      {"pause", &m.pause},
      {"stores", &m.stores},
      {"copied_line", &m.copied_line},
      {"tick", &m.tick},
      {"clock_read", &m.clock_read},
      {"system_call", &m.system_call},
      {"yield", &m.yield},
      {"broadcast", &m.broadcast},
      {"wake", &m.wake},
      {"wake_latency", &m.wake_latency},
      {"switch_context", &m.switch_context},
      {"slice", &m.slice},
      {"granularity", &m.granularity},
      {"thread_start", &m.thread_start},
      {"seed", &settings.seed},
      {"fuzz", &settings.fuzz},
      {"fuzz_changes", &settings.fuzz_changes},
      {"weak", &settings.weak},
      {"report", &settings.report},
      {"trace", &settings.trace},
      {"trace_from", &settings.trace_from},
      {"trace_until", &settings.trace_until},
      {"limit", &settings.limit},
  };
  std::ifstream file(path);
  if (!file) stop(std::string("cannot read the settings in ") + path + ". Start programs by `heddle simulate`.");
  for (std::string name, value; file >> name >> value;) {
    const auto found = names.find(name);
    if (found == names.end()) stop("the settings in " + std::string(path) + " have an unknown name: " + name + ".");
    if (const auto* text = std::get_if<std::string*>(&found->second))
      **text = value;
    else if (const auto* choice = std::get_if<bool*>(&found->second))
      **choice = value != "0";
    else if (const auto* number = std::get_if<unsigned*>(&found->second))
      **number = static_cast<unsigned>(std::stoul(value));
    else
      *std::get<Time*>(found->second) = std::stoull(value);
  }
  return settings;
}

}  // namespace heddle::simulator
