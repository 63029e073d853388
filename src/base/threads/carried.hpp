// The library's published state of a kernel thread (its current MPI call, objects/binding/call_scope.hpp), and the part of it
// that belongs to a user-level thread: removed while others run, and restored when it goes on. A thread that is
// suspended, rather than yielding, is counted meanwhile at its call.
#pragma once

#include <atomic>
#include <cstdint>

namespace heddle::threads {

struct Shown {
  // The kernel thread's word: the low 16 bits are the call, and 0 outside of one. Null: it has none.
  std::atomic<std::uint64_t>* call = nullptr;
  // The rank's counts, by call: in the low 32 bits how many user-level threads are suspended in it, in the others how often that
  // has changed.
  std::atomic<std::uint64_t>* suspended = nullptr;
};
inline constexpr std::uint64_t suspensions_change = std::uint64_t{1} << 32;

[[gnu::tls_model("initial-exec")]] inline constinit thread_local Shown shown;

class Carried {
 public:
  enum class Kind { in_turn, suspended };

  explicit Carried(Kind kind) : shown_(shown), call_(shown_.call != nullptr ? call_of(*shown_.call) : 0) {
    if (call_ == 0) return;
    set(*shown_.call, 0);
    if (kind == Kind::suspended) count_ = &shown_.suspended[call_];
    if (count_ != nullptr) count_->fetch_add(suspensions_change + 1, std::memory_order_relaxed);
  }
  // A thread that goes on in another kernel thread stays without: the end of its call would end the mark where it
  // began.
  ~Carried() {
    if (call_ == 0) return;
    if (count_ != nullptr) count_->fetch_add(suspensions_change - 1, std::memory_order_relaxed);
    if (here() == shown_.call) set(*shown_.call, call_);
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
  [[gnu::noinline]] static const std::atomic<std::uint64_t>* here() { return shown.call; }

  const Shown shown_;
  const std::uint16_t call_;
  std::atomic<std::uint64_t>* count_ = nullptr;
};

}  // namespace heddle::threads
