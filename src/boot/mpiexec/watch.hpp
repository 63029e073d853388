// Where the threads of a job are and since when, for the user whose job hangs.
//
// A thread's record says which call it is in and how many calls it has made. mpiexec looks at the records once a second
// and notes when it first saw what is still so; a rank pays nothing for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "boot/mpiexec/output.hpp"
#include "boot/mpiexec/segment.hpp"

namespace heddle::boot {

class Watch {
 public:
  explicit Watch(const Segment& segment) : segment_(segment) {}

  void look(Clock::time_point now);
  // " in MPI_Recv for 54 s", " (threads: 3 in MPI_Wait for 54 s, 8 suspended in MPI_Recv for 52 s, 1 in MPI_Test again and
  // again, 2 outside MPI for 50 s)", or nothing if it never called MPI. As it was at the last look.
  std::string where_it_is(int rank) const;

 private:
  struct Seen {
    std::uint32_t thread = 0;  // kernel's id; 0: none
    std::uint64_t calls = 0;   // ThreadRecord::calls
    bool moving = false;       // it has made calls since the look before
    Clock::time_point since;   // when it was first seen so
  };

  struct SeenSuspended {
    std::uint16_t call;
    std::uint64_t word;       // RankRecord::suspended
    bool moving;              // threads have come or gone since the look before
    Clock::time_point since;  // when it was first seen so
  };

  void look_at_suspended(const RankRecord& record, std::vector<SeenSuspended>& seen) const;
  std::string duration(bool moving, bool in_call, Clock::time_point since) const;

  const Segment segment_;
  std::vector<std::vector<Seen>> seen_;  // of each rank, by record; empty before the first look
  std::vector<std::vector<SeenSuspended>> suspended_;
  Clock::time_point last_;
};

}  // namespace heddle::boot
