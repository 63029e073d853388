// The common part of the tests of sync/. A kind of algorithm (lock, queue, ...) has one test body: a class template over the
// platform and the algorithm, with
//
//     Body(unsigned threads, unsigned rounds)
//     void thread(unsigned id)   what each of the threads does
//     void finish()              what must hold when all are done
//
// The body runs on every platform: under the checker (check_*.cpp), on real threads, and between processes.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/platform/platform.hpp"

namespace heddle::test {

// How a failed expectation ends a run; the checker has its own (engine.hpp).
template <class P>
struct Failure {
  [[noreturn]] static void raise(const char* what) {
    std::fprintf(stderr, "FAILED: %s\n", what);
    std::abort();
  }
};

template <class P>
void require(bool holds, const char* what) {
  if (!holds) Failure<P>::raise(what);
}

// A name that can be a template argument, so that a registration is one line.
template <std::size_t N>
struct Name {
  char text[N]{};
  constexpr Name(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr operator std::string_view() const { return {text, N - 1}; }
};

template <Name Label, class T>
struct Case {
  static constexpr std::string_view name = Label;
  using type = T;
};

template <class... Cases>
struct CaseList {
  template <class Visit>
  static void for_each(Visit visit) {
    (visit(Cases{}), ...);
  }
};

}  // namespace heddle::test
