// Performance variables (MPI 5.0, section 15.3.7): the instruments' figures, each for all VNIs of the rank together and
// for the VNI that carries a communicator, and the properties of a communicator itself.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/instruments/counters.hpp"
#include "mpi/tool/handle_table.hpp"

namespace heddle {
struct Rank;
}

namespace heddle::tool {

struct Pvar {
  enum class Figure : std::uint8_t { count, time, ticks, largest, threads };
  enum class Source : std::uint8_t { all_vnis, vni_of_comm, comm };

  std::string name;
  std::string description;
  Figure figure;
  Source source;
  instruments::Count count{};  // if figure is count, or ticks that were counted
  instruments::Time time{};    // if figure is time

  int var_class() const;
  bool in_seconds() const { return figure == Figure::time || figure == Figure::ticks; }
  bool bound() const { return source != Source::all_vnis; }
  // The number of threads that use a communicator is a state: there is nothing to start, write or reset.
  bool continuous() const { return figure == Figure::threads; }
};

const std::vector<Pvar>& pvars();

// A variable that a session reads. Its value grows while it is started.
class PvarHandle {
 public:
  PvarHandle(const Pvar& variable, MPI_Comm comm);
  ~PvarHandle();
  PvarHandle(const PvarHandle&) = delete;
  PvarHandle& operator=(const PvarHandle&) = delete;

  const Pvar& variable() const { return variable_; }

  // Each is false if the communicator is no more.
  bool start(Rank& rank);
  bool stop(Rank& rank);
  bool read(Rank& rank, void* buf);
  bool write(Rank& rank, const void* buf);
  // In one step: concurrent counts are in this value or in the next.
  bool read_and_reset(Rank& rank, void* buf);

  // Updates a high-water mark with the values so far; before the mark is reset for another handle's sake.
  void notice(Rank& rank);

 private:
  struct Value {
    std::uint64_t number = 0;  // or
    double seconds = 0;
  };

  bool read_total(Rank& rank, std::uint64_t& now) const;
  void add_up(std::uint64_t now);

  const Pvar& variable_;
  const MPI_Comm comm_;
  bool started_ = false;
  std::uint64_t since_ = 0;  // the instruments' value when it was started, or last added up
  Value value_;
};

struct PvarSession {
  HandleTable<PvarHandle, MPI_T_pvar_handle> handles;
};

}  // namespace heddle::tool
