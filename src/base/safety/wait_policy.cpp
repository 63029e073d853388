#include "base/safety/wait_policy.hpp"

#include <algorithm>
#include <charconv>

#include "base/safety/sleep.hpp"

namespace heddle::safety {

namespace {

using Kind = WaitPolicy::Kind;

constexpr std::string_view spin_for = "spin:";

std::string microseconds(std::int64_t nanoseconds) { return std::to_string((nanoseconds + 500) / 1000) + " us"; }

bool parse_time(std::string_view text, std::int64_t& nanoseconds) {
  int microseconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), microseconds);
  nanoseconds = std::int64_t{microseconds} * 1000;
  return error == std::errc() && end == text.data() + text.size() && microseconds >= 1 && microseconds <= longest_spin;
}

bool polls_by_itself(const Model& model) {
  return model.waiting != Waiting::adaptive && model.waiting != Waiting::flag;
}

std::string_view name_of(Kind kind) {
  switch (kind) {
    case Kind::busy:
      return "busy";
    case Kind::passive:
      return "passive";
    case Kind::spin:
      return "spin";
    case Kind::model:
      break;
  }
  return "auto";
}

}  // namespace

Result<WaitPolicy> parse_wait_policy(std::string_view text) {
  WaitPolicy policy;
  if (text.empty()) return policy;
  for (const Kind kind : {Kind::model, Kind::busy, Kind::passive, Kind::spin}) {
    if (text != name_of(kind)) continue;
    policy.kind = kind;
    return policy;
  }
  if (!text.starts_with(spin_for)) return refuse("is none of auto, busy, passive, spin and spin:MICROSECONDS");
  policy.kind = Kind::spin;
  if (parse_time(text.substr(spin_for.size()), policy.spin)) return policy;
  return refuse("has no whole number of microseconds from 1 to %d", longest_spin);
}

Result<void> suits(const WaitPolicy& policy, const Model& model) {
  if (model.waiting == Waiting::usc && policy.may_sleep())
    return refuse("is not supported with wait=usc, whose waiters spin on their counters; those of wait=ksc sleep");
  if (model.waiting == Waiting::ksc && policy.kind == Kind::busy)
    return refuse("is not supported with wait=ksc, whose waiters sleep on their counters; those of wait=usc spin");
  return {};
}

std::int64_t spin_time(const WaitPolicy& policy, std::int64_t wake_up, Reach reach) {
  if (policy.kind == Kind::passive) return 0;
  if (policy.spin != 0) return policy.spin;
  const std::int64_t on_one_node = std::clamp(wake_ups_per_spin * wake_up, shortest_spin_budget, longest_spin_budget);
  return reach == Reach::several_nodes ? between_nodes * on_one_node : on_one_node;
}

bool never_sleep(const WaitPolicy& policy, const Model& model) {
  return policy.kind == Kind::busy || (policy.kind == Kind::model && polls_by_itself(model));
}

std::string describe(const WaitPolicy& policy, const Model& model, std::int64_t spinning, std::int64_t wake_up) {
  std::string text(name_of(policy.kind));
  if (never_sleep(policy, model)) {
    text += " (never blocks";
  } else if (policy.kind == Kind::passive) {
    text += " (blocks after one poll";
  } else {
    text += " (spins for " + microseconds(spinning);
  }
  return text + "; a wake-up costs " + microseconds(wake_up) + " here)";
}

}  // namespace heddle::safety
