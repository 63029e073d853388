// Info hints of files (MPI 5.0, section 14.2.8, and those of ROMIO and Open MPI; base/info_keys.hpp). Other keys are
// dropped when they are set, so that MPI_File_get_info tells only what is in force.
#pragma once

#include <cstdint>

#include "objects/object/info.hpp"

namespace heddle::io {

enum class Choice : std::uint8_t { automatic, enable, disable };

struct Hints {
  int cb_nodes = 0;             // aggregators of a collective access; 0: as many as suit the communicator
  int cb_per_node = 0;          // cb_config_list "*:N"; 0: as many as suit
  std::int64_t cb_buffer_size;  // of each
  std::int64_t read_buffer;     // of data sieving
  std::int64_t write_buffer;
  std::int64_t striping_unit = 0;  // aggregators' parts begin at multiples of it; 0: of a page
  Choice cb_read = Choice::automatic;
  Choice cb_write = Choice::automatic;
  Choice ds_read = Choice::automatic;
  Choice ds_write = Choice::automatic;

  Hints();
  // Takes over the known hints of `info`, which may be null, that have a valid value.
  void set(const Info* info);
  InfoEntries entries() const;

 private:
  InfoEntries stored_;  // keys of files that hints.cpp has no line for: told as they were given
};

}  // namespace heddle::io
