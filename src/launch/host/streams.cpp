#include "launch/host/streams.hpp"
#include "base/platform/next_function.hpp"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>

#include "launch/host/seat.hpp"

namespace heddle::host {

namespace {
constinit platform::Next<FILE*(int, const char*)> next_fdopen("fdopen");
constinit platform::Next<int(FILE*)> next_fflush("fflush");
}  // namespace

void Streams::open() {
  standard_[0] = next_fdopen(STDIN_FILENO, "r");
  standard_[1] = next_fdopen(STDOUT_FILENO, "w");
  standard_[2] = next_fdopen(STDERR_FILENO, "w");
  setvbuf(standard_[2], nullptr, _IONBF, 0);
  for (FILE* file : standard_) opened(file);
  publish();
}

void Streams::publish() {
  variables_.get<FILE*>(Variable::standard_input) = standard_[0];
  variables_.get<FILE*>(Variable::standard_output) = standard_[1];
  variables_.get<FILE*>(Variable::standard_error) = standard_[2];
}

void Streams::opened(FILE* file) {
  const std::lock_guard guard(mutex_);
  if (file != nullptr && std::ranges::find(files_, file) == files_.end()) files_.push_back(file);
}

void Streams::closed(FILE* file) {
  const std::lock_guard guard(mutex_);
  std::erase(files_, file);
}

void Streams::opened_command(FILE* file, pid_t child) {
  const std::lock_guard guard(mutex_);
  commands_.emplace_back(file, child);
}

pid_t Streams::command_of(FILE* file) {
  const std::lock_guard guard(mutex_);
  const auto found = std::ranges::find(commands_, file, &std::pair<FILE*, pid_t>::first);
  if (found == commands_.end()) return 0;
  const pid_t child = found->second;
  commands_.erase(found);
  return child;
}

FILE* Streams::own(FILE* file) {
  if (file == stdin) return in();
  if (file == stdout) return out();
  return file == stderr ? err() : file;
}

int Streams::flush() {
  const std::lock_guard guard(mutex_);
  int result = 0;
  for (FILE* file : files_) result |= next_fflush(file);
  return result;
}

namespace {

using Opener = FILE*(const char*, const char*);
using Reopener = FILE*(const char*, const char*, FILE*);

constinit platform::Next<Opener> next_fopen("fopen");
constinit platform::Next<Opener> next_fopen64("fopen64");
constinit platform::Next<Reopener> next_freopen("freopen");
constinit platform::Next<Reopener> next_freopen64("freopen64");
constinit platform::Next<FILE*()> next_tmpfile("tmpfile");
constinit platform::Next<FILE*()> next_tmpfile64("tmpfile64");
constinit platform::Next<int(FILE*)> next_fclose("fclose");
constinit platform::Next<int(FILE*)> next_fflush_unlocked("fflush_unlocked");
constinit platform::Next<int(FILE*)> next_ftrylockfile("ftrylockfile");
constinit platform::Next<void(FILE*)> next_funlockfile("funlockfile");

FILE* noted(FILE* file) {
  if (this_thread.seat != nullptr) this_thread.seat->streams.opened(file);
  return file;
}

void forget(FILE* file) {
  if (this_thread.seat != nullptr) this_thread.seat->streams.closed(file);
}

FILE* in() { return this_thread.seat != nullptr ? this_thread.seat->streams.in() : stdin; }
FILE* out() { return this_thread.seat != nullptr ? this_thread.seat->streams.out() : stdout; }
FILE* err() { return this_thread.seat != nullptr ? this_thread.seat->streams.err() : stderr; }

}  // namespace

// The functions of libc that know a standard stream by themselves, with the rank's stream; and those that open and close
// files. Each does what the function of that name does in libc.
extern "C" {

int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vfwprintf_chk(FILE*, int, const wchar_t*, va_list);
int __isoc99_vfscanf(FILE*, const char*, va_list);
int __isoc99_vfwscanf(FILE*, const wchar_t*, va_list);

[[gnu::visibility("default")]] int host_printf(const char*, ...) asm("printf");
[[gnu::visibility("default")]] int host_vprintf(const char*, va_list) asm("vprintf");
[[gnu::visibility("default")]] int host_printf_chk(int, const char*, ...) asm("__printf_chk");
[[gnu::visibility("default")]] int host_vprintf_chk(int, const char*, va_list) asm("__vprintf_chk");
[[gnu::visibility("default")]] int host_puts(const char*) asm("puts");
[[gnu::visibility("default")]] int host_putchar(int) asm("putchar");
[[gnu::visibility("default")]] int host_putchar_unlocked(int) asm("putchar_unlocked");
[[gnu::visibility("default")]] int host_wprintf(const wchar_t*, ...) asm("wprintf");
[[gnu::visibility("default")]] int host_vwprintf(const wchar_t*, va_list) asm("vwprintf");
[[gnu::visibility("default")]] int host_wprintf_chk(int, const wchar_t*, ...) asm("__wprintf_chk");
[[gnu::visibility("default")]] int host_vwprintf_chk(int, const wchar_t*, va_list) asm("__vwprintf_chk");
[[gnu::visibility("default")]] wint_t host_putwchar(wchar_t) asm("putwchar");
[[gnu::visibility("default")]] void host_perror(const char*) asm("perror");
[[gnu::visibility("default")]] int host_getchar() asm("getchar");
[[gnu::visibility("default")]] int host_getchar_unlocked() asm("getchar_unlocked");
[[gnu::visibility("default")]] wint_t host_getwchar() asm("getwchar");
[[gnu::visibility("default")]] int host_scanf(const char*, ...) asm("scanf");
[[gnu::visibility("default")]] int host_vscanf(const char*, va_list) asm("vscanf");
[[gnu::visibility("default")]] int host_isoc99_scanf(const char*, ...) asm("__isoc99_scanf");
[[gnu::visibility("default")]] int host_isoc99_vscanf(const char*, va_list) asm("__isoc99_vscanf");
[[gnu::visibility("default")]] int host_isoc99_wscanf(const wchar_t*, ...) asm("__isoc99_wscanf");
[[gnu::visibility("default")]] int host_fflush(FILE*) asm("fflush");
[[gnu::visibility("default")]] int host_fflush_unlocked(FILE*) asm("fflush_unlocked");
[[gnu::visibility("default")]] int host_ftrylockfile(FILE*) asm("ftrylockfile");
[[gnu::visibility("default")]] void host_funlockfile(FILE*) asm("funlockfile");
[[gnu::visibility("default")]] FILE* host_fopen(const char*, const char*) asm("fopen");
[[gnu::visibility("default")]] FILE* host_fopen64(const char*, const char*) asm("fopen64");
[[gnu::visibility("default")]] FILE* host_freopen(const char*, const char*, FILE*) asm("freopen");
[[gnu::visibility("default")]] FILE* host_freopen64(const char*, const char*, FILE*) asm("freopen64");
[[gnu::visibility("default")]] FILE* host_fdopen(int, const char*) asm("fdopen");
[[gnu::visibility("default")]] FILE* host_tmpfile() asm("tmpfile");
[[gnu::visibility("default")]] FILE* host_tmpfile64() asm("tmpfile64");
[[gnu::visibility("default")]] int host_fclose(FILE*) asm("fclose");

int host_printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = vfprintf(out(), format, arguments);
  va_end(arguments);
  return written;
}
int host_vprintf(const char* format, va_list arguments) { return vfprintf(out(), format, arguments); }
int host_printf_chk(int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = __vfprintf_chk(out(), flag, format, arguments);
  va_end(arguments);
  return written;
}
int host_vprintf_chk(int flag, const char* format, va_list arguments) {
  return __vfprintf_chk(out(), flag, format, arguments);
}
int host_puts(const char* text) {
  FILE* file = out();
  flockfile(file);
  const int good = fputs_unlocked(text, file) >= 0 && putc_unlocked('\n', file) != EOF;
  funlockfile(file);
  return good != 0 ? 1 : EOF;
}
int host_putchar(int c) { return fputc(c, out()); }
int host_putchar_unlocked(int c) { return fputc_unlocked(c, out()); }

int host_wprintf(const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = vfwprintf(out(), format, arguments);
  va_end(arguments);
  return written;
}
int host_vwprintf(const wchar_t* format, va_list arguments) { return vfwprintf(out(), format, arguments); }
int host_wprintf_chk(int flag, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int written = __vfwprintf_chk(out(), flag, format, arguments);
  va_end(arguments);
  return written;
}
int host_vwprintf_chk(int flag, const wchar_t* format, va_list arguments) {
  return __vfwprintf_chk(out(), flag, format, arguments);
}
wint_t host_putwchar(wchar_t c) { return fputwc(c, out()); }

void host_perror(const char* text) {
  char room[256];
  const char* problem = strerror_r(errno, room, sizeof room);
  const bool prefixed = text != nullptr && *text != '\0';
  fprintf(err(), "%s%s%s\n", prefixed ? text : "", prefixed ? ": " : "", problem);
}

int host_getchar() { return fgetc(in()); }
int host_getchar_unlocked() { return fgetc_unlocked(in()); }
wint_t host_getwchar() { return fgetwc(in()); }
int host_scanf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int read = vfscanf(in(), format, arguments);
  va_end(arguments);
  return read;
}
int host_vscanf(const char* format, va_list arguments) { return vfscanf(in(), format, arguments); }
int host_isoc99_scanf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int read = __isoc99_vfscanf(in(), format, arguments);
  va_end(arguments);
  return read;
}
int host_isoc99_vscanf(const char* format, va_list arguments) { return __isoc99_vfscanf(in(), format, arguments); }
int host_isoc99_wscanf(const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int read = __isoc99_vfwscanf(in(), format, arguments);
  va_end(arguments);
  return read;
}

// All files are all of the rank's.
int host_fflush(FILE* file) {
  if (this_thread.seat == nullptr) return next_fflush(file);
  return file == nullptr ? this_thread.seat->streams.flush() : next_fflush(this_thread.seat->streams.own(file));
}
int host_fflush_unlocked(FILE* file) {
  if (this_thread.seat == nullptr) return next_fflush_unlocked(file);
  return file == nullptr ? this_thread.seat->streams.flush()
                         : next_fflush_unlocked(this_thread.seat->streams.own(file));
}
int host_ftrylockfile(FILE* file) {
  return next_ftrylockfile(this_thread.seat != nullptr ? this_thread.seat->streams.own(file) : file);
}
void host_funlockfile(FILE* file) {
  next_funlockfile(this_thread.seat != nullptr ? this_thread.seat->streams.own(file) : file);
}

FILE* host_fopen(const char* path, const char* mode) { return noted(next_fopen(path, mode)); }
FILE* host_fopen64(const char* path, const char* mode) { return noted(next_fopen64(path, mode)); }
FILE* host_fdopen(int fd, const char* mode) { return noted(next_fdopen(fd, mode)); }
FILE* host_tmpfile() { return noted(next_tmpfile()); }
FILE* host_tmpfile64() { return noted(next_tmpfile64()); }
FILE* host_freopen(const char* path, const char* mode, FILE* file) {
  FILE* reopened = next_freopen(path, mode, file);
  if (reopened == nullptr) forget(file);
  return reopened;
}
FILE* host_freopen64(const char* path, const char* mode, FILE* file) {
  FILE* reopened = next_freopen64(path, mode, file);
  if (reopened == nullptr) forget(file);
  return reopened;
}
int host_fclose(FILE* file) {
  forget(file);
  return next_fclose(file);
}
}

}  // namespace heddle::host
