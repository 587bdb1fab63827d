#include "tlaloc/bounded/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/bounded/padding.h"

namespace tlaloc::bounded {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHash(64, 'a');

/// A program over two bounds.
Manifest example() {
  Manifest m;
  m.name = "f \"quoted\"";
  m.bounds = {{"n", 1, 40, {16, 40}}, {"k", 0, 3, {1, 2, 3}}};
  Input x{{"x", DType::f32, {{.bound = 0}, {.size = 3}, {.bound = 1}}}};
  x.padding = 0.5;
  m.inputs = {x,
              {{"mask", DType::boolean, {{.bound = 1}}}, Role::valid_mask, 1},
              {{"n", DType::i64, {}}, Role::valid_length, 0}};
  m.results = {{"", DType::bf16, {{.bound = 0}}}, {"sum", DType::f32, {}}};
  for (std::size_t k = 0; k < 6; ++k) {
    m.bodies.push_back({sizes_of_body(m.bounds, k), "body_" + std::to_string(k) + ".mlir", kHash});
  }
  m.check = {1e-5, 0.25e-6, {{1, 0}, {40, 3}}};
  return m;
}
std::string refusal(const std::string& text) {
  try {
    parse_manifest(text, "m.json");
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-BOUNDED-002") << e.what();
    return e.info().message;
  }
  ADD_FAILURE() << "nothing was thrown for " << text;
  return "";
}
/// The example with `from`, which it has, as `to`.
std::string changed(const std::string& from, const std::string& to) {
  std::string text = example().json();
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Manifest, ReadsWhatItWrites) {
  EXPECT_EQ(parse_manifest(example().json(), "m.json"), example());
}

/// The example with two arguments that a result each takes the memory of.
Manifest donating() {
  Manifest m = example();
  m.inputs.push_back({{"state", DType::f32, {}}});
  m.inputs.push_back({{"rows", DType::bf16, {{.bound = 0}}}});
  m.inputs[3].result = 1;
  m.inputs[4].result = 0;
  return m;
}

TEST(Manifest, SaysWhoseMemoryAResultTakes) {
  EXPECT_EQ(parse_manifest(donating().json(), "m.json"), donating());
  const auto refused = [](std::size_t input, std::size_t result) {
    Manifest m = donating();
    m.inputs[input].result = result;
    return refusal(m.json());
  };
  EXPECT_THAT(refused(3, 2), HasSubstr("inputs[3].result is none of the results"));
  EXPECT_THAT(refused(3, 0), HasSubstr("inputs[3].result is a result of another type"));
  EXPECT_THAT(refused(0, 0), HasSubstr("inputs[0].result is a result of another type"));
  EXPECT_THAT(refused(1, 0), HasSubstr("inputs[1] has \"result\", which is unknown"));
  Manifest m = donating();
  m.inputs.push_back(m.inputs[3]);
  EXPECT_THAT(refusal(m.json()), HasSubstr("inputs[5].result is that of another input, too"));
  std::string text = donating().json();
  text.replace(text.find("\"result\": 1"), 11, "\"result\": -1");
  EXPECT_THAT(refusal(text), HasSubstr("inputs[3].result is -1"));
}

TEST(Manifest, SaysAnyPaddingAndDifference) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const double x : {-inf, inf, -0.0, 1e300, 5e-324, 0.1, 3e9}) {
    Manifest m = example();
    m.inputs[0].dtype = DType::f64;
    m.inputs[0].padding = x;
    const double read = parse_manifest(m.json(), "m.json").inputs[0].padding;
    EXPECT_EQ(read, x);
    EXPECT_EQ(std::signbit(read), std::signbit(x)) << x;
  }
  Manifest m = example();
  for (const double x : {5.4321172708939123e-08, 8.287711428439318e-09, 1.1920928955078125e-07}) {
    m.check.largest_difference = x;
    EXPECT_EQ(parse_manifest(m.json(), "m.json"), m) << x;
  }
}

TEST(Manifest, TypesHoldTheirPadding) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(can_pad(DType::bf16, -inf) && can_pad(DType::f32, 0.1));
  EXPECT_FALSE(can_pad(DType::f64, std::nan("")) || can_pad(DType::f32, 1e300) ||
               can_pad(DType::f16, 70000));
  EXPECT_TRUE(can_pad(DType::u32, 3000000000) && can_pad(DType::i64, -0x1p53) &&
              can_pad(DType::i8, -128) && can_pad(DType::boolean, 1));
  EXPECT_FALSE(can_pad(DType::i32, 3000000000) || can_pad(DType::i64, 0.5) ||
               can_pad(DType::i64, 0x1p63) || can_pad(DType::u8, -1) || can_pad(DType::i8, 128) ||
               can_pad(DType::i32, inf) || can_pad(DType::i32, std::nan("")) ||
               can_pad(DType::boolean, 2));
}

TEST(Manifest, TypesHoldAllLengthsUpToTheLargest) {
  for (const auto& [type, largest] : {std::pair{DType::i8, 127LL},
                                      {DType::u8, 255LL},
                                      {DType::i16, 32767LL},
                                      {DType::u32, 4294967295LL},
                                      {DType::bf16, 256LL},
                                      {DType::f16, 2048LL},
                                      {DType::f32, 16777216LL}}) {
    EXPECT_EQ(largest_length(type), largest);
    EXPECT_EQ(valid_length(type, largest).element(0), static_cast<double>(largest));
    EXPECT_NE(valid_length(type, largest + 1).element(0), static_cast<double>(largest + 1));
  }
  for (const DType type : {DType::i64, DType::u64, DType::f64}) {
    EXPECT_EQ(largest_length(type), kMaxSize);
  }
  EXPECT_EQ(largest_length(DType::boolean), 0);
}

TEST(Manifest, ChoosesTheSmallestBody) {
  const Manifest m = example();
  EXPECT_EQ(m.body_for({1, 0}), 0u);
  EXPECT_EQ(m.body_for({16, 1}), 0u);
  EXPECT_EQ(m.body_for({16, 2}), 1u);
  EXPECT_EQ(m.body_for({17, 3}), 5u);
  EXPECT_THAT(m.bodies[5].sizes, ElementsAre(40, 3));
  EXPECT_THAT(m.extents(m.inputs[0], {7, 2}), ElementsAre(7, 3, 2));
}

TEST(Buckets, ArePowersOfTwoAndTheBound) {
  const auto buckets = [](std::int64_t least, std::int64_t most) {
    return default_buckets({"n", least, most, {}});
  };
  EXPECT_THAT(buckets(1, 100), ElementsAre(16, 32, 64, 100));
  EXPECT_THAT(buckets(1, 64), ElementsAre(16, 32, 64));
  EXPECT_THAT(buckets(1, 5), ElementsAre(5));
  EXPECT_THAT(buckets(30, 64), ElementsAre(32, 64));
  EXPECT_EQ(buckets(0, kMaxSize).size(), 37u);
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  for (const auto& [least, most] : {std::pair<std::int64_t, std::int64_t>{-1, 4},
                                    {-5, -3},
                                    {5, 4},
                                    {1, kMaxSize + 1},
                                    {1, kLargest}}) {
    EXPECT_THROW(buckets(least, most), UserError) << least << ", " << most;
  }
}

TEST(Manifest, RefusesWhatContradictsItself) {
  EXPECT_THAT(refusal("[]"), HasSubstr("is no object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("has no \"format\""));
  EXPECT_THAT(refusal(changed("tlaloc-bounded", "other")), HasSubstr("no manifest"));
  EXPECT_THAT(refusal(changed("\"version\": 1", "\"version\": 2")), HasSubstr("later Tlaloc"));
  EXPECT_THAT(refusal(changed("\"exceeded\": false", "\"exceeded\": 0")),
              HasSubstr("exceeded is not true or false"));
  EXPECT_THAT(refusal(changed("\"exceeded\"", "\"more\": 1, \"exceeded\"")),
              HasSubstr("\"more\", which is unknown"));
  EXPECT_THAT(refusal(changed("[16, 40]", "[40, 16]")), HasSubstr("bounds[0] is wrong"));
  EXPECT_THAT(refusal(changed("[16, 40]", "[16, 39]")), HasSubstr("end with 40"));
  EXPECT_THAT(refusal(changed("[16, 40]", "[16]")), HasSubstr("end with 40"));
  EXPECT_THAT(refusal(changed("\"least\": 1", "\"least\": 41")), HasSubstr("bounds[0].least"));
  EXPECT_THAT(refusal(changed("\"most\": 40", "\"most\": 9223372036854775807")),
              HasSubstr("bounds[0].most is 9223372036854775807"));
  EXPECT_THAT(refusal(changed("\"name\": \"k\"", "\"name\": \"n\"")), HasSubstr("another has"));
  EXPECT_THAT(refusal(changed("{\"bound\": \"n\"}", "{\"bound\": \"m\"}")),
              HasSubstr("inputs[0].axes[0].bound names no bound"));
  EXPECT_THAT(refusal(changed("{\"bound\": \"n\"}", "{\"size\": 4}")),
              HasSubstr("no axis that tells the size of n"));
  EXPECT_THAT(
      refusal(changed("{\"size\": 3}", "{\"size\": 1099511627776}, {\"size\": 1099511627776}")),
      HasSubstr("inputs[0].axes are too large"));
  EXPECT_THAT(refusal(changed("\"dtype\": \"f32\"", "\"dtype\": \"c64\"")),
              HasSubstr("inputs[0].dtype is no element type"));
  EXPECT_THAT(refusal(changed("\"role\": \"data\"", "\"role\": \"dat\"")), HasSubstr("unknown"));
  EXPECT_THAT(refusal(changed("\"role\": \"valid_mask\"", "\"role\": \"valid_length\"")),
              HasSubstr("its role does not have"));
  EXPECT_THAT(refusal(changed("\"sizes\": [16, 1]", "\"sizes\": [16, 2]")),
              HasSubstr("bodies[0].sizes are not those"));
  EXPECT_THAT(refusal(changed(kHash, "aa")), HasSubstr("bodies[0].sha256 is no SHA-256"));
  for (const char* padding : {"\"nan\"", "1e999", "\"0\"", "1e300"}) {
    EXPECT_THAT(refusal(changed("\"padding\": 0.5", std::string("\"padding\": ") + padding)),
                HasSubstr("inputs[0].padding is no number"));
  }
  EXPECT_THAT(refusal(changed("\"tolerance\": 1e-05", "\"tolerance\": -1")),
              HasSubstr("check.tolerance is negative"));
  Manifest m = example();
  m.bounds[0].most = m.bounds[0].buckets[1] = 2049;
  for (std::size_t k = 0; k < 6; ++k) m.bodies[k].sizes = sizes_of_body(m.bounds, k);
  m.inputs[2].dtype = DType::f16;
  EXPECT_THAT(refusal(m.json()), HasSubstr("inputs[2] has a type that does not hold all lengths"));
  for (const char* file : {"../body.mlir", "/body.mlir", ".body", "", "a b", "a\\\\b"}) {
    EXPECT_THAT(refusal(changed("body_0.mlir", file)), HasSubstr("no plain name")) << file;
  }
  std::string text = example().json();
  const std::size_t last = text.find("{\"sizes\": [40, 3]");
  text.erase(text.rfind(',', last), text.find('\n', last) - text.rfind(',', last));
  EXPECT_THAT(refusal(text), HasSubstr("not one for each combination"));
}

TEST(Manifest, BoundsThatAskForTooMuch) {
  // Buckets that combine to more bodies than anybody has.
  Manifest m = example();
  std::vector<std::int64_t> many;
  for (int i = 1; i <= 100; ++i) many.push_back(i);
  m.bounds[0] = {"n", 1, 100, many};
  m.bounds[1] = {"k", 1, 100, many};
  EXPECT_THAT(refusal(m.json()), HasSubstr("bounds are too many"));
  EXPECT_THROW(parse_manifest(std::string(100, '['), "m.json"), UserError);  // depth
}

}  // namespace
}  // namespace tlaloc::bounded
