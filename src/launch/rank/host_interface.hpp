// The library's interface for a process whose ranks are threads (host/): to make a rank, and to assign threads to it.
//
// Plain C functions, since host and library share no C++ library. Exported, but not meant for programs: a rank that is
// a process never calls them.
#pragma once

#include <cstddef>

namespace heddle {

struct Rank;

// Opens a copy of a library that the calling thread's rank has for itself, with those libraries that it is for. For use
// by dlsym; it stays open. Null: `why` holds the reason.
using HostOpen = void* (*)(const char* path, char* why, std::size_t why_bytes);

}  // namespace heddle

extern "C" {

// A rank of its own for the calling thread, which then belongs to it: joined to its job when it first initializes MPI,
// by its environment. It stays until the process ends, as the rank of a process does.
heddle::Rank* MPIX_Heddle_host_make_rank(heddle::HostOpen open);

// The calling thread's rank has ended, and its process goes on: notifies those that wait for the end of a process.
// Takes no lock.
void MPIX_Heddle_host_end_rank();

// The calling thread belongs to this rank from here on; to be called before it uses the library, and once.
void MPIX_Heddle_host_enter_rank(heddle::Rank* rank);
}
