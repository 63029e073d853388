#include "simulator/trace.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>

#include "simulator/files.hpp"
#include "simulator/kernel/real.hpp"
#include "simulator/scheduler.hpp"

namespace heddle::simulator {

constinit Trace* trace = nullptr;

namespace {

template <class T>
T* room_for(std::size_t count) {
  const long room = system_call(SYS_mmap, 0, static_cast<long>(count * sizeof(T)), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room < 0) stop("there is no memory for a trace.");
  return reinterpret_cast<T*>(room);
}

}  // namespace

Trace::Trace(const Settings& settings)
    : from_(settings.trace_from),
      until_(settings.trace_until),
      events_(room_for<Event>(most + late_calls)),
      functions_(room_for<Function>(functions)) {}

Trace::Event* Trace::add(const Event& event) {
  if (event.end < from_ || event.start > std::min(until_, full_)) return nullptr;
  if (full_ == never && count_ == most) full_ = event.start;
  // A call is noted when it ends: those that had begun before are complete.
  if (full_ != never && (event.kind != Kind::call || count_ == most + late_calls)) return nullptr;
  events_[count_] = event;
  return &events_[count_++];
}

// The library exports them, so the loader knows their names.
const char* Trace::mpi_function(std::uintptr_t pc) {
  Function& known = functions_[pc * 0x9e3779b97f4a7c15 >> 48];
  if (known.pc == pc) return known.name;
  known = {pc, nullptr};
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(pc), &info) == 0 || info.dli_sname == nullptr) return nullptr;
  const char* const name = info.dli_sname + (info.dli_sname[0] == 'P' ? 1 : 0);
  if (std::strncmp(name, "MPI_", 4) == 0) known.name = name;
  return known.name;
}

void Trace::enter(Thread& thread, std::uintptr_t pc, const void* frame, Time now) {
  if (thread.call.name != nullptr && frame < thread.call.frame) return;  // called by it
  if (const char* const name = mpi_function(pc)) thread.call = {name, frame, now};
}

void Trace::leave(Thread& thread, const void* frame, Time now) {
  if (thread.call.name == nullptr || frame != thread.call.frame) return;
  add({thread.call.began, now, Kind::call, Access::read, static_cast<std::uint16_t>(thread.cpu), 0, thread.number,
       thread.call.name, 0, 0});
  thread.call = {};
}

void Trace::waited(const Thread& thread, unsigned cpu, Time start, Time end, const char* in) {
  add({start, end, in != nullptr ? Kind::sleep : Kind::ready, Access::read, static_cast<std::uint16_t>(cpu), 0,
       thread.number, in != nullptr ? in : "", 0, 0});
}

void Trace::transferred(const Thread& thread, const Transfer& t) {
  add({t.start, t.end, Kind::line, t.access, static_cast<std::uint16_t>(t.cpu), static_cast<std::uint16_t>(t.giver),
       thread.number, "", t.pc, t.place});
}

void Trace::performed(Thread& thread, std::uint64_t place, Access access, std::uintptr_t pc, Time now) {
  if (access == Access::read && thread.polled != nullptr) {
    // The same load again: it polls.
    auto& last = *static_cast<Event*>(thread.polled);
    if (last.pc == pc && last.place == place) {
      last.end = now;
      return;
    }
  }
  Event* const added =
      add({now, now, Kind::atomic, access, static_cast<std::uint16_t>(thread.cpu), 0, thread.number, "", pc, place});
  thread.polled = access == Access::read ? added : nullptr;
}

void Trace::locked(const Thread& thread, std::uint64_t place, bool taken, Time now) {
  add({now, now, taken ? Kind::lock : Kind::unlock, Access::update, static_cast<std::uint16_t>(thread.cpu), 0,
       thread.number, "", 0, place});
}

void Trace::write(std::FILE* to, Files& files) const {
  constexpr const char* kinds[] = {"call", "sleep", "ready", "line", "atomic", "lock", "unlock"};
  constexpr const char* access_names[accesses] = {"reads", "writes", "updates"};
  std::fprintf(to, "{\"from\": %lu, \"until\": %lu, \"full\": %s, \"events\": [", from_,
               full_ != never ? full_ : until_, full_ != never ? "true" : "false");
  for (std::size_t i = 0; i != count_; ++i) {
    const Event& e = events_[i];
    std::fprintf(to, "%s\n[\"%s\", %d, %u, %lu, %lu, \"%s\", \"%s\", %u, %lu, %lu, ", i == 0 ? "" : ",",
                 kinds[static_cast<std::size_t>(e.kind)], e.thread, e.cpu, e.start, e.end, e.name,
                 access_names[static_cast<std::size_t>(e.access)], e.giver, e.place / line_bytes, e.place % line_bytes);
    files.write_address(to, e.pc);
    std::fprintf(to, "]");
  }
  std::fprintf(to, "]}");
}

}  // namespace heddle::simulator
