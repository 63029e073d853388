// The interface between the library that places large blocks of a program's heap in shared memory (malloc.cpp,
// preloaded) and the MPI library of the same process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::shared_heap {

// One file of memory, mapped here as a whole. Its first page is the MPI library's, which writes its key there.
struct Place {
  static constexpr std::uint32_t this_layout = 1;

  std::uint32_t layout;
  int file;  // a descriptor of this process
  std::byte* start;
  std::size_t bytes;
};

// `heddle_shared_heap`, an exported function: null if there is no memory that could be shared.
using Ask = const Place*();
inline constexpr char ask_name[] = "heddle_shared_heap";

}  // namespace heddle::shared_heap
