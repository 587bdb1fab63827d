#include "tlaloc/llm/stop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tlaloc/base/error.h"

namespace tlaloc::llm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(StopStrings, HoldsBackWhatMayBecomeOne) {
  StopStrings stop({"END"});
  EXPECT_EQ(stop.push("some E"), "some ");
  EXPECT_EQ(stop.push("N"), "");
  EXPECT_EQ(stop.push("E"), "EN");
  EXPECT_EQ(stop.push("ND and"), "");
  EXPECT_TRUE(stop.stopped());
  EXPECT_EQ(stop.stopped_by(), "END");
  EXPECT_EQ(stop.push("more"), "");
  EXPECT_EQ(stop.finish(), "");
}

TEST(StopStrings, GivesWhatWasHeldBack) {
  StopStrings stop({"\n\n", "\n-"});
  EXPECT_EQ(stop.push("a\n"), "a");
  EXPECT_EQ(stop.finish(), "\n");
  EXPECT_FALSE(stop.stopped());
}

TEST(StopStrings, TheFirstToEnd) {
  StopStrings inner({"abcd", "bc"});
  EXPECT_EQ(inner.push("xabcd"), "xa");
  EXPECT_EQ(inner.stopped_by(), "bc");
  // Of those that end at one place, the one that begins first.
  StopStrings longer({"bc", "abc"});
  EXPECT_EQ(longer.push("xabc"), "x");
  EXPECT_EQ(longer.stopped_by(), "abc");
}

TEST(StopStrings, NoneIsNoHindrance) {
  StopStrings stop({});
  EXPECT_EQ(stop.push("text"), "text");
  EXPECT_EQ(stop.finish(), "");
}

TEST(StopStrings, NeverGivesHalfACharacter) {
  // The stop string's first bytes are those of other characters.
  StopStrings stop({"\u00e9!"});
  EXPECT_EQ(stop.push("a\u00e9"), "a");
  EXPECT_EQ(stop.push("\u00e8"), "\u00e9\u00e8");
}

TEST(StopStrings, Refuses) {
  EXPECT_THAT([] { StopStrings({"x", ""}); },
              ThrowsMessage<UserError>(HasSubstr("TL-GENERATE-001: generate: a stop string is "
                                                 "empty")));
  EXPECT_THAT([] { StopStrings({"\xc3"}); },
              ThrowsMessage<UserError>(HasSubstr("a stop string is no UTF-8")));
}

/// Where the text ends by the definition, looking at all of it.
std::string cut(const std::string& text, const std::vector<std::string>& strings) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    std::size_t begin = end;
    for (const std::string& s : strings) {
      if (text.substr(0, end).ends_with(s)) begin = std::min(begin, end - s.size());
    }
    if (begin < end) return text.substr(0, begin);
  }
  return text;
}
/// How much of the end of `text` begins a stop string.
std::size_t open(const std::string& text, const std::vector<std::string>& strings) {
  std::size_t most = 0;
  for (const std::string& s : strings) {
    for (std::size_t n = 1; n < s.size(); ++n) {
      if (text.ends_with(s.substr(0, n))) most = std::max(most, n);
    }
  }
  return most;
}

TEST(StopStrings, RandomPieces) {
  std::mt19937 random(4);
  auto word = [&](std::size_t most) {
    std::string s(random() % most + 1, 'a');
    for (char& c : s) c = static_cast<char>('a' + random() % 2);
    return s;
  };
  int stops = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> strings(random() % 3 + 1);
    for (std::string& s : strings) s = word(7);
    StopStrings stop(strings);
    std::string text, given;
    for (int piece = 0; piece < 6 && !stop.stopped(); ++piece) {
      const std::string next = word(5);
      text += next;
      given += stop.push(next);
      if (!stop.stopped()) {
        ASSERT_EQ(given, text.substr(0, text.size() - open(text, strings)));
      }
    }
    given += stop.finish();
    ASSERT_EQ(given, cut(text, strings));
    ASSERT_EQ(stop.stopped(), given != text);
    stops += stop.stopped();
  }
  EXPECT_GT(stops, 200);
  EXPECT_LT(stops, 1990);
}

}  // namespace
}  // namespace tlaloc::llm
