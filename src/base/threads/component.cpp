#include "base/threads/component.hpp"

#include <dlfcn.h>

namespace heddle::threads {

std::string component_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&component_folder), &here) == 0 || here.dli_fname == nullptr) return "";
  const std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "heddle/";
}

void* open_for_process(const std::string& path, std::string& why) {
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) why = dlerror();
  return opened;
}

Module::Module(const std::string& path, const char* entry, std::string& why, const Opener& open)
    : module_(open(path, why)) {
  if (module_ == nullptr) return;
  entry_ = dlsym(module_, entry);
  if (entry_ == nullptr) {
    why = path + " is not a component of this version of Heddle";
    close();
  }
}

void Module::close() {
  dlclose(module_);
  module_ = nullptr;
  entry_ = nullptr;
}

}  // namespace heddle::threads
