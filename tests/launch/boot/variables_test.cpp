#include "launch/boot/variables.hpp"

#include <gtest/gtest.h>

#include <set>

#include "launch/boot/host_plan.hpp"
#include "launch/boot/job.hpp"

namespace heddle::boot {
namespace {

TEST(Variables, HaveNamesAndWords) {
  std::set<std::string_view> names;
  for (const Variable& one : variables) {
    EXPECT_TRUE(one.name.starts_with(variable_prefix)) << one.name;
    EXPECT_TRUE(names.insert(one.name).second) << one.name << " stands there twice";
    EXPECT_FALSE(one.values.empty()) << one.name;
    EXPECT_FALSE(one.help.empty() || one.help.ends_with('.')) << one.name;
    if (one.reader == Reader::launch)
      EXPECT_TRUE(one.by_default.empty()) << one.name;
    else
      EXPECT_FALSE(one.by_default.empty() && one.guide.empty()) << one.name;
  }
  for (const char* of_a_launch : {job_fd_variable, launcher_variable, rank_variable, size_variable, host_plan_variable})
    EXPECT_TRUE(names.contains(of_a_launch)) << of_a_launch;
}

TEST(Variables, KnownOnesAreNotComplainedAbout) {
  std::vector<std::string> names{"PATH", "HEDDLE", "HEDDLE_TEST_SEED", "HEDDLE_BENCH_RUN", "MY_HEDDLE_MODLE"};
  for (const Variable& one : variables) names.emplace_back(one.name);
  EXPECT_EQ(unknown_variables(names), "");
}

TEST(Variables, ASlipIsNamedWithTheVariableThatWasMeant) {
  const std::pair<const char*, const char*> slips[] = {
      {"HEDDLE_MODLE", "HEDDLE_MODEL"},          {"HEDDLE_model", "HEDDLE_MODEL"},
      {"HEDDLE_WAITS", "HEDDLE_WAIT"},           {"HEDDLE_REPROT", "HEDDLE_REPORT"},
      {"HEDDLE_SPLITCOPY", "HEDDLE_SPLIT_COPY"}, {"HEDDLE_THREAD", "HEDDLE_THREADS"},
      {"HEDDLE_BACKTRCE", "HEDDLE_BACKTRACE"},   {"HEDDLE_PROGES", "HEDDLE_PROGRESS"},
  };
  for (const auto& [slip, meant] : slips) {
    EXPECT_EQ(nearest_variable(slip), meant) << slip;
    const std::string sentence = unknown_variables({slip});
    EXPECT_NE(sentence.find(std::string(slip) + " (did you mean " + meant + "?)"), std::string::npos) << sentence;
  }
}

TEST(Variables, WhatResemblesNoneIsNotGuessed) {
  EXPECT_EQ(nearest_variable("HEDDLE_GIBBERISH"), "");
  EXPECT_EQ(nearest_variable("HEDDLE_"), "");
  EXPECT_EQ(nearest_variable("HEDDLE_SIZES"), "");  // a launcher's is near, which users may not set
  const std::string sentence = unknown_variables({"HEDDLE_GIBBERISH", "HEDDLE_MODLE"});
  EXPECT_NE(sentence.find("HEDDLE_GIBBERISH, HEDDLE_MODLE (did you mean HEDDLE_MODEL?)"), std::string::npos)
      << sentence;
  EXPECT_NE(sentence.find("HEDDLE_MODEL, HEDDLE_WAIT"), std::string::npos)
      << "it names those that there are: " << sentence;
}

}  // namespace
}  // namespace heddle::boot
