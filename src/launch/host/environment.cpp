// The program may set `environ` itself, and then that is the environment.
#include "launch/host/environment.hpp"
#include "base/platform/next_function.hpp"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/host/seat.hpp"

namespace heddle::host {

void Environment::fill(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) entries_.push_back(strdup(entry.c_str()));
  entries_.push_back(nullptr);
  publish();
}

void Environment::publish() { variables_.get<char**>(Variable::environment) = entries_.data(); }

char** Environment::list() { return variables_.get<char**>(Variable::environment); }

// The list that the program has put in the place of ours.
void Environment::adopt() {
  char** theirs = list();
  if (theirs == entries_.data()) return;
  entries_.clear();
  for (; theirs != nullptr && *theirs != nullptr; ++theirs) entries_.push_back(*theirs);
  entries_.push_back(nullptr);
  publish();
}

namespace {
bool names(const char* entry, std::string_view name) {
  return strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=';
}
}  // namespace

char* Environment::get(std::string_view name) {
  const std::lock_guard guard(mutex_);
  char** entry = list();
  if (entry == nullptr || name.empty()) return nullptr;
  for (; *entry != nullptr; ++entry)
    if (names(*entry, name)) return *entry + name.size() + 1;
  return nullptr;
}

std::size_t Environment::find(std::string_view name) {
  std::size_t i = 0;
  while (entries_[i] != nullptr && !names(entries_[i], name)) ++i;
  return i;
}

int Environment::add(std::string_view name, char* entry, bool replace) {
  const std::lock_guard guard(mutex_);
  adopt();
  const std::size_t at = find(name);
  if (entries_[at] == nullptr) {
    entries_[at] = entry;
    entries_.push_back(nullptr);
    publish();
  } else if (replace) {
    entries_[at] = entry;
  }
  return 0;
}

int Environment::set(const char* name, const char* value, bool replace) {
  if (name == nullptr || *name == '\0' || strchr(name, '=') != nullptr) return EINVAL;
  const std::string text = std::string(name) + '=' + value;
  char* entry = strdup(text.c_str());
  return entry != nullptr ? add(name, entry, replace) : ENOMEM;
}

int Environment::put(char* entry) {
  const char* equals = strchr(entry, '=');
  if (equals == nullptr) return unset(entry);
  return add({entry, static_cast<std::size_t>(equals - entry)}, entry, true);
}

int Environment::unset(const char* name) {
  if (name == nullptr || *name == '\0' || strchr(name, '=') != nullptr) return EINVAL;
  const std::lock_guard guard(mutex_);
  adopt();
  for (std::size_t at = find(name); entries_[at] != nullptr; at = find(name))
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  return 0;
}

void Environment::clear() {
  const std::lock_guard guard(mutex_);
  entries_.assign(1, nullptr);
  publish();
}

namespace {

constinit platform::Next<char*(const char*)> next_getenv("getenv");
constinit platform::Next<int(const char*, const char*, int)> next_setenv("setenv");
constinit platform::Next<int(char*)> next_putenv("putenv");
constinit platform::Next<int(const char*)> next_unsetenv("unsetenv");
constinit platform::Next<int()> next_clearenv("clearenv");

int result(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

// Under names of our own, since the headers of libc declare the others with attributes that ours have not.
[[gnu::visibility("default")]] char* host_getenv(const char* name) asm("getenv");
[[gnu::visibility("default")]] char* host_secure_getenv(const char* name) asm("secure_getenv");
[[gnu::visibility("default")]] int host_setenv(const char* name, const char* value, int replace) asm("setenv");
[[gnu::visibility("default")]] int host_putenv(char* entry) asm("putenv");
[[gnu::visibility("default")]] int host_unsetenv(const char* name) asm("unsetenv");
[[gnu::visibility("default")]] int host_clearenv() asm("clearenv");

char* host_getenv(const char* name) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? seat->environment.get(name) : next_getenv(name);
}

char* host_secure_getenv(const char* name) { return host_getenv(name); }

int host_setenv(const char* name, const char* value, int replace) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? result(seat->environment.set(name, value, replace != 0)) : next_setenv(name, value, replace);
}

int host_putenv(char* entry) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? result(seat->environment.put(entry)) : next_putenv(entry);
}

int host_unsetenv(const char* name) {
  Seat* seat = this_thread.seat;
  return seat != nullptr ? result(seat->environment.unset(name)) : next_unsetenv(name);
}

int host_clearenv() {
  Seat* seat = this_thread.seat;
  if (seat == nullptr) return next_clearenv();
  seat->environment.clear();
  return 0;
}
}

}  // namespace heddle::host
