// The table of info keys is well formed, and says which values a key allows.
#include "base/info_keys.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace heddle {
namespace {

TEST(InfoKeys, HaveAllThatTheReferenceShows) {
  std::set<std::string_view> names;
  for (const InfoKey& key : info_keys) {
    EXPECT_TRUE(names.insert(key.name).second) << key.name << " stands in the table twice";
    EXPECT_NE(key.readers, InfoReader{}) << key.name << " has no reader";
    EXPECT_FALSE(key.values.empty()) << key.name << " has no values";
    EXPECT_FALSE(key.help.empty() || key.help.ends_with('.')) << key.name << ": one sentence without a full stop";
    EXPECT_EQ(find_info_key(key.name), &key);
  }
  EXPECT_EQ(find_info_key("no_such_key"), nullptr);
}

TEST(InfoKeys, EveryReaderHasCallsAndKeys) {
  InfoReader named{};
  for (const InfoCalls& one : info_calls) {
    named = named | one.reader;
    EXPECT_FALSE(one.calls.empty());
    EXPECT_TRUE(std::ranges::any_of(info_keys, [&](const InfoKey& key) { return key.is_read_by(one.reader); }))
        << one.name;
  }
  for (const InfoKey& key : info_keys)
    EXPECT_EQ(key.readers | named, named) << key.name << " has a reader without calls";
}

TEST(InfoKeys, AllowTheWordsOfTheirValues) {
  constexpr InfoKey words{"k", InfoReader::file, "automatic|enable|disable", "", ""};
  for (const std::string_view word : {"automatic", "enable", "disable"}) EXPECT_TRUE(words.allows(word));
  for (const std::string_view word : {"", "able", "enable|disable", "disabled"}) EXPECT_FALSE(words.allows(word));
  constexpr InfoKey text{"k", InfoReader::file, "BYTES|never", "", ""};
  EXPECT_TRUE(text.allows("4096"));
}

}  // namespace
}  // namespace heddle
