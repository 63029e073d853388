// The reason why the start of a job failed, as a sentence.
#pragma once

#include <cstdarg>
#include <cstdio>
#include <memory>

namespace heddle::boot {

struct Problem {
  char text[512] = "";
  bool said_elsewhere = false;  // another rank of the job knows it, too, and reports it
};

// Sets the reason why there is no World; returns null.
[[gnu::format(printf, 2, 3)]] inline std::nullptr_t refuse(Problem& problem, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(problem.text, sizeof problem.text, format, arguments);
  va_end(arguments);
  return nullptr;
}

}  // namespace heddle::boot
