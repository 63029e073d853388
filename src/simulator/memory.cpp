#include "simulator/memory.hpp"

#include <algorithm>

namespace heddle::simulator {

Memory::Page& Memory::find_page(std::uintptr_t page) {
  Page*& found = pages_[page];
  if (found != nullptr) return *found;
  Page** of_file = nullptr;
  if (auto after = mappings_.upper_bound(page); after != mappings_.begin()) {
    const auto& [begin, mapping] = *std::prev(after);
    if (page - begin < mapping.pages) of_file = &pages_of_files_[{mapping.file, mapping.first + (page - begin)}];
  }
  if (of_file != nullptr && *of_file != nullptr) {
    found = *of_file;
  } else {
    found = new Page{next_page_++, {}};  // for the life of the process: memory that is given back is used again
    if (of_file != nullptr) *of_file = found;
  }
  return *found;
}

void Memory::unmap(std::uintptr_t address, std::size_t bytes) {
  const std::uintptr_t begin = address / page_bytes;
  const std::uintptr_t end = (address + bytes + page_bytes - 1) / page_bytes;
  auto it = mappings_.upper_bound(begin);
  if (it != mappings_.begin()) --it;
  bool shared = false;
  while (it != mappings_.end() && it->first < end) {
    const auto [first, mapping] = *it;
    if (first + mapping.pages <= begin) {
      ++it;
      continue;
    }
    shared = true;
    it = mappings_.erase(it);
    if (first < begin) mappings_[first] = {begin - first, mapping.file, mapping.first};
    if (end < first + mapping.pages)
      mappings_[end] = {first + mapping.pages - end, mapping.file, mapping.first + (end - first)};
  }
  if (!shared) return;
  std::erase_if(pages_, [&](const auto& entry) { return entry.first >= begin && entry.first < end; });
  for (Recent& recent : recent_) recent = {};
}

void Memory::map(std::uintptr_t address, std::size_t bytes, std::uint64_t file, std::uint64_t offset) {
  unmap(address, bytes);
  const std::uintptr_t begin = address / page_bytes;
  const std::size_t pages = (bytes + page_bytes - 1) / page_bytes;
  mappings_[begin] = {pages, file, offset / page_bytes};
  std::erase_if(pages_, [&](const auto& entry) { return entry.first >= begin && entry.first < begin + pages; });
  for (Recent& recent : recent_) recent = {};
}

Time Memory::latency_from(Distance from) {
  const Time usual = machine_.latency[static_cast<std::size_t>(from)];
  if (machine_.variation == 0) return usual;
  const Time most = usual * machine_.variation / 100;
  return usual - most + random_.below(2 * most + 1);
}

Memory::Fetched Memory::fetch(unsigned cpu, std::uintptr_t address, Access access, Time clock, std::uintptr_t pc) {
  Page& page = page_of(address);
  Line& line = page.line_of(address);
  const bool touched = line.version != 0;
  Distance from = Distance::memory;
  if (line.owned && line.owner == cpu)
    from = Distance::cluster;  // pushed out of the core's cache
  else if (touched)
    from = std::max(machine_.between(cpu, line.owned ? line.owner : line.last), Distance::core);
  // Copies in another socket are to be taken away too.
  if (access != Access::read && line.wide) from = std::max(from, Distance::machine);
  const bool shared = touched && !(line.owned && line.owner == cpu);
  const unsigned giver = line.owned ? line.owner : line.last;
  const Time latency = latency_from(from);
  const Time start = std::max(clock, line.busy);
  const Time end = start + latency;
  if (line.owned && line.owner != cpu)
    caches_[line.owner].lend(page.number_of(address), line.version, start + latency / 2);
  if (access == Access::read) {
    // An owner gives the line away once; after that its copies are served side by side.
    line.busy = line.owned ? end : start;
    line.wide = line.wide || (touched && from == Distance::machine);
    line.owned = false;
    if (!touched) line.version = 1;
  } else {
    line.busy = end;
    ++line.version;
    line.owned = true;
    line.wide = false;
    line.owner = static_cast<std::uint16_t>(cpu);
  }
  line.last = static_cast<std::uint16_t>(cpu);
  line.arrives = 0;
  caches_[cpu].put(page.number_of(address), line.version);
  if (!shared) return {end, from, nullptr};
  if (watch != nullptr) watch({cpu, giver, access, clock, end, pc, identity(address)});
  Misses& misses = sites_[{page.number_of(address), pc, static_cast<std::uint8_t>(address % line_bytes), access}];
  ++misses.count;
  return {end, from, &misses};
}

void Memory::prefetch(unsigned cpu, std::uintptr_t address, Access access, Time clock) {
  if (held(cpu, address, access, clock) != nullptr) return;
  const Time end = fetch(cpu, address, access, clock, 0).end;
  page_of(address).line_of(address).arrives = end;
}

void Memory::train(unsigned cpu, std::uintptr_t address, Access access, Time clock, std::uintptr_t pc) {
  constexpr std::intptr_t longest = 2048;
  Stride& known = prefetchers_[cpu][pc % strides];
  const auto step = static_cast<std::intptr_t>(address - known.last);
  const bool same = known.pc == pc && step == known.step;
  known = {pc, address, step, same};
  if (!same || step == 0 || step > longest || step < -longest) return;
  for (unsigned i = 1; i <= machine_.prefetched; ++i)
    prefetch(cpu, address + static_cast<std::uintptr_t>(step) * i, access, clock);
}

}  // namespace heddle::simulator
