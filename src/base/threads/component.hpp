// Loadable components: parts of the library that are opened on demand, so that their dependencies are not needed
// elsewhere.
#pragma once

#include <functional>
#include <string>

#include "base/result.hpp"

namespace heddle::threads {

// lib/heddle beside the library that this code is in, with a slash behind it.
std::string component_folder();

// Opens the library in this file, as dlopen does.
using Opener = std::function<Result<void*>(const std::string& path)>;
Result<void*> open_for_process(const std::string& path);

// A component that is open, and the function in it that was asked for.
struct Module {
  void* library;
  void* entry;

  // It stays open until the process ends unless this is called.
  void close() const;
};
Result<Module> open_module(const std::string& path, const char* entry, const Opener& open = open_for_process);

}  // namespace heddle::threads
