// The state that libc keeps between two calls, where the standard defines it per process.
#pragma once

#include <stdlib.h>
#include <time.h>

#include <mutex>

namespace heddle::host {

struct LibcState {
  LibcState();

  std::mutex mutex;  // of the random numbers
  char random_words[128];
  random_data random{};
  drand48_data drand48{};

  char* strtok_rest = nullptr;
  char* option_rest = nullptr;  // getopt: the letters of a word that are still to be read
  int first_operand = 1;        // getopt: words before option_index that are no options
  int last_operand = 1;
  tm broken_down{};
  char time_text[64] = "";
};

}  // namespace heddle::host
