// The simulated memory: which core has which cache line, and what an access costs.
//
// A line has one owner, which may write it, or any number of cores with a copy. A core's copy is valid while its version
// is the line's: a write makes a new version, which takes all copies away at once. A line that is on its way to a core is
// busy, and the next core waits for it. Its owner uses it until the request of the next core arrives, which takes half of
// the line's way: so a core that waited for a line can do more with it than one access.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simulator/machine.hpp"
#include "simulator/random.hpp"
#include "simulator/stacks.hpp"

namespace heddle::simulator {

inline constexpr std::uintptr_t line_bytes = 64;

enum class Access : std::uint8_t { read, write, update };  // update: a locked instruction
inline constexpr std::size_t accesses = 3;

struct Line {
  std::uint32_t version = 0;  // 0: no core has touched it
  std::uint16_t owner = 0;    // that may write it, if `owned`
  std::uint16_t last = 0;     // the core that got the newest copy
  bool owned = false;
  bool wide = false;  // cores of several sockets may have copies
  Time busy = 0;      // until then it is on its way
  Time arrives = 0;   // at a core that has prefetched it
};

// A miss of one place of the program on one line, for the report.
struct Site {
  std::uint64_t line;  // Memory::identity / line_bytes
  std::uintptr_t pc;
  std::uint8_t offset;
  Access access;
  bool operator==(const Site&) const = default;
};
struct SiteHash {
  std::size_t operator()(const Site& s) const {
    std::size_t h = s.line * 0x9e3779b97f4a7c15 ^ s.pc;
    h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9;
    return (h ^ h >> 32) + s.offset * 4U + static_cast<std::size_t>(s.access);
  }
};

struct Misses {
  std::uint64_t count = 0;
  const Stack* stack = nullptr;  // of one of them
};

// A line that one core got from another one.
struct Transfer {
  unsigned cpu;
  unsigned giver;
  Access access;
  Time start;  // it was asked for
  Time end;
  std::uintptr_t pc;    // 0: it is prefetched
  std::uint64_t place;  // Memory::identity
};

// The lines that one core keeps: sets of eight, the one that was used last in front.
class Cache {
 public:
  explicit Cache(unsigned lines) : mask_(sets(lines) - 1), entries_(std::size_t{mask_ + 1} * ways) {}

  // True if the core can use its copy now: it is the newest one and `may` be used so, or it was lent to it.
  bool has(std::uint64_t line, std::uint32_t version, bool may, Time now) {
    Entry* const set = &entries_[(line & mask_) * ways];
    for (unsigned way = 0; way != ways; ++way) {
      if (set[way].line != line) continue;
      if (!(may && set[way].version == version) && now >= set[way].lent_until) return false;
      if (way != 0) std::swap(set[way], set[way / 2]);
      return true;
    }
    return false;
  }
  void put(std::uint64_t line, std::uint32_t version) {
    Entry* const set = &entries_[(line & mask_) * ways];
    unsigned way = 0;
    while (way != ways - 1 && set[way].line != line) ++way;
    for (; way != 0; --way) set[way] = set[way - 1];
    set[0] = {line, version, 0};
  }
  // The core loses a line that it owns, but not before `until`.
  void lend(std::uint64_t line, std::uint32_t version, Time until) {
    Entry* const set = &entries_[(line & mask_) * ways];
    for (unsigned way = 0; way != ways; ++way)
      if (set[way].line == line && set[way].version == version) set[way].lent_until = until;
  }

 private:
  static constexpr unsigned ways = 8;
  struct Entry {
    std::uint64_t line = ~std::uint64_t{0};
    std::uint32_t version = 0;
    Time lent_until = 0;
  };
  static std::uint64_t sets(unsigned lines) {
    std::uint64_t n = 1;
    while (n * ways < lines) n *= 2;
    return n;
  }
  std::uint64_t mask_;
  std::vector<Entry> entries_;
};

class Memory {
 public:
  explicit Memory(const Machine& machine) : machine_(machine), caches_(machine.cpus, Cache(machine.cache_lines)) {}

  // The run begins: the times of transfers are a function of the seed from here on.
  void begin(std::uint64_t seed) { random_ = Random(seed); }

  // True if the core's own copy serves the access; `clock` is then at its end. False, too, if it is later than `in_turn` and the
  // line has gone from core to core before: another core may be about to take it.
  bool hits(unsigned cpu, std::uintptr_t address, Access access, Time& clock, std::uintptr_t pc, Time in_turn = never) {
    Line* const found = held(cpu, address, access, clock);
    if (found == nullptr) return false;
    Line& line = *found;
    if (line.version > 2 && clock > in_turn) return false;
    if (line.arrives != 0) [[unlikely]] {
      clock = std::max(clock, line.arrives);
      line.arrives = 0;
      train(cpu, address, access, clock, pc);
    }
    return true;
  }

  // The same number for every address at which the process sees a byte of a shared mapping.
  std::uint64_t identity(std::uintptr_t address) { return page_of(address).number * page_bytes + address % page_bytes; }
  // The process maps part of a file that several mappings share; `file` identifies the file.
  void map(std::uintptr_t address, std::size_t bytes, std::uint64_t file, std::uint64_t offset);
  void unmap(std::uintptr_t address, std::size_t bytes);

  struct Fetched {
    Time end;
    Distance from;
    Misses* misses;  // of the place, if another core had the line; else null
  };
  // Gets the line at `clock`, after hits() was false.
  Fetched fetch(unsigned cpu, std::uintptr_t address, Access access, Time clock, std::uintptr_t pc);
  // As fetch, but the core does not wait for it before its next access.
  void prefetch(unsigned cpu, std::uintptr_t address, Access access, Time clock);
  // The core's prefetcher learns from an access that did not find its line in the cache, or found it because of a prefetch:
  // an instruction that goes through memory in equal steps gets the lines of its next steps.
  void train(unsigned cpu, std::uintptr_t address, Access access, Time clock, std::uintptr_t pc);

  void (*watch)(const Transfer&) = nullptr;  // called for each transfer, if it is set
  using Sites = std::unordered_map<Site, Misses, SiteHash>;
  const Sites& sites() const { return sites_; }

 private:
  static constexpr std::uintptr_t page_lines = 64;
  static constexpr std::uintptr_t page_bytes = page_lines * line_bytes;
  struct Page {
    std::uint64_t number;  // in the order of first touches, so that it does not depend on addresses
    Line lines[page_lines];
    Line& line_of(std::uintptr_t address) { return lines[address / line_bytes % page_lines]; }
    std::uint64_t number_of(std::uintptr_t address) const {
      return number * page_lines + address / line_bytes % page_lines;
    }
  };

  Page& page_of(std::uintptr_t address) {
    const std::uintptr_t page = address / page_bytes;
    Recent& recent = recent_[page % recents];
    if (recent.page != page) recent = {page, &find_page(page)};
    return *recent.found;
  }
  Page& find_page(std::uintptr_t page);
  // The line, if the core has it and may do that to it.
  Line* held(unsigned cpu, std::uintptr_t address, Access access, Time now) {
    Page& page = page_of(address);
    Line& line = page.line_of(address);
    const bool may = access == Access::read || (line.owned && line.owner == cpu);
    return caches_[cpu].has(page.number_of(address), line.version, may, now) ? &line : nullptr;
  }

  static constexpr std::size_t recents = 4096;
  struct Recent {
    std::uintptr_t page = ~std::uintptr_t{0};
    Page* found = nullptr;
  };

  struct Stride {
    std::uintptr_t pc = 0;
    std::uintptr_t last = 0;
    std::intptr_t step = 0;
    bool steady = false;
  };
  static constexpr std::size_t strides = 64;  // instructions that a core's prefetcher knows

  // The time of a line's way varies: threads of equal work would otherwise stay in step as no real ones do.
  Time latency_from(Distance from);

  const Machine& machine_;
  Random random_{0};
  std::vector<Cache> caches_;
  std::vector<std::array<Stride, strides>> prefetchers_{machine_.cpus};
  std::vector<Recent> recent_ = std::vector<Recent>(recents);
  std::unordered_map<std::uintptr_t, Page*> pages_;  // by address
  struct Mapping {
    std::size_t pages;
    std::uint64_t file;
    std::uint64_t first;  // page of the file
  };
  std::map<std::uintptr_t, Mapping> mappings_;                               // by their first page's address
  std::map<std::pair<std::uint64_t, std::uint64_t>, Page*> pages_of_files_;  // by file and page of it
  std::uint64_t next_page_ = 0;
  Sites sites_;  // misses on lines that another core had
};

}  // namespace heddle::simulator
