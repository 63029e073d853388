// A safety model: the means that keep a rank's VNIs correct when many threads enter them, as four choices (see docs/adr
// and the table of presets in messaging/engine/presets.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace heddle::safety {

enum class Lock : std::uint8_t {
  none,
  reserved,
  mutex,
  futex,
  tas,
  ttas,
  ticket,
  clh,
  mcs,
  hmcs2,
  hmcs3,
  cohort,
  p_clh,
  clhub,
  hclhub
};
enum class Submission : std::uint8_t { wait, csync, lockq, offload, inject, flux, split };
enum class Waiting : std::uint8_t { contend, contend_low, backoff, usc, ksc, flag, adaptive };

struct Model {
  std::string name;  // of the preset, or the composition as it was written
  int vnis = 1;      // communicators are mapped to them in turn; 0: two for each core of a rank, up to most_own_vnis
  Lock lock = Lock::futex;
  Submission submission = Submission::wait;
  Waiting waiting = Waiting::adaptive;
  std::string strategy{};  // of the outbox; messaging/message/outbox/ knows the valid names; empty: none is named
  // The VNIs over which the messages of one communicator are spread by tag, a power of two (messaging/p2p/lanes.hpp). 1: each communicator
  // has one VNI. 0, of the model `auto` alone, with any number of VNIs and any strategy: as many as there are VNIs, rounded down, if the
  // program has requested MPI_THREAD_MULTIPLE.
  int lanes = 1;

  bool same_parts(const Model& other) const {
    return lock == other.lock && submission == other.submission && waiting == other.waiting;
  }
};

inline constexpr int most_vnis = 64;
inline constexpr int several_vnis = 4;  // the default of presets with N VNIs without `vnis=`
// The same for models whose number follows from the cores: the others are left to communicators that request VNIs.
inline constexpr int most_own_vnis = 32;

// True if several threads may be in the library at once.
bool is_safe(const Model& model);

// Names as HEDDLE_MODEL spells them.
std::string_view name_of(Lock lock);
std::string_view name_of(Submission submission);
std::string_view name_of(Waiting waiting);

// Applies a composition on top of `model`: "vnis=4,lock=hmcs3,submit=lockq,wait=usc,strategy=direct", any part of it,
// in any order. A failure: a word is unknown, or the parts can't work together.
Result<Model> parse_composition(std::string_view text, Model model);

}  // namespace heddle::safety
