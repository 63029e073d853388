// The valid and invalid values of HEDDLE_PROGRESS.
#include "base/progress/setting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace heddle::progress {
namespace {

std::string refusal(std::string_view text) {
  const Result<Setting> setting = parse_setting(text);
  return setting ? "" : setting.failure().text;
}

Setting parsed(std::string_view text) {
  EXPECT_EQ(refusal(text), "");
  return *parse_setting(text);
}

TEST(Setting, NothingIsTheDefault) {
  const Setting setting = parsed("");
  EXPECT_EQ(setting.help, Help::by_default);
  EXPECT_EQ(setting.deferral, Deferral::none);
}

TEST(Setting, HelpAlone) {
  EXPECT_EQ(parsed("off").help, Help::off);
  EXPECT_EQ(parsed("idle").help, Help::idle);
  EXPECT_EQ(parsed("idle").deferral, Deferral::none);
}

TEST(Setting, DeferralByEitherPath) {
  EXPECT_EQ(parsed("idle,defer=tasklet").deferral, Deferral::tasklet);
  EXPECT_EQ(parsed("idle,defer=direct").deferral, Deferral::direct);
  EXPECT_EQ(parsed("idle,defer=direct").from, deferred_bytes);
  EXPECT_EQ(parsed("idle,defer=direct,from=0").from, 0U);
  EXPECT_EQ(parsed("idle,from=512,defer=tasklet").from, 512U);
}

TEST(Setting, UnknownWords) {
  EXPECT_EQ(refusal("busy"), "'busy' is neither idle nor off");
  EXPECT_EQ(refusal("idle "), "'idle ' is neither idle nor off");
  EXPECT_EQ(refusal("defer=direct"), "'defer=direct' is neither idle nor off");
  EXPECT_EQ(refusal("idle,defer=later"), "defer=later is neither tasklet nor direct");
  EXPECT_EQ(refusal("idle,now"), "'now' is none of defer=tasklet, defer=direct, from=BYTES");
  EXPECT_EQ(refusal("idle,"), "'' is none of defer=tasklet, defer=direct, from=BYTES");
  EXPECT_EQ(refusal("idle,defer=direct,"), "'' is none of defer=tasklet, defer=direct, from=BYTES");
}

TEST(Setting, BytesAreANumber) {
  for (const std::string text : {"1k", "", "-1", "99999999999999999999"})
    EXPECT_EQ(refusal("idle,defer=direct,from=" + text), "from=" + text + " is not a number of bytes");
}

TEST(Setting, DeferralNeedsIdleCores) {
  EXPECT_EQ(refusal("off,defer=direct"), "defer= needs idle, since sends are deferred to idle cores");
}

TEST(Setting, ALengthNeedsDeferral) {
  EXPECT_EQ(refusal("idle,from=100"), "from= needs defer=, since it applies to deferred sends");
}

}  // namespace
}  // namespace heddle::progress
