// Loadable components: parts of the library that are opened on demand, so that their dependencies are not needed
// elsewhere.
#pragma once

#include <functional>
#include <string>

namespace heddle::threads {

// lib/heddle beside the library that this code is in, with a slash behind it.
std::string component_folder();

// Opens the library in this file, as dlopen does. Null, and the reason.
using Opener = std::function<void*(const std::string& path, std::string& why)>;
void* open_for_process(const std::string& path, std::string& why);

// The function `entry` of the component in this file, which stays until the process ends unless close() gives it back.
// Null, and the reason.
class Module {
 public:
  Module(const std::string& path, const char* entry, std::string& why, const Opener& open = open_for_process);

  void* entry() const { return entry_; }
  void close();

 private:
  void* module_ = nullptr;
  void* entry_ = nullptr;
};

}  // namespace heddle::threads
