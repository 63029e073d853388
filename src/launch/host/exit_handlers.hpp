// The actions of a rank at exit: the functions that it gave to atexit and the like, and the destructors of its static
// objects.
#pragma once

#include <mutex>
#include <vector>

namespace heddle::host {

struct ExitHandler {
  enum class Takes : unsigned char { argument, status_and_argument };
  void (*function)();
  void* argument;
  void* library;  // the __dso_handle of the image that it belongs to
  Takes takes;
};

class ExitHandlers {
 public:
  void add(const ExitHandler& handler);
  void add_quick(const ExitHandler& handler);
  // The newest first; those that are added meanwhile too.
  void run(int status);
  void run_of(void* library);
  void run_quick();

 private:
  bool take(std::vector<ExitHandler>& from, void* library, ExitHandler& handler);

  std::mutex mutex_;
  std::vector<ExitHandler> handlers_;
  std::vector<ExitHandler> quick_;
};

// Ends the rank of the calling thread, as exit() and _exit() end a process.
[[noreturn]] void exit_rank(int code);
[[noreturn]] void exit_rank_at_once(int code);

}  // namespace heddle::host
