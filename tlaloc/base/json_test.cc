#include "tlaloc/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <cstdlib>
#include <string>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

std::string error(std::string_view text, const JsonLimits& limits = {}) {
  try {
    parse_json(text, "file", limits);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}

TEST(Json, KeepsOrderAndIntegers) {
  const std::string text =
      R"({"b":[1,-2,18446744073709551615,2.5E0],"a":{"x":null,"":true},"é\u0000":"\ud83d\ude00"})";
  EXPECT_EQ(boost::json::serialize(parse_json(" " + text + "\n", "file")),
            "{\"b\":[1,-2,18446744073709551615,2.5E0],\"a\":{\"x\":null,\"\":true},"
            "\"é\\u0000\":\"😀\"}");
}

TEST(Json, ReadsDoublesToTheLastBit) {
  for (const char* text :
       {"5.4321172708939123e-08", "8.287711428439318e-09", "-5e-324", "1.7976931348623157e308",
        "123456789012345678901234567890", "8.9884656743115785e307", "0.1e-5"}) {
    EXPECT_EQ(parse_json(text, "file").get_double(), std::strtod(text, nullptr)) << text;
    EXPECT_EQ(parse_json("[" + std::string(text) + "]", "file").get_array()[0].get_double(),
              std::strtod(text, nullptr))
        << text;
  }
}

TEST(Json, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(error("{\n \"a\": x}"),
            "file:2:7: TL-JSON-001: json: syntax error; correct the file, or get it anew");
  for (const char* text : {"", "{", "[1,]", "{} {}", "{}x", "\xff", "\"\xff\"", "nan", "01", "'a'",
                           "// a\n1", "\"\\ud800\""}) {
    EXPECT_THAT(error(text), ::testing::HasSubstr("TL-JSON-001: json: ")) << text;
  }
  // The same key, although spelled differently; equal keys of other objects are none of its
  // business.
  EXPECT_THAT(error(R"({"a":{"b":1},"c":{"b":1,"\u0062":2}})"),
              ::testing::HasSubstr("an object has the key \"b\" twice"));
  EXPECT_EQ(error(R"({"a":{"b":1},"b":[{"b":1},{"b":1}]})"), "");
}

TEST(Json, StaysWithinItsLimits) {
  EXPECT_EQ(error("[[1]]", {.bytes = 5, .depth = 2}), "");
  EXPECT_THAT(error("[[1]]", {.bytes = 5, .depth = 1}), ::testing::HasSubstr("too deep"));
  EXPECT_THAT(error("[[1]]", {.bytes = 4, .depth = 2}),
              ::testing::HasSubstr("5 bytes of JSON, where at most 4 are read"));
  EXPECT_THAT(error(std::string(1 << 20, '[')), ::testing::HasSubstr("too deep"));
}

TEST(Json, EscapesWhatItMust) {
  EXPECT_EQ(json_quoted("a\"\\/\b\f\n\r\t\x01\x1f\x7f é"), R"("a\"\\/\b\f\n\r\t\u0001\u001f)"
                                                           "\x7f é\"");
}

}  // namespace
}  // namespace tlaloc
