#include "launch/boot/host_plan.hpp"

#include <concepts>
#include <type_traits>

#include "launch/boot/sequence.hpp"

namespace heddle::boot {

template <class Rank, class F>
requires std::same_as<std::remove_const_t<Rank>, HostedRank>
void for_each_field(Rank& rank, F& f) {
  f(rank.rank);
  f(rank.world_rank);
  f(rank.local_rank);
  f(rank.launcher);
  f(rank.in);
  f(rank.out);
  f(rank.err);
  f(rank.cpus);
}
template <class Plan, class F>
requires std::same_as<std::remove_const_t<Plan>, HostPlan>
void for_each_field(Plan& plan, F& f) {
  f(plan.program);
  f(plan.arguments);
  f(plan.environment);
  f(plan.private_libraries);
  f(plan.ranks);
}

std::string text_of_plan(const HostPlan& plan) { return to_text(plan); }
HostPlan plan_of_text(const std::string& text) { return from_text<HostPlan>(text, "the plan of the host"); }

}  // namespace heddle::boot
