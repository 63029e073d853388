#include "launch/host/opened.hpp"
#include "base/platform/next_function.hpp"

#include <dlfcn.h>
#include <stdio.h>

#include <exception>
#include <memory>
#include <utility>

#include "launch/host/seat.hpp"

namespace heddle::host {
namespace {

constinit platform::Next<void*(const char*, int)> next_dlopen("dlopen");
constinit platform::Next<int(const void*, Dl_info*)> next_dladdr("dladdr");

// libc's functions for the copies, whose names differ.

void* open_beside(const char* path, int flags) {
  Seat* const seat = this_thread.seat;
  if (seat == nullptr || path == nullptr || !seat->opened.is_needed_by(path)) return next_dlopen(path, flags);
  const Result<void*> handle = seat->opened.open(path, Own::none, *seat);
  // A caller that wants the reason asks libc, which reports its own last refusal.
  return handle ? *handle : next_dlopen(handle.failure().text.c_str(), flags);
}

// A copy is known to the loader by a number.
int locate(const void* address, Dl_info* info) {
  const int found = next_dladdr(address, info);
  Seat* const seat = this_thread.seat;
  if (found == 0 || seat == nullptr) return found;
  if (const char* const file = seat->opened.file_with(address)) info->dli_fname = file;
  return found;
}

void* replacement(std::string_view function) {
  if (function == "dlopen") return reinterpret_cast<void*>(open_beside);
  if (function == "dladdr") return reinterpret_cast<void*>(locate);
  return nullptr;
}

// The analysis of a library, for all ranks: they have copies of the same ones.
const Program& analysis_of(const std::string& path, Own own, const std::vector<std::string>& there) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<const Program>> known;
  const std::lock_guard guard(mutex);
  std::unique_ptr<const Program>& one = known[path];
  if (!one) one = std::make_unique<const Program>(path, own, there, replacement);
  return *one;
}

}  // namespace

std::vector<std::string> Opened::libraries() const {
  std::vector<std::string> all;
  for (const auto& [library, name] : names_) all.push_back(library);
  return all;
}

const Images& Opened::keep(Images&& images, CopyNames&& names) {
  const std::lock_guard guard(mutex_);
  names_ = std::move(names);
  return images_.emplace_back(std::move(images));
}

const char* Opened::file_with(const void* address) {
  const std::lock_guard guard(mutex_);
  for (const Images& images : images_)
    if (const Image* const image = images.image_with(address)) return image->part->file->path().c_str();
  return nullptr;
}

bool Opened::is_needed_by(const std::string& path) {
  const Result<boot::ElfFile> file = boot::ElfFile::read(path);
  if (!file || file->kind() != boot::ElfFile::Kind::library) return false;
  const std::lock_guard guard(mutex_);
  for (std::string_view needed : file->needed())
    if (names_.contains(needed)) return true;
  return false;
}

Result<void*> Opened::open(const std::string& path, Own own, Seat& seat) try {
  const std::lock_guard opening(opening_);
  if (const auto known = handles_.find(path); known != handles_.end()) return known->second;
  const Program& library = analysis_of(path, own, libraries());
  CopyNames names = names_;
  Images loaded;
  if (const Result<void> done = loaded.load(library, seat.variables, names); !done) return done.failure();
  const Images& images = keep(std::move(loaded), std::move(names));
  handles_[path] = images.handle();
  char* arguments[] = {seat.variables.get<char*>(Variable::program_name), nullptr};
  images.construct_libraries(1, arguments, seat.environment.list());
  images.construct_program(1, arguments, seat.environment.list());
  return images.handle();
} catch (const std::exception& error) {
  return Failure{.text = error.what()};
}

void* open_own(const char* path, char* why, std::size_t why_bytes) {
  Seat& seat = *this_thread.seat;
  const Result<void*> handle = seat.opened.open(path, Own::needed, seat);
  if (handle) return *handle;
  snprintf(why, why_bytes, "%s", handle.failure().text.c_str());
  return nullptr;
}

}  // namespace heddle::host
