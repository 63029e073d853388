// The valid and invalid values of HEDDLE_MODEL.
#include "base/safety/model.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::safety {
namespace {

std::string refusal(std::string_view text, const Model& model = {}) {
  const Result<Model> parsed = parse_composition(text, model);
  return parsed ? "" : parsed.failure().text;
}

Model parsed(std::string_view text, const Model& model = {}) {
  EXPECT_EQ(refusal(text, model), "");
  return *parse_composition(text, model);
}

TEST(Model, EveryPartCanBeNamed) {
  const Model model = parsed("wait=usc,vnis=4,submit=lockq,lock=hmcs3");
  EXPECT_EQ(model.vnis, 4);
  EXPECT_EQ(model.lock, Lock::hmcs3);
  EXPECT_EQ(model.submission, Submission::lockq);
  EXPECT_EQ(model.waiting, Waiting::usc);
}

TEST(Model, SplitNeedsItsLocks) {
  EXPECT_EQ(refusal("submit=split,lock=ticket"), "");
  EXPECT_EQ(refusal("submit=split,lock=none"), "submit=split needs two locks");
}

TEST(Model, WhatIsNotNamedStays) {
  Model before;
  before.vnis = 7;
  before.lock = Lock::clh;
  const Model model = parsed("wait=contend", before);
  EXPECT_EQ(model.vnis, 7);
  EXPECT_EQ(model.lock, Lock::clh);
}

TEST(Model, NamesAreThoseThatAreParsed) {
  for (const std::string word : {"none", "reserved", "mutex", "futex", "tas", "ttas", "ticket", "clh", "mcs", "hmcs2",
                                 "hmcs3", "cohort", "p-clh", "clhub", "hclhub"})
    EXPECT_EQ(name_of(parsed("lock=" + word).lock), word);
}

TEST(Model, ModelsWithoutALockBringTheirOwnWay) {
  const Model model = parsed("submit=offload");
  EXPECT_EQ(model.lock, Lock::none);
  EXPECT_EQ(model.waiting, Waiting::flag);
  EXPECT_TRUE(is_safe(model));
}

TEST(Model, OnlyNoLockAtAllIsUnsafe) {
  Model model;
  EXPECT_TRUE(is_safe(model));
  model.lock = Lock::none;
  EXPECT_FALSE(is_safe(model));
  model.submission = Submission::csync;
  EXPECT_TRUE(is_safe(model));
}

TEST(Model, UnknownWordsAreRefusedWithThoseThatAreKnown) {
  EXPECT_NE(refusal("lock=velcro").find("mcs"), std::string::npos);
  EXPECT_NE(refusal("weave=tight").find("submit"), std::string::npos);
  EXPECT_NE(refusal("mcs").find("part=choice"), std::string::npos);
  for (const char* number : {"vnis=0", "vnis=65", "vnis=-1", "vnis=four", "vnis=", "vnis=4x"})
    EXPECT_NE(refusal(number).find("1 to 64"), std::string::npos) << number;
  for (const char* number : {"lanes=0", "lanes=6", "lanes=128", "lanes=-2", "lanes=two", "lanes="})
    EXPECT_NE(refusal(number).find("power of two from 1 to 64"), std::string::npos) << number;
}

TEST(Model, PartsThatCannotWorkTogetherAreRefused) {
  EXPECT_NE(refusal("wait=flag").find("submit=offload"), std::string::npos);
  EXPECT_NE(refusal("submit=offload,wait=usc").find("wait=flag"), std::string::npos);
  EXPECT_NE(refusal("submit=csync,lock=mcs").find("lock=mcs"), std::string::npos);
  EXPECT_NE(refusal("lock=mcs,wait=contend-low").find("two classes"), std::string::npos);
  EXPECT_NE(refusal("submit=lockq,lock=none").find("lock"), std::string::npos);
  EXPECT_NE(refusal("submit=flux,lanes=8").find("submit=flux"), std::string::npos);
  EXPECT_EQ(refusal("lock=p-clh,wait=contend-low"), "");
  EXPECT_EQ(refusal("lanes=8"), "");
}

}  // namespace
}  // namespace heddle::safety
