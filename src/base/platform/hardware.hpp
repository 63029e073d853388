// The kinds of hardware of MPI_Comm_split_type and MPI_Get_hw_resource_info (MPI 5.0, sections 7.4.2 and 9.1.2).
//
// A process is on an instance of a kind if every CPU that it may run on is part of that instance.
#pragma once

#include <array>
#include <cstddef>

namespace heddle {

inline constexpr std::size_t hardware_kinds = 3;

// From the largest to the smallest; the values of the info key mpi_hw_resource_type.
inline constexpr std::array<const char*, hardware_kinds> hardware_names = {"linux://Package", "linux://NUMANode",
                                                                           "linux://Core"};
inline constexpr int nowhere = -1;

// The instance of each kind that this process is on, by a number that is the same for all processes of the machine, or
// `nowhere`.
std::array<int, hardware_kinds> hardware_of_this_process();
std::array<int, hardware_kinds> hardware_of_cpu(int cpu);

}  // namespace heddle
