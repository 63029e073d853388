// The messages of PMI-1 and PMI-2 ("simple PMI"), as MPICH's Hydra, Intel's, Slurm and Flux speak them over a socket.
//
// Source: P. Balaji et al., "PMI: A Scalable Parallel Process-Management Interface for Extreme-Scale Systems", EuroMPI
// 2010; the wire protocol is written down in MPICH's wiki (PMI v2 wire protocol).
//   PMI-1: a line of words KEY=VALUE, the first cmd=NAME.
//   PMI-2: six digits with the length of what follows, which is KEY=VALUE; again and again; a semicolon in a value is doubled.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heddle::boot {

enum class PmiVersion : int { one = 1, two = 2 };

class PmiMessage {
 public:
  PmiMessage() = default;
  explicit PmiMessage(std::string command) { add("cmd", std::move(command)); }

  PmiMessage& add(std::string key, std::string value) {
    words_.emplace_back(std::move(key), std::move(value));
    return *this;
  }
  // Empty: the message does not contain it.
  std::string_view at(std::string_view key) const;
  std::string_view command() const { return at("cmd"); }
  // A whole number that fits; nothing: there is none.
  std::optional<int> number(std::string_view key) const;
  // The success of an answer, as rc=0; without that word it is one.
  bool succeeded() const { return number("rc").value_or(0) == 0; }

  std::string encode(PmiVersion version) const;

  // Takes one message from the beginning of `bytes`; nothing: it is incomplete. `broken`: it never will be complete.
  static std::optional<PmiMessage> take(std::string& bytes, PmiVersion version, bool& broken);

  static constexpr std::size_t longest = 64 * 1024;

 private:
  std::vector<std::pair<std::string, std::string>> words_;
};

}  // namespace heddle::boot
