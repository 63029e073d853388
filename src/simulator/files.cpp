#include "simulator/files.hpp"

#include <dlfcn.h>

#include <algorithm>

namespace heddle::simulator {

void Files::write_address(std::FILE* to, std::uintptr_t address) {
  const auto [found, is_new] = known_.try_emplace(address, Place{});
  if (is_new) found->second = look_up(address);
  std::fprintf(to, "%zu, %lu", found->second.file, found->second.at);
}

void Files::write_names(std::FILE* to) const {
  for (std::size_t i = 0; i != names_.size(); ++i) std::fprintf(to, "%s\"%s\"", i == 0 ? "" : ", ", names_[i].c_str());
}

Files::Place Files::look_up(std::uintptr_t address) {
  Dl_info info{};
  if (address == 0 || dladdr(reinterpret_cast<void*>(address), &info) == 0 || info.dli_fname == nullptr) return {};
  const auto file = static_cast<std::size_t>(std::ranges::find(names_, info.dli_fname) - names_.begin());
  if (file == names_.size()) names_.emplace_back(info.dli_fname);
  return {file, address - reinterpret_cast<std::uintptr_t>(info.dli_fbase)};
}

}  // namespace heddle::simulator
