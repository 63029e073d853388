#include "base/threads/component.hpp"

#include <dlfcn.h>

namespace heddle::threads {

std::string component_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&component_folder), &here) == 0 || here.dli_fname == nullptr) return "";
  const std::string path = here.dli_fname;
  return path.substr(0, path.rfind('/') + 1) + "heddle/";
}

Result<void*> open_for_process(const std::string& path) {
  void* const opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) return Failure{.text = dlerror()};
  return opened;
}

Result<Module> open_module(const std::string& path, const char* entry, const Opener& open) {
  const Result<void*> library = open(path);
  if (!library) return library.failure();
  const Module module{*library, dlsym(*library, entry)};
  if (module.entry != nullptr) return module;
  module.close();
  return refuse("%s is not a component of this version of Heddle", path.c_str());
}

void Module::close() const { dlclose(library); }

}  // namespace heddle::threads
