// The text for the wait of a blocked thread.
#pragma once

#include <string>

#include "launch/boot/standstill/ranks_view.hpp"

namespace heddle::boot {

struct WaitText {
  std::string what;    // "MPI_Recv from 5, tag 7, MPI_COMM_WORLD"
  std::string suffix;  // behind the duration: "; not come: 2,5-7"
};

WaitText wait_text(const RanksView& view, int rank, const Wait& wait);

}  // namespace heddle::boot
