#include "tlaloc/io/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/io/testdata/temporary_folder.h"

namespace tlaloc::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A file put together by hand.
class Bytes {
 public:
  template <class T>
  Bytes& number(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& text(const std::string& s) {
    number<std::uint64_t>(s.size());
    text_ += s;
    return *this;
  }
  Bytes& head(std::uint64_t tensors, std::uint64_t values, std::uint32_t version = 3) {
    text_ += "GGUF";
    return number(version).number(tensors).number(values);
  }
  Bytes& info(const std::string& name, const std::vector<std::uint64_t>& sizes, std::uint32_t type,
              std::uint64_t offset) {
    text(name).number(static_cast<std::uint32_t>(sizes.size()));
    for (std::uint64_t size : sizes) number(size);
    return number(type).number(offset);
  }
  Bytes& pad(std::size_t alignment = 32) {
    text_.append((alignment - text_.size() % alignment) % alignment, '\0');
    return *this;
  }
  Bytes& content(const std::string& s) {
    text_ += s;
    return *this;
  }
  const std::string& all() const { return text_; }

 private:
  std::string text_;
};

Gguf parse(const std::string& file) {
  return parse_gguf(std::as_bytes(std::span(file)), nullptr, "a");
}
std::string error(const std::string& file) {
  try {
    parse(file);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
std::string error(const Bytes& file) { return error(file.all()); }

constexpr std::uint32_t kF32 = 0, kQ8_0 = 8, kU32 = 4, kI32 = 5, kBool = 7, kText = 8, kList = 9;

// tests/io compares with the gguf package; here is what that does not write.
TEST(Gguf, TensorsMayLieInAnyOrder) {
  const std::string file = Bytes()
                               .head(3, 0)
                               .info("b", {2, 1}, kF32, 32)
                               .info("empty", {0}, kF32, 0)
                               .info("a", {32}, kQ8_0, 64)
                               .pad()
                               .content(std::string(32, 'x') + "01234567" + std::string(24, '.'))
                               .content(std::string(34, 'q'))
                               .all();
  const Gguf g = parse(file);
  ASSERT_EQ(g.tensors.tensors().size(), 3U);
  EXPECT_EQ(static_cast<const TensorSpec&>(g.tensors.tensors()[0]),
            (TensorSpec{"b", Storage::f32, {1, 2}}));
  EXPECT_EQ(reinterpret_cast<const char&>(g.tensors.at("b").bytes.front()), '0');
  EXPECT_EQ(g.tensors.at("a").bytes.size(), 34U);
  EXPECT_EQ(g.tensors.elements(), 34);
}

TEST(Gguf, RefusesWhatIsCutOff) {
  const std::string whole = Bytes()
                                .head(1, 3)
                                .text("k")
                                .number(kText)
                                .text("value")
                                .text("l")
                                .number(kList)
                                .number(kText)
                                .number<std::uint64_t>(2)
                                .text("a")
                                .text("b")
                                .text("n")
                                .number(kU32)
                                .number<std::uint32_t>(7)
                                .info("a", {2}, kF32, 0)
                                .pad()
                                .content("01234567")
                                .all();
  ASSERT_EQ(error(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error(whole.substr(0, size)), StartsWith("TL-GGUF-001: gguf: a at byte ")) << size;
  }
}

TEST(Gguf, RefusesCountsThatCantBe) {
  const auto huge = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t count : {huge, huge / 24, std::uint64_t{1} << 32}) {
    EXPECT_THAT(error(Bytes().head(count, 0).content(std::string(100, ' '))),
                HasSubstr("are left"));
    EXPECT_THAT(error(Bytes().head(0, count).content(std::string(100, ' '))),
                HasSubstr("are left"));
    for (const std::uint32_t type : {kU32, kText, kList, kBool}) {
      EXPECT_THAT(error(Bytes().head(0, 1).text("k").number(kList).number(type).number(count)),
                  HasSubstr("are left"));
    }
    EXPECT_THAT(error(Bytes().head(0, 1).number(count).content(std::string(100, ' '))),
                HasSubstr("the file is cut off"));
  }
  // Few too many.
  EXPECT_THAT(error(Bytes().head(5, 0).content(std::string(100, ' '))),
              HasSubstr("5 things of at least 24 bytes are due, and 108 bytes are left"));
  Bytes nested;
  nested.head(0, 1).text("k").number(kList);
  for (int i = 0; i < 100; ++i) nested.number(kList).number<std::uint64_t>(1);
  EXPECT_THAT(error(nested), HasSubstr("lists are nested too deep"));
}

TEST(Gguf, RefusesTensorsByName) {
  auto one = [](const std::vector<std::uint64_t>& sizes, std::uint32_t type, std::uint64_t offset) {
    return error(Bytes().head(1, 0).info("t", sizes, type, offset).pad().content("01234567"));
  };
  EXPECT_EQ(one({2}, kF32, 0), "");
  EXPECT_THAT(one({3}, kF32, 0), HasSubstr("tensor 't', F32[3], takes 12 bytes at 0 of 8"));
  EXPECT_THAT(one({1}, kF32, 32), HasSubstr("takes 4 bytes at 32 of 8: the file is cut off"));
  EXPECT_THAT(one({1}, kF32, 4), HasSubstr("at 4, which is not aligned to 32"));
  EXPECT_THAT(one({1}, kF32, ~std::uint64_t{31}), HasSubstr("the file is cut off"));
  EXPECT_THAT(one({33}, kQ8_0, 0), HasSubstr("Q8_0[33], fills no whole blocks"));
  EXPECT_THAT(one({}, kQ8_0, 0), HasSubstr("fills no whole blocks"));
  EXPECT_THAT(one({std::uint64_t{1} << 40, std::uint64_t{1} << 40}, kF32, 0),
              HasSubstr("more than 63 bits count"));
  EXPECT_THAT(one({~std::uint64_t{0}}, kF32, 0), HasSubstr("'t' is too large"));
  EXPECT_THAT(one(std::vector<std::uint64_t>(13, 1), kF32, 0), HasSubstr("'t' has 13 axes"));
  EXPECT_THAT(one({2}, 99, 0), StartsWith("TL-GGUF-002: gguf: a: tensor 't' has the type 99, which "
                                          "is not known"));
  for (const auto& [type, name] :
       {std::pair(4U, "Q4_2"), std::pair(33U, "Q4_0_8_8"), std::pair(36U, "IQ4_NL_4_4")}) {
    EXPECT_THAT(one({2}, type, 0), HasSubstr(", " + std::string(name) + ", which ggml has no"));
  }
  EXPECT_THAT(error(Bytes()
                        .head(2, 0)
                        .info("t", {9}, kF32, 0)
                        .info("u", {1}, kF32, 32)
                        .pad()
                        .content(std::string(64, '.'))),
              HasSubstr("tensors 't' and 'u' overlap"));
  EXPECT_THAT(error(Bytes()
                        .head(2, 0)
                        .info("t", {1}, kF32, 0)
                        .info("t", {1}, kF32, 32)
                        .pad()
                        .content(std::string(64, '.'))),
              HasSubstr("TL-GGUF-001: tensors: a has two tensors 't'"));
  EXPECT_THAT(error(Bytes().head(1, 0).info("\xff", {1}, kF32, 0)), HasSubstr("no UTF-8"));
}

TEST(Gguf, NamesFilesOfOtherKinds) {
  auto file = [](const std::string& start) { return error(start + std::string(40, ' ')); };
  EXPECT_THAT(file("PK\x03\x04"),
              StartsWith("TL-GGUF-001: gguf: a at byte 4: this is a ZIP archive"));
  EXPECT_THAT(file("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(file("<!DOCTYPE html>"), HasSubstr("a page of HTML"));
  EXPECT_THAT(file(std::string("\x10\0\0\0\0\0\0\0{\"a\":", 13)),
              HasSubstr("a safetensors file, where a GGUF file is due; open it as safetensors"));
  EXPECT_THAT(file("PK"), HasSubstr("this is no GGUF file; get the file anew"));
}

TEST(Gguf, RefusesMetadataByName) {
  auto one = [](const std::string& key, auto type, auto value) {
    return error(Bytes().head(0, 1).text(key).number<std::uint32_t>(type).number(value));
  };
  EXPECT_EQ(one("k", kBool, std::uint8_t{1}), "");
  EXPECT_THAT(one("k", kBool, std::uint8_t{2}), HasSubstr("a bool is neither 0 nor 1"));
  EXPECT_THAT(one("k", 13, 0), StartsWith("TL-GGUF-002: gguf: a: metadata has the type 13"));
  EXPECT_THAT(one("\xff", kBool, std::uint8_t{1}), HasSubstr("no UTF-8"));
  for (const std::uint32_t alignment : {0U, 3U, 1U << 21}) {
    EXPECT_THAT(one("general.alignment", kU32, alignment), HasSubstr("no u32 that is a power"));
  }
  EXPECT_THAT(one("general.alignment", kBool, std::uint8_t{1}), HasSubstr("no u32 that is a"));
  EXPECT_THAT(one("split.count", kU32, std::uint32_t{3}),
              StartsWith("TL-GGUF-002: gguf: a: this is one of 3 parts of a model"));
  EXPECT_EQ(one("split.count", kU32, std::uint32_t{1}), "");
  EXPECT_THAT(one("split.count", kI32, std::int32_t{-1}), HasSubstr("split.count is -1"));
  EXPECT_THAT(one("split.count", kBool, std::uint8_t{1}),
              StartsWith("TL-GGUF-003: gguf: a: split.count is of the type bool, where"));
  EXPECT_THAT(error(Bytes()
                        .head(0, 2)
                        .text("k")
                        .number(kU32)
                        .number(std::uint32_t{1})
                        .text("k")
                        .number(kU32)
                        .number(std::uint32_t{1})),
              HasSubstr("the key 'k' occurs twice"));
}

TEST(Gguf, RefusesOtherVersions) {
  EXPECT_EQ(error(Bytes().head(0, 0, 2)), "");
  EXPECT_THAT(error(Bytes().head(0, 0, 1)), StartsWith("TL-GGUF-002: gguf: a: version 1, where"));
  EXPECT_THAT(error(Bytes().head(0, 0, 4)), HasSubstr("version 4"));
  EXPECT_THAT(error(Bytes().head(0, 0, 3U << 24)), HasSubstr("the file is big-endian"));
  EXPECT_THAT(error(std::string("GGUX") + std::string(40, '\0')),
              HasSubstr("this is no GGUF file"));
}

TEST(Gguf, MetadataSaysWhatItIs) {
  GgufMetadata m;
  m.set("u8", std::uint8_t{200});
  m.set("u64", std::numeric_limits<std::uint64_t>::max());
  m.set("f32", 1.5f);
  m.set("bool", true);
  m.set("text", std::string("a"));
  m.set("list", GgufArray{std::vector<std::string>{"a", "b"}});
  EXPECT_EQ(m.integer("u8"), 200);
  EXPECT_EQ(m.number("u8"), 200);
  EXPECT_EQ(m.number("f32"), 1.5);
  EXPECT_EQ(m.boolean("bool"), true);
  EXPECT_EQ(*m.text("text"), "a");
  EXPECT_EQ(m.list("list")->size(), 2U);
  EXPECT_FALSE(m.integer("none") || m.number("none") || m.boolean("none") || m.text("none") ||
               m.list("none"));
  m.set("text", std::string("b"));
  EXPECT_EQ(*m.text("text"), "b");
  EXPECT_EQ(m.entries().size(), 6U);
  auto error = [](auto get) {
    try {
      get();
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(error([&] { m.integer("text"); }),
              StartsWith("TL-GGUF-003: gguf: text is of the type text, where an integer of 63 bits "
                         "is due"));
  EXPECT_THAT(error([&] { m.integer("u64"); }), HasSubstr("type u64, where an integer of 63 bits"));
  EXPECT_THAT(error([&] { m.integer("bool"); }), HasSubstr("type bool, where an integer"));
  EXPECT_THAT(error([&] { m.number("list"); }), HasSubstr("type list, where a number is due"));
  EXPECT_THAT(error([&] { m.boolean("u8"); }), HasSubstr("type u8, where bool is due"));
  EXPECT_THAT(error([&] { m.text("f32"); }), HasSubstr("type f32, where text is due"));
  EXPECT_THAT(error([&] { m.list("text"); }), HasSubstr("type text, where list is due"));
}

TEST(Gguf, RefusesToWriteByName) {
  const testing::TemporaryFolder folder;
  auto error = [&](const std::vector<TensorSpec>& tensors, const GgufMetadata& metadata = {}) {
    const std::string bytes(8, 'x');
    try {
      write_gguf(folder.path("m.gguf"), metadata, tensors,
                 [&](std::size_t) { return std::as_bytes(std::span(bytes)); });
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  auto metadata = [](const std::string& key, GgufValue value) {
    GgufMetadata m;
    m.set(key, std::move(value));
    return m;
  };
  const TensorSpec a{"a", Storage::f32, {2}};
  EXPECT_THAT(error({a, a}), StartsWith("TL-GGUF-004: gguf: two tensors are named 'a'"));
  EXPECT_THAT(error({{"a", Storage::u8, {8}}}), HasSubstr("'a' is stored as U8, which GGUF files"));
  EXPECT_THAT(error({{"a", Storage::q8_0, {8}}}),
              HasSubstr("Q8_0[8], which fills no whole blocks"));
  EXPECT_THAT(error({{"\xff", Storage::f32, {2}}}), HasSubstr("a name is no UTF-8"));
  EXPECT_THAT(error({}, metadata("\xff", true)), HasSubstr("a name is no UTF-8"));
  EXPECT_THAT(error({}, metadata("general.alignment", 33U)), HasSubstr("no u32 that is a power"));
  EXPECT_THAT(error({}, metadata("general.alignment", 32)), HasSubstr("no u32 that is a power"));
  GgufArray list{std::vector<bool>{true}};
  for (int i = 0; i < 4; ++i) list = GgufArray{std::vector<GgufArray>{list}};
  EXPECT_THAT(error({}, metadata("k", list)), HasSubstr("lists are nested too deep"));
  EXPECT_TRUE(folder.names().empty());
  const GgufArray inner = std::get<std::vector<GgufArray>>(list.elements)[0];
  EXPECT_EQ(error({a}, metadata("k", inner)), "");
  const Gguf read = open_gguf(folder.path("m.gguf"));
  EXPECT_EQ(static_cast<const TensorSpec&>(read.tensors.at("a")), a);
  EXPECT_EQ(*read.metadata.list("k"), inner);
}

}  // namespace
}  // namespace tlaloc::io
