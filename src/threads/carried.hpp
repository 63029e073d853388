// What the library says of a kernel thread from outside (which MPI call it is in, binding/call_scope.hpp), and what of that
// belongs to a user-level thread: it is taken away while that is suspended, and put back when it goes on.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::threads {

// The word of the calling kernel thread: the low 16 bits are the call, and 0 outside of one. Null: it has none.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::atomic<std::uint64_t>* call_word = nullptr;

class Carried {
 public:
  Carried() : word_(call_word), call_(word_ != nullptr ? call_of(*word_) : 0) {
    if (call_ != 0) set(*word_, 0);
  }
  // A thread that goes on in another kernel thread stays without: what marks its call would end the mark where it began.
  ~Carried() {
    if (call_ != 0 && here() == word_) set(*word_, call_);
  }
  Carried(const Carried&) = delete;
  Carried& operator=(const Carried&) = delete;

 private:
  static std::uint16_t call_of(const std::atomic<std::uint64_t>& word) {
    return static_cast<std::uint16_t>(word.load(std::memory_order_relaxed));
  }
  static void set(std::atomic<std::uint64_t>& word, std::uint16_t call) {
    word.store((word.load(std::memory_order_relaxed) & ~std::uint64_t{0xffff}) | call, std::memory_order_relaxed);
  }
  // Out of line: the address of a thread-local must not be kept over a suspension.
  [[gnu::noinline]] static const std::atomic<std::uint64_t>* here() { return call_word; }

  std::atomic<std::uint64_t>* const word_;
  const std::uint16_t call_;
};

}  // namespace heddle::threads
