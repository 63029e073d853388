// Libraries of which a rank that is a thread opens copies while it runs: the component of a network, and the library that it is made for.
//
// Such a library takes the process for one rank. UCX has a thread for all that the process opens, and that thread has the descriptors of
// whoever came first, while each rank here has a table of its own; with a copy a rank has a thread and descriptors that belong together.
// What a copy opens for itself, as UCX does its modules, is copied too if it needs what is copied.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "launch/host/images.hpp"
#include "launch/host/program.hpp"

namespace heddle::host {

struct Seat;

class Opened {
 public:
  // To be called by a thread of the rank. What is open stays. Null: `problem` says why not.
  void* open(const std::string& path, Own own, Seat& seat, std::string& problem);
  // Whether a file needs what there are copies of.
  bool is_needed_by(const std::string& path);
  bool contain(const void* address) { return file_with(address) != nullptr; }
  // Of the library in whose copy the address is; null: in none.
  const char* file_with(const void* address);

 private:
  std::vector<std::string> libraries() const;
  const Images& keep(Images&& images, CopyNames&& names);

  std::recursive_mutex opening_;          // a constructor of what is opened may open something
  std::map<std::string, void*> handles_;  // by path
  std::mutex mutex_;                      // for what follows
  std::deque<Images> images_;
  CopyNames names_;
};

// HostOpen of launch/rank/host_interface.hpp.
void* open_own(const char* path, char* why, std::size_t why_bytes);

}  // namespace heddle::host
