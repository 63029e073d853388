// The error classes, codes and strings that a program adds (MPI 5.0, section 9.5). One table a rank.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "base/threads/mutex.hpp"
#include "objects/object/error.hpp"

namespace heddle {

class ErrorTable {
 public:
  int add_class();
  Error add_code(int error_class, int& code);
  Error add_string(int code, const char* text);
  Error remove_class(int error_class);
  Error remove_code(int code);
  Error remove_string(int code);

  // The class of a code, of the standard or added; false if there is no such code.
  bool find_class(int code, int& error_class) const;
  // The text of a code, of the standard or added ("" until one is set); false if there is no such code.
  bool find_text(int code, std::string& text) const;

  // The value of the attribute MPI_LASTUSEDCODE: the largest code in use. Read through a pointer that users keep,
  // which is what the attribute is.
  int* last_used() { return &last_used_; }

 private:
  struct Entry {
    int error_class;  // its own number if it is a class
    int codes = 0;    // a class: how many codes it has
    std::string text;
  };
  int add(int error_class);
  void remove(int code);
  Error find_added(int code, const char* what, Entry*& entry);

  mutable threads::Mutex mutex_;
  std::map<int, Entry> added_;  // by code; a removed number is used again only if it was the last
  int last_used_ = MPI_ERR_LASTCODE;
};

}  // namespace heddle
