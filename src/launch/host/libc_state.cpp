#include "launch/host/libc_state.hpp"
#include "base/platform/next_function.hpp"

#include <string.h>

#include "launch/host/seat.hpp"

namespace heddle::host {

LibcState::LibcState() { initstate_r(1, random_words, sizeof random_words, &random); }

namespace {

constinit platform::Next<long()> next_random("random");
constinit platform::Next<void(unsigned)> next_srandom("srandom");
constinit platform::Next<char*(char*, const char*)> next_strtok("strtok");
constinit platform::Next<double()> next_drand48("drand48");
constinit platform::Next<long()> next_lrand48("lrand48");
constinit platform::Next<long()> next_mrand48("mrand48");
constinit platform::Next<void(long)> next_srand48("srand48");
constinit platform::Next<tm*(const time_t*)> next_localtime("localtime");
constinit platform::Next<tm*(const time_t*)> next_gmtime("gmtime");
constinit platform::Next<char*(const time_t*)> next_ctime("ctime");
constinit platform::Next<char*(const tm*)> next_asctime("asctime");

LibcState* state() { return this_thread.seat != nullptr ? &this_thread.seat->libc : nullptr; }

long random_of(LibcState& mine) {
  const std::lock_guard guard(mine.mutex);
  int value = 0;
  random_r(&mine.random, &value);
  return value;
}

template <class T>
T drand48_of(LibcState& mine, int (*draw)(drand48_data*, T*)) {
  const std::lock_guard guard(mine.mutex);
  T value{};
  draw(&mine.drand48, &value);
  return value;
}

}  // namespace

extern "C" {

[[gnu::visibility("default")]] long host_random() asm("random");
[[gnu::visibility("default")]] int host_rand() asm("rand");
[[gnu::visibility("default")]] void host_srandom(unsigned) asm("srandom");
[[gnu::visibility("default")]] void host_srand(unsigned) asm("srand");
[[gnu::visibility("default")]] double host_drand48() asm("drand48");
[[gnu::visibility("default")]] long host_lrand48() asm("lrand48");
[[gnu::visibility("default")]] long host_mrand48() asm("mrand48");
[[gnu::visibility("default")]] void host_srand48(long) asm("srand48");
[[gnu::visibility("default")]] char* host_strtok(char*, const char*) asm("strtok");
[[gnu::visibility("default")]] tm* host_localtime(const time_t*) asm("localtime");
[[gnu::visibility("default")]] tm* host_gmtime(const time_t*) asm("gmtime");
[[gnu::visibility("default")]] char* host_ctime(const time_t*) asm("ctime");
[[gnu::visibility("default")]] char* host_asctime(const tm*) asm("asctime");

long host_random() {
  LibcState* mine = state();
  return mine != nullptr ? random_of(*mine) : next_random();
}

int host_rand() { return static_cast<int>(host_random()); }

void host_srandom(unsigned seed) {
  LibcState* mine = state();
  if (mine == nullptr) return next_srandom(seed);
  const std::lock_guard guard(mine->mutex);
  srandom_r(seed, &mine->random);
}

void host_srand(unsigned seed) { host_srandom(seed); }

double host_drand48() {
  LibcState* mine = state();
  return mine != nullptr ? drand48_of(*mine, drand48_r) : next_drand48();
}

long host_lrand48() {
  LibcState* mine = state();
  return mine != nullptr ? drand48_of(*mine, lrand48_r) : next_lrand48();
}

long host_mrand48() {
  LibcState* mine = state();
  return mine != nullptr ? drand48_of(*mine, mrand48_r) : next_mrand48();
}

void host_srand48(long seed) {
  LibcState* mine = state();
  if (mine == nullptr) return next_srand48(seed);
  const std::lock_guard guard(mine->mutex);
  srand48_r(seed, &mine->drand48);
}

char* host_strtok(char* text, const char* delimiters) {
  LibcState* mine = state();
  return mine != nullptr ? strtok_r(text, delimiters, &mine->strtok_rest) : next_strtok(text, delimiters);
}

tm* host_localtime(const time_t* time) {
  LibcState* mine = state();
  if (mine == nullptr) return next_localtime(time);
  tzset();
  return localtime_r(time, &mine->broken_down);
}

tm* host_gmtime(const time_t* time) {
  LibcState* mine = state();
  return mine != nullptr ? gmtime_r(time, &mine->broken_down) : next_gmtime(time);
}

char* host_asctime(const tm* time) {
  LibcState* mine = state();
  return mine != nullptr ? asctime_r(time, mine->time_text) : next_asctime(time);
}

char* host_ctime(const time_t* time) {
  if (state() == nullptr) return next_ctime(time);
  const tm* broken_down = host_localtime(time);
  return broken_down != nullptr ? host_asctime(broken_down) : nullptr;
}
}

}  // namespace heddle::host
