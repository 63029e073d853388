#include "base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heddle {
namespace {

Result<int> number_in(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos)
    return refuse("'%s' is not a number", text.c_str());
  return std::stoi(text);
}

Result<void> check(const std::string& text) {
  const Result<int> number = number_in(text);
  if (!number) return number.failure();
  return {};
}

struct Base {
  virtual ~Base() = default;
};
struct Derived final : Base {};

Result<std::unique_ptr<Base>> make(bool fails) {
  if (fails) return Failure{.text = "rank 0 has no memory", .said_elsewhere = true};
  auto made = std::make_unique<Derived>();
  return made;  // a local of a type that converts is moved
}

TEST(Result, HasAValue) {
  const Result<int> number = number_in("12");
  ASSERT_TRUE(number);
  EXPECT_EQ(*number, 12);
  EXPECT_TRUE(check("0"));
}

TEST(Result, HasASentenceInsteadOfAValue) {
  EXPECT_EQ(number_in("x").failure().text, "'x' is not a number");
  EXPECT_FALSE(number_in("x").failure().said_elsewhere);
}

TEST(Result, PassesAFailureOnToAResultOfAnotherType) {
  const Result<void> checked = check("x");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.failure().text, "'x' is not a number");
}

TEST(Result, DropsAValueThatItsCallerNeedsNot) {
  const Result<void> good = number_in("1"), bad = number_in("x");
  EXPECT_TRUE(good);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.failure().text, "'x' is not a number");
}

TEST(Result, CutsNoSentenceShort) {
  const std::string long_text(3000, 'x');
  EXPECT_EQ(number_in(long_text).failure().text, "'" + long_text + "' is not a number");
  EXPECT_EQ(refuse("%s", "").text, "");
}

TEST(Result, HoldsWhatCanOnlyBeMoved) {
  Result<std::unique_ptr<Base>> made = make(false);
  ASSERT_TRUE(made);
  const std::unique_ptr<Base> taken = *std::move(made);
  EXPECT_NE(taken, nullptr);
}

TEST(Result, SaysWhetherAnotherRankReportsIt) {
  const Result<std::unique_ptr<Base>> made = make(true);
  ASSERT_FALSE(made);
  EXPECT_TRUE(made.failure().said_elsewhere);
}

// A null pointer and an empty text are values.
TEST(Result, TellsAnEmptyValueFromAFailure) {
  EXPECT_TRUE(Result<std::unique_ptr<Base>>(nullptr));
  const Result<std::string> text = std::string();
  ASSERT_TRUE(text);
  EXPECT_TRUE(text->empty());
}

TEST(Result, IsAssignedAndChanged) {
  struct Kept {
    std::string text;
  };
  Result<Kept> kept = Kept{"a"};
  kept->text += "b";
  EXPECT_EQ((*kept).text, "ab");
  kept = refuse("lost %d", 1);
  EXPECT_EQ(kept.failure().text, "lost 1");
}

}  // namespace
}  // namespace heddle
