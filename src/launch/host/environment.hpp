// The environment of a rank: the list behind getenv, setenv and the like in its threads.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "launch/host/variables.hpp"

namespace heddle::host {

class Environment {
 public:
  explicit Environment(Variables& variables) : variables_(variables) {}

  void fill(const std::vector<std::string>& entries);
  // To be called once the program's own `environ` has its place.
  void publish();

  char* get(std::string_view name);
  int set(const char* name, const char* value, bool replace);  // 0, or an errno
  int put(char* entry);
  int unset(const char* name);
  void clear();
  char** list();

 private:
  std::size_t find(std::string_view name);
  void adopt();
  int add(std::string_view name, char* entry, bool replace);

  Variables& variables_;
  std::mutex mutex_;
  std::vector<char*>
      entries_;  // with the null at the end. Strings are never freed: the program may hold pointers to them
};

}  // namespace heddle::host
