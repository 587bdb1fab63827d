#include "tlaloc/io/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/io/testdata/temporary_folder.h"

namespace tlaloc::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), 8) + header + data;
}
Safetensors parse(const std::string& file) {
  return parse_safetensors(std::as_bytes(std::span(file)), nullptr, "a");
}
std::string error(const std::string& file) {
  try {
    parse(file);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
std::string error_of_header(const std::string& header, const std::string& data = "01234567") {
  return error(file_of(header, data));
}
std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
         ",\"data_offsets\":" + offsets + "}";
}
std::string text(const Tensor& t) {
  return {reinterpret_cast<const char*>(t.bytes.data()), t.bytes.size()};
}
/// Asks for the bytes of texts, one a tensor.
TensorSource source_of(const std::vector<std::string>& texts) {
  return [&](std::size_t i) { return std::as_bytes(std::span(texts[i])); };
}

/// The bytes of all tensors.
std::string text_of_model(const std::string& path) {
  std::string all;
  const Safetensors s = open_safetensors(path);
  for (const Tensor& t : s.tensors.tensors()) all += text(t);
  return all;
}

TEST(Safetensors, ReadsTensorsInTheOrderOfTheirPlaces) {
  const std::string file = file_of("{" + tensor("b", "F32", "[1]", "[4,8]") + "," +
                                       tensor("a", "F8_E4M3", "[2,2]", "[0,4]") + "," +
                                       tensor("empty", "I64", "[3,0]", "[8,8]") +
                                       ",\"__metadata__\":{\"z\":\"1\",\"a\":\"\"}}  ",
                                   "01234567");
  const Safetensors s = parse(file);
  ASSERT_EQ(s.tensors.tensors().size(), 3U);
  EXPECT_EQ(static_cast<const TensorSpec&>(s.tensors.tensors()[0]),
            (TensorSpec{"a", Storage::f8_e4m3, {2, 2}}));
  EXPECT_EQ(text(s.tensors.at("b")), "4567");
  EXPECT_TRUE(s.tensors.at("empty").bytes.empty());
  EXPECT_EQ(s.metadata, (SafetensorsMetadata{{"z", "1"}, {"a", ""}}));
  EXPECT_EQ(s.tensors.bytes(), 8);
  EXPECT_EQ(s.tensors.elements(), 5);
  // Misaligned or not, the numbers are the same.
  const HostArray array = array_of(s.tensors.at("b"));
  EXPECT_EQ(std::memcmp(array.data(), "4567", 4), 0);
}

TEST(Safetensors, RefusesWhatIsNoFile) {
  const std::string whole = file_of("{" + tensor("a", "F32", "[2]", "[0,8]") + "}", "01234567");
  ASSERT_EQ(error(whole), "");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_NE(error(whole.substr(0, size)), "");
  EXPECT_THAT(
      error(whole.substr(0, whole.size() - 1)),
      StartsWith(
          "TL-SAFETENSORS-001: safetensors: a: tensor \"a\" ends at byte 8 of 7: the file is "
          "cut off"));
  EXPECT_THAT(error(whole + "x"), HasSubstr("no tensor has the last 1 bytes"));
  EXPECT_THAT(error(std::string(8, '\xff') + "{}"), HasSubstr("a header of 18446744073709551615"));
  EXPECT_THAT(error(std::string("\xe1\xf5\x05\0\0\0\0\0{}", 10)), HasSubstr("is cut off"));
  EXPECT_THAT(error_of_header("{}"), HasSubstr("no tensor has the last 8 bytes"));
  EXPECT_EQ(error_of_header("{}", ""), "");
}

TEST(Safetensors, NamesFilesOfOtherKinds) {
  auto file = [](const std::string& start) { return error(start + std::string(40, '\x01')); };
  EXPECT_THAT(file("GGUF\x03"),
              StartsWith("TL-SAFETENSORS-001: safetensors: a: this is a GGUF file, where a "
                         "safetensors file is due; open it as GGUF"));
  EXPECT_THAT(file("PK\x03\x04"), HasSubstr("this is a ZIP archive, as PyTorch saves"));
  EXPECT_THAT(file("version https://git-lfs.github.com/spec/v1\n"), HasSubstr("git lfs pull"));
  EXPECT_THAT(file("PK"), HasSubstr("this may be no safetensors file"));
}

TEST(Safetensors, RefusesHeadersByName) {
  const std::string good = tensor("a", "F32", "[2]", "[0,8]");
  EXPECT_THAT(error_of_header("[]"), HasSubstr("the header is no object"));
  EXPECT_THAT(error_of_header("{" + good + "," + good + "}"),
              HasSubstr("a (header):1:57: TL-JSON-001: json: an object has the key \"a\" twice"));
  EXPECT_THAT(error_of_header("{" + good + "," + tensor("b", "F32", "[1]", "[4,8]") + "}"),
              HasSubstr("tensor \"b\" overlaps the one before it"));
  EXPECT_THAT(error_of_header("{" + tensor("b", "F32", "[1]", "[4,8]") + "}"),
              HasSubstr("no tensor has the bytes from 0 to 4"));
  EXPECT_THAT(error_of_header("{" + tensor("b", "F32", "[2]", "[8,0]") + "}"),
              HasSubstr("has data_offsets [8, 0], where F32[2] takes 8 bytes"));
  EXPECT_THAT(error_of_header("{" + tensor("b", "F32", "[3]", "[0,8]") + "}"),
              HasSubstr("takes 12 bytes"));
  for (const char* shape : {"[-2]", "[2.0]", "2", "[\"2\"]", "[18446744073709551618]", "[[2]]"}) {
    EXPECT_THAT(error_of_header("{" + tensor("b", "F32", shape, "[0,8]") + "}"),
                HasSubstr("tensor \"b\" has a shape "))
        << shape;
  }
  EXPECT_THAT(error_of_header("{" + tensor("b", "F32", "[4294967296,4294967296]", "[0,8]") + "}"),
              HasSubstr("more than 63 bits count"));
  EXPECT_THAT(error_of_header("{" + tensor("b", "F4", "[3,3]", "[0,5]") + "}"),
              HasSubstr("fills no whole bytes"));
  EXPECT_THAT(error_of_header("{" + tensor("b", "Q4_0", "[32]", "[0,8]") + "}"),
              StartsWith("TL-SAFETENSORS-002: safetensors: a: 'b' is stored as \"Q4_0\""));
  EXPECT_THAT(error_of_header("{\"a\":{\"dtype\":\"F32\",\"shape\":[2]}}"),
              HasSubstr("tensor \"a\" lacks data_offsets"));
  EXPECT_THAT(error_of_header("{\"a\":{\"x\":1}}"), HasSubstr("has the unknown field \"x\""));
  EXPECT_THAT(error_of_header("{\"a\":1}"), HasSubstr("tensor \"a\" is no object"));
  EXPECT_THAT(error_of_header("{\"a\":{\"dtype\":1,\"shape\":[2],\"data_offsets\":[0,8]}}"),
              HasSubstr("has a dtype that is no string"));
  EXPECT_THAT(error_of_header("{\"__metadata__\":{\"a\":1}," + good + "}"), HasSubstr("no string"));
  EXPECT_THAT(error_of_header("{\"__metadata__\":[]," + good + "}"), HasSubstr("no object"));
  EXPECT_EQ(error_of_header("{\"__metadata__\":null," + good + "}"), "");
}

TEST(Safetensors, SizesInBytes) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 62;
  EXPECT_EQ(storage_bytes(Storage::f4, Extents{2, 3}), 3);
  EXPECT_EQ(storage_bytes(Storage::f6_e2m3, Extents{2, 2, 3}), 9);
  EXPECT_EQ(storage_bytes(Storage::f6_e2m3, Extents{2, 3}), std::nullopt);
  EXPECT_EQ(storage_bytes(Storage::f4, Extents{}), std::nullopt);
  EXPECT_EQ(storage_bytes(Storage::q8_0, Extents{32, 2}), std::nullopt);
  for (const Extents& shape : {Extents{0, kHuge, kHuge}, Extents{kHuge, kHuge, 0}}) {
    EXPECT_EQ(storage_bytes(Storage::f32, shape), 0);
  }
  EXPECT_EQ(storage_bytes(Storage::f32, Extents{-1, 0}), std::nullopt);
  EXPECT_EQ(storage_bytes(Storage::f32, Extents{kHuge, 4}), std::nullopt);
}

TEST(Safetensors, AMissingTensorNamesTheNearest) {
  const std::string file =
      file_of("{" + tensor("model.norm.weight", "F32", "[2]", "[0,8]") + "}", "01234567");
  const Safetensors s = parse(file);
  try {
    s.tensors.at("model.norm.weigth");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(),
                 "TL-TENSOR-001: tensors: a has no tensor 'model.norm.weigth'; the nearest is "
                 "'model.norm.weight'");
  }
}

TEST(Safetensors, RawStorageAndWrongBoolsAreNoArrays) {
  const std::string file = file_of("{" + tensor("a", "F8_E5M2", "[4]", "[0,4]") + "," +
                                       tensor("b", "BOOL", "[4]", "[4,8]") + "}",
                                   std::string("0123\0\1\2\0", 8));
  const Safetensors s = parse(file);
  for (const auto& [name, what] :
       {std::pair("a", "a: 'a' is stored as F8_E5M2, which no array holds"),
        std::pair("b", "a: 'b' has a bool that is neither 0 nor 1, element 2")}) {
    try {
      array_of(s.tensors.at(name));
      FAIL() << name;
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), StartsWith(std::string("TL-TENSOR-002: tensors: ") + what));
    }
  }
}

TEST(Safetensors, WritesShardsWithAnIndex) {
  const testing::TemporaryFolder folder;
  const std::vector<TensorSpec> specs = {
      {"a", Storage::f32, {2}}, {"b", Storage::f32, {4}}, {"c", Storage::u8, {3}}};
  const std::vector<std::string> texts = {"01234567", "0123456789abcdef", "xyz"};
  write_safetensors(folder.path("model.safetensors"), specs, source_of(texts),
                    {.metadata = {{"format", "pt"}}, .max_shard_bytes = 19});
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"model-00001-of-00002.safetensors",
                                                      "model-00002-of-00002.safetensors",
                                                      "model.safetensors.index.json"}));
  const Safetensors s = open_safetensors(folder.path());
  ASSERT_EQ(s.tensors.tensors().size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(static_cast<const TensorSpec&>(s.tensors.tensors()[i]), specs[i]);
    EXPECT_EQ(text(s.tensors.tensors()[i]), texts[i]);
  }
  EXPECT_EQ(s.metadata, (SafetensorsMetadata{{"format", "pt"}}));

  // An index that does not fit.
  const std::string index = folder.path("model.safetensors.index.json");
  for (const auto& [map, what] :
       {std::pair("{}", "has no object weight_map"),
        std::pair("{\"weight_map\":{\"d\":\"model-00001-of-00002.safetensors\"}}",
                  "tensor \"d\" is not in model-00001-of-00002.safetensors"),
        std::pair("{\"weight_map\":{\"a\":\"../model-00001-of-00002.safetensors\"}}",
                  "is no file beside it"),
        std::pair("{\"weight_map\":{\"a\":\"..\"}}", "is no file beside it"),
        std::pair("{\"weight_map\":{\"a\":\"\"}}", "is no file beside it"),
        std::pair("{\"weight_map\":{\"a\":\"x\\u0000\"}}", "is no file beside it"),
        std::pair("{\"weight_map\":{\"a\":3}}", "\"a\" lies in what is no file"),
        // Itself: opening it again would never end.
        std::pair("{\"weight_map\":{\"a\":\"model.safetensors.index.json\"}}",
                  "\"model.safetensors.index.json\" is an index, where a shard is due")}) {
    std::ofstream(index) << map;
    try {
      open_safetensors(folder.path());
      FAIL() << map;
    } catch (const UserError& e) {
      EXPECT_THAT(e.what(), StartsWith("TL-SAFETENSORS-003: safetensors: " + index));
      EXPECT_THAT(e.what(), HasSubstr(what));
    }
  }
  std::ofstream(index) << "{\"weight_map\":{\"a\":\"elsewhere.safetensors\"}}";
  EXPECT_THROW(open_safetensors(folder.path()), EnvironmentError);
  // The folder itself, by a link.
  std::filesystem::create_symlink(".", folder.path("here"));
  std::ofstream(index) << "{\"weight_map\":{\"a\":\"here\"}}";
  EXPECT_THROW(open_safetensors(folder.path()), EnvironmentError);
}

TEST(Safetensors, AnIndexAsksForEachShardOnce) {
  const std::string file = file_of(
      "{" + tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", "[4,8]") + "}",
      "01234567");
  std::vector<std::string> asked;
  auto shard = [&](const std::string& name) {
    asked.push_back(name);
    return parse(file);
  };
  auto names = [&](const std::string& map) {
    std::string names;
    const Safetensors s = parse_safetensors_index("{\"weight_map\":" + map + "}", shard, "i");
    for (const Tensor& t : s.tensors.tensors()) names += t.name;
    return names;
  };
  EXPECT_EQ(names(R"({"b":"1","a":"1"})"), "ab");  // as in the shard
  EXPECT_EQ(names(R"({"a":"2","b":"1"})"), "ba");  // shard after shard
  EXPECT_EQ(names("{}"), "");
  EXPECT_EQ(asked, (std::vector<std::string>{"1", "1", "2"}));
  EXPECT_THROW(names(R"({"a":"1","a":"2"})"), UserError);  // twice
}

TEST(Safetensors, NothingIsLeftOfAnEarlierModel) {
  const testing::TemporaryFolder folder;
  const std::string path = folder.path("model.safetensors");
  const std::vector<TensorSpec> specs = {
      {"a", Storage::u8, {1}}, {"b", Storage::u8, {1}}, {"c", Storage::u8, {1}}};
  auto write = [&](const std::string& text, std::int64_t shard) {
    const std::vector<std::string> texts(3, text);
    write_safetensors(path, specs, source_of(texts), {.max_shard_bytes = shard});
    return text_of_model(folder.path());
  };
  const std::vector<std::string> others = {
      "model-00001-of-00002.gguf", "model-0001-of-0002.safetensors", "model-fp16.safetensors",
      "other-00001-of-00002.safetensors"};
  for (const std::string& name : others) std::ofstream(folder.path(name)) << "kept";
  auto names = [&](std::vector<std::string> own) {
    own.insert(own.end(), others.begin(), others.end());
    std::sort(own.begin(), own.end());
    return own;
  };
  EXPECT_EQ(write("1", 0), "111");
  EXPECT_EQ(write("2", 1), "222");  // not the single file that was there
  EXPECT_EQ(folder.names(),
            names({"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                   "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  EXPECT_EQ(write("3", 2), "333");
  EXPECT_EQ(folder.names(),
            names({"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                   "model.safetensors.index.json"}));
  EXPECT_EQ(write("4", 0), "444");
  EXPECT_EQ(folder.names(), names({"model.safetensors"}));
  // Which of two is the model is not guessed.
  std::ofstream(folder.path("model.safetensors.index.json")) << "{}";
  try {
    open_safetensors(folder.path());
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), StartsWith("TL-SAFETENSORS-003: safetensors: " + folder.path() +
                                     " has two models, model.safetensors and "));
  }
}

TEST(Safetensors, WritesAllOrNothing) {
  const testing::TemporaryFolder folder;
  const std::vector<TensorSpec> specs = {{"a", Storage::u8, {1}}, {"b", Storage::u8, {1}}};
  const TensorSource broken = [](std::size_t i) -> std::span<const std::byte> {
    static const std::byte one[1] = {};
    if (i == 1) throw UserError({"TL-TENSOR-001", "", "", "", {}});
    return one;
  };
  EXPECT_THROW(
      write_safetensors(folder.path("m.safetensors"), specs, broken, {.max_shard_bytes = 1}),
      UserError);
  EXPECT_TRUE(folder.names().empty());
}

TEST(Safetensors, RefusesToWriteByName) {
  const testing::TemporaryFolder folder;
  auto error = [&](const std::vector<TensorSpec>& specs, const SafetensorsMetadata& metadata = {}) {
    const std::vector<std::string> texts(specs.size(), "01234567");
    try {
      write_safetensors(folder.path("m"), specs, source_of(texts), {.metadata = metadata});
    } catch (const UserError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const TensorSpec a{"a", Storage::f32, {2}};
  EXPECT_THAT(error({a, a}), StartsWith("TL-SAFETENSORS-004: safetensors: a tensor has the name "
                                        "'a', which is taken"));
  EXPECT_THAT(error({{"__metadata__", Storage::f32, {2}}}), HasSubstr("'__metadata__', which is"));
  EXPECT_THAT(error({{"\xff", Storage::f32, {2}}}), HasSubstr("no UTF-8"));
  EXPECT_THAT(error({{"a", Storage::f6_e2m3, {2}}}), HasSubstr("fills no whole bytes"));
  EXPECT_THAT(error({a}, {{"k", ""}, {"k", ""}}), HasSubstr("metadata has the name 'k'"));
  EXPECT_THAT(error({a}, {{"k", "\xff"}}), HasSubstr("no UTF-8"));
  EXPECT_THAT(error({{"a", Storage::q8_0, {32}}}),
              StartsWith("TL-SAFETENSORS-002: safetensors: 'a' is stored as Q8_0, which "));
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(error({a}, {{"a", "\xc3\xa9"}}), "");
}

}  // namespace
}  // namespace tlaloc::io
