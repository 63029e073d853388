#include "threads/component.hpp"

#include <dlfcn.h>

namespace heddle::threads {

std::string component_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&component_folder), &here) == 0 || here.dli_fname == nullptr) return "";
  const std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "heddle/";
}

Module::Module(const std::string& path, const char* entry, std::string& why)
    : module_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (module_ == nullptr) {
    why = dlerror();
    return;
  }
  entry_ = dlsym(module_, entry);
  if (entry_ == nullptr) {
    why = path + " is no component of this version of Heddle";
    close();
  }
}

void Module::close() {
  dlclose(module_);
  module_ = nullptr;
  entry_ = nullptr;
}

}  // namespace heddle::threads
