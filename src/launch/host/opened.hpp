// Libraries of which a rank that is a thread opens copies while it runs: the component of a network, and the library
// that it is made for.
//
// Such a library assumes that the process is one rank. UCX has one thread for all that the process opens, and that
// thread has the descriptors of the first caller, while each rank here has a table of its own; with a copy a rank has a
// thread and descriptors that belong together. Libraries that a copy opens itself, as UCX does its modules, are copied
// too if they need a copied library.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "launch/host/images.hpp"
#include "launch/host/program.hpp"

namespace heddle::host {

struct Seat;

class Opened {
 public:
  // To be called by a thread of the rank. It stays open.
  Result<void*> open(const std::string& path, Own own, Seat& seat);
  // True if a file needs a library that has been copied.
  bool is_needed_by(const std::string& path);
  bool contain(const void* address) { return file_with(address) != nullptr; }
  // The path of the library in whose copy the address is; null: in none.
  const char* file_with(const void* address);

 private:
  std::vector<std::string> libraries() const;
  const Images& keep(Images&& images, CopyNames&& names);

  std::recursive_mutex opening_;          // a constructor of an opened library may open something
  std::map<std::string, void*> handles_;  // by path
  std::mutex mutex_;                      // guards the members below
  std::deque<Images> images_;
  CopyNames names_;
};

// HostOpen of launch/rank/host_interface.hpp.
void* open_own(const char* path, char* why, std::size_t why_bytes);

}  // namespace heddle::host
