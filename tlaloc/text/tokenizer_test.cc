#include "tlaloc/text/tokenizer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "tlaloc/base/error.h"
#include "tlaloc/text/tokenizer_json.h"

namespace tlaloc::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string replaced(std::string s, const std::string& from, const std::string& to) {
  const std::size_t at = s.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return s.replace(at, from.size(), to);
}

const std::string kCharacters = R"({
  "version": "1.0", "truncation": null, "padding": null,
  "added_tokens": [{"id": 0, "content": "<s>", "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": true}],
  "normalizer": null,
  "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\w+|\\s+"}, "behavior": "Isolated", "invert": false},
  "post_processor": null,
  "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
  "model": {"type": "BPE", "dropout": null, "unk_token": "?", "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": true, "ignore_merges": false,
            "vocab": {"<s>": 0, "?": 1, "a": 2, "b": 3, "ab": 4, "aa": 5, "aaaa": 6, " ": 7,
                      "<0xE4>": 8, "<0xBD>": 9, "<0xA0>": 10, "<0xEF>": 11, "<0xBF>": 12},
            "merges": [["a", "b"], ["a", "a"], "aa aa"]}
})";

Tokenizer characters() { return Tokenizer(parse_tokenizer(kCharacters, "t.json")); }

TEST(Tokenizer, MergesByRankThenFromTheLeft) {
  EXPECT_THAT(characters().encode("aab aaaaa").ids, ElementsAre(2, 4, 7, 6, 2));
}

TEST(Tokenizer, GivesOffsetsInBytesAndCharacters) {
  EncodeOptions options;
  options.offsets = Offsets::kBytes;
  const Encoding bytes = characters().encode("你 ab<s>", options);
  EXPECT_THAT(bytes.ids, ElementsAre(8, 9, 10, 7, 4, 0));
  EXPECT_EQ(bytes.offsets[4], (Range{4, 6}));
  EXPECT_EQ(bytes.offsets[5], (Range{6, 9}));
  options.offsets = Offsets::kCharacters;
  EXPECT_EQ(characters().encode("你 ab<s>", options).offsets[4], (Range{2, 4}));
}

TEST(Tokenizer, SpecialTokensMayBeText) {
  EncodeOptions options;
  EXPECT_THAT(characters().encode("<s>", options).ids, ElementsAre(0));
  options.match_special_tokens = false;
  EXPECT_THAT(characters().encode("<s>", options).ids, ElementsAre(1, 1, 1));
}

TEST(Tokenizer, ReadsIllFormedTextAsReplacementCharacters) {
  // U+FFFD is EF BF BD; the last byte of it has a token too.
  EXPECT_THAT(characters().encode("a\xFF").ids, ElementsAre(2, 11, 12, 9));
}

TEST(Tokenizer, DecodesAndLeavesOut) {
  const Tokenizer t = characters();
  const std::vector<TokenId> ids{0, 4, 8, 9, 10, 99, 2};
  EXPECT_EQ(t.decode(ids), "<s>ab你a");
  EXPECT_EQ(t.decode(ids, true), "ab你a");
  EXPECT_EQ(t.decode({}), "");
}

TEST(Tokenizer, StreamsWholeCharacters) {
  DecodeStream stream(characters());
  EXPECT_EQ(stream.push(4), "ab");
  EXPECT_EQ(stream.push(8), "");
  EXPECT_EQ(stream.push(9), "");
  EXPECT_EQ(stream.push(10), "你");
  EXPECT_EQ(stream.push(8), "");
  EXPECT_EQ(stream.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(stream.push(2), "a");
}

/// The bytes EF BF BD are U+FFFD itself, whose text looks like that of bytes which are nothing.
TEST(Tokenizer, StreamsHoldBackOpenCharactersOnly) {
  const std::vector<std::pair<std::string, std::string>> decoders{
      {R"({"type": "ByteFallback"})", "<0x{:02X}>"}, {R"({"type": "ByteLevel"})", "{}"}};
  const std::string text = "\xEF\xBF\xBD\xEF\xBF\xBD你\xEF\xBF\xBDé";
  for (const auto& [decoder, format] : decoders) {
    std::string vocabulary;
    for (unsigned b = 0x80; b < 0x100; ++b) {
      std::string visible;
      append_char(visible, byte_to_char(static_cast<unsigned char>(b)));
      const std::string token = format == "{}" ? visible : fmt::format(fmt::runtime(format), b);
      vocabulary += fmt::format("{}\"{}\": {}", b == 0x80 ? "" : ", ", token, b - 0x80);
    }
    const Tokenizer t(parse_tokenizer(R"({"version": "1.0", "decoder": )" + decoder +
                                          R"(, "model": {"type": "BPE", "merges": [], "vocab": {)" +
                                          vocabulary + "}}}",
                                      "t.json"));
    DecodeStream stream(t);
    std::string streamed;
    for (std::size_t i = 0; i < 50 * text.size(); ++i) {
      const char c = text[i % text.size()];
      streamed += stream.push(static_cast<unsigned char>(c) - 0x80);
      if (i + 1 == text.size() || !is_continuation(text[(i + 1) % text.size()])) {
        EXPECT_EQ(streamed.size() % text.size(), (i + 1) % text.size()) << decoder;
      }
    }
    EXPECT_EQ(stream.finish(), "");
    for (std::size_t i = 0; i < streamed.size(); ++i) {
      ASSERT_EQ(streamed[i], text[i % text.size()]) << decoder << " " << i;
    }
  }
}

/// Bytes that never become characters, and tokens that are left out, take no more time than others:
/// if all were decoded again for each, this would take hours.
TEST(Tokenizer, StreamsAreLinearInTheirTokens) {
  DecodeStream stream(characters(), true);
  std::size_t bytes = 0;
  for (int i = 0; i < 100'000; ++i) bytes += stream.push(9).size();
  EXPECT_EQ(bytes, 300'000u);
  for (int i = 0; i < 100'000; ++i) EXPECT_EQ(stream.push(i % 2 == 0 ? 0 : 99), "");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Tokenizer, TakesAMegabyteOfOneLetter) {
  const std::string text(1 << 20, 'a');
  EXPECT_EQ(characters().encode(text).size(), text.size() / 4);
}

TEST(Tokenizer, KeepsNoRoomOfHugeTexts) {
  const std::string model = R"({"version": "1.0", "model": )";
  for (const std::string& file :
       {kCharacters, model + R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1]]}})",
        model + R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}},
                    "pre_tokenizer": {"type": "FixedLength", "length": 1}})"}) {
    const Tokenizer t(parse_tokenizer(file, "t.json"));
    t.encode("a a");
    const std::size_t little = t.kept_bytes();
    EXPECT_GT(little, 0u);
    EXPECT_LT(little, 100'000u);
    t.encode(std::string(2 << 20, 'a'));
    EXPECT_EQ(t.kept_bytes(), 0u);  // and what it had before is in that room
    t.encode("a a");
    EXPECT_EQ(t.kept_bytes(), little);
  }
}

TEST(Tokenizer, BatchesAreTheSameOnAnyNumberOfThreads) {
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i)
    texts.push_back(std::string(static_cast<std::size_t>(i), 'a') + " b");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const auto one = characters().encode_batch(views, {}, 1),
             four = characters().encode_batch(views, {}, 4);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(one[i].ids, four[i].ids);
    EXPECT_EQ(one[i].ids, characters().encode(texts[i]).ids);
  }
}

/// A normalizer that does nothing, in so many sequences.
std::string nested(int depth) {
  std::string s = R"({"type": "NFC"})";
  for (int i = 0; i < depth; ++i) s = R"({"type": "Sequence", "normalizers": [)" + s + "]}";
  return s;
}

TEST(Tokenizer, TakesNestedSequences) {
  const std::string text =
      replaced(kCharacters, R"("normalizer": null)", R"("normalizer": )" + nested(40));
  EXPECT_THAT(Tokenizer(parse_tokenizer(text, "t.json")).encode("ab").ids, ElementsAre(4));
}

TEST(Tokenizer, AddedTokensThatNormalizeToTheSameOrNothingAreRefused) {
  const auto with = [](const std::string& normalizer, const std::string& one,
                       const std::string& other) {
    auto token = [](int id, const std::string& content) {
      return R"({"id": )" + std::to_string(id) + R"(, "content": ")" + content +
             R"(", "single_word": false, "lstrip": false, "rstrip": false, "normalized": true,
                "special": false})";
    };
    return R"({"version": "1.0", "normalizer": )" + normalizer + R"(, "added_tokens": [)" +
           token(1, one) + ", " + token(2, other) +
           R"(], "model": {"type": "WordLevel", "vocab": {"?": 0}, "unk_token": "?"}})";
  };
  const std::string lower = R"({"type": "Lowercase"})";
  const Tokenizer t(parse_tokenizer(with(lower, "ZZ", "Y"), "t.json"));
  EXPECT_THAT(t.encode("zzy").ids, ElementsAre(1, 2));
  const std::vector<std::pair<std::string, std::string>> cases{
      {with(lower, "ZZ", "zz"), "t.json: /added_tokens/1/content: 'ZZ' and 'zz' are both 'zz'"},
      {with(R"({"type": "Strip", "strip_left": true, "strip_right": true})", "a", "  "),
       "'  ' is nothing once it is normalized"},
  };
  for (const auto& [json, message] : cases) {
    try {
      parse_tokenizer(json, "t.json");
      ADD_FAILURE() << message;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), "TL-TOKENIZER-002");
      EXPECT_THAT(e.what(), HasSubstr(message));
    }
  }
}

TEST(Tokenizer, RefusesByNameAndPlace) {
  const std::vector<std::tuple<std::string, std::string, std::string, std::string>> cases{
      {R"("normalizer": null)", R"("normalizer": {"type": "Odd"})", "TL-TOKENIZER-002",
       "t.json: /normalizer/type: a normalizer of type 'Odd'"},
      {R"("fuse_unk": false)", R"("fuse_unk": false, "new": 1)", "TL-TOKENIZER-002",
       "/model/new: a field that Tlaloc does not know"},
      {R"("dropout": null)", R"("dropout": 0.1)", "TL-TOKENIZER-002", "/model/dropout"},
      {R"(\\w+|\\s+)", R"([a-z&&[^b]])", "TL-TOKENIZER-002", "an intersection (&&) at byte 4"},
      {R"(\\w+|\\s+)", R"((a)", "TL-TOKENIZER-002", "is no regular expression"},
      {R"("aa aa")", R"(["aa", "c"])", "TL-TOKENIZER-001", "in merge 2, 'c' is no token"},
      {R"("aa aa")", R"("aa")", "TL-TOKENIZER-001", "the merge 'aa', which is not two tokens"},
      {R"("a": 2)", R"("a": 3)", "TL-TOKENIZER-001", "/model/vocab: the id 3 stands twice"},
      {R"("a": 2)", R"("a": 99999999)", "TL-TOKENIZER-001", "has the id 99999999"},
      {R"("a": 2)", R"("a": 2.5)", "TL-TOKENIZER-001", "a token whose id is no integer"},
      {R"({"id": 0)", R"({"id": 5)", "TL-TOKENIZER-002", "'<s>' has the id 5"},
      {R"("version": "1.0",)", R"("version": "1.0" )", "TL-TOKENIZER-001", "t.json:2:"},
      {R"("BPE")", R"("Odd")", "TL-TOKENIZER-002", "a model of type 'Odd'"},
      {R"("vocab": {)", R"("vocab": {"a": 7}, "vocab": {)", "TL-TOKENIZER-001",
       "an object with the key 'vocab' twice"},
      {R"("model": {)", R"("model": {}, "model": {)", "TL-TOKENIZER-001",
       "t.json:9:22: TL-TOKENIZER-001: tokenizer: the file has an object with the key 'model' "
       "twice"},
      {R"("unk_token": "?")", R"("unk_token": "?", "unk_token": "a")", "TL-TOKENIZER-001",
       "the key 'unk_token' twice"},
      {R"("normalizer": null)", R"("normalizer": )" + nested(70), "TL-TOKENIZER-001",
       "the file nests lists and objects more than 127 deep"},
      {R"("vocab": {)", R"("vocab": [], "odd": {)", "TL-TOKENIZER-001",
       "/model/vocab: the vocabulary is not of the kind that the model has"},
      {R"("BPE")", R"("Unigram")", "TL-TOKENIZER-001",
       "/model/vocab: the vocabulary is not of the kind that the model has"},
  };
  for (const auto& [from, to, code, message] : cases) {
    try {
      parse_tokenizer(replaced(kCharacters, from, to), "t.json");
      ADD_FAILURE() << to;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      EXPECT_THAT(e.what(), HasSubstr(message));
    }
  }
}

TEST(Tokenizer, RefusesFilesThatAreNotThere) {
  EXPECT_THROW(load_tokenizer("no/such/folder"), EnvironmentError);
}

TEST(Tokenizer, TruncationThatCannotBeIsRefused) {
  const std::string text = replaced(
      kCharacters, R"("truncation": null)",
      R"("truncation": {"max_length": 2, "stride": 2, "strategy": "LongestFirst", "direction": "Right"})");
  const Tokenizer t(parse_tokenizer(text, "t.json"));
  try {
    t.encode("a b a b");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TOKENIZER-006");
    EXPECT_THAT(e.what(), HasSubstr("t.json: a stride of 2 leaves nothing of 2 tokens"));
  }
}

TEST(Tokenizer, UnknownCharactersNeedAToken) {
  const Tokenizer t(parse_tokenizer(
      R"({"version": "1.0", "model": {"type": "Unigram", "unk_id": null, "vocab": [["a", -1.0]]}})",
      "t.json"));
  EXPECT_THAT(t.encode("aa").ids, ElementsAre(0, 0));
  try {
    t.encode("ab");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TOKENIZER-005");
    EXPECT_THAT(e.what(), HasSubstr("t.json: 'b' at byte 1 of the normalized text is a character "
                                    "that is in no token"));
  }
  try {
    const std::vector<std::string_view> texts{"a", "aab"};
    t.encode_batch(texts, {}, 1);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_THAT(e.what(), HasSubstr("t.json: text 1: 'b' at byte 2"));
  }
}

TEST(Tokenizer, TextsOfFourGigabytesAreRefused) {
  const std::size_t size = std::size_t{4} << 30;
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  try {
    characters().encode(std::string_view(static_cast<const char*>(memory), size));
    ADD_FAILURE();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TOKENIZER-003");
    EXPECT_THAT(e.what(), HasSubstr("a text of 4294967296 bytes"));
  }
  munmap(memory, size);
}

TEST(Tokenizer, NormalizersThatInsertWithoutEndAreRefused) {
  const std::string text =
      replaced(kCharacters, R"("normalizer": null)",
               R"("normalizer": {"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
                   std::string(100'000, 'b') + R"("})");
  const Tokenizer t(parse_tokenizer(text, "t.json"));
  EXPECT_EQ(t.encode("a").size(), 100'000u);
  try {
    t.encode(std::string(1000, 'a'));
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TOKENIZER-003");
    EXPECT_THAT(e.what(),
                HasSubstr("t.json: normalizing makes more than 1112576 bytes of a text of 1000"));
  }
}

/// Each place of a text is looked at as far as the longest token goes.
TEST(Tokenizer, LongTokensTakeNoMoreThanTheirLengthAtEachPlace) {
  const auto with = [](const std::string& model, std::size_t n) {
    const std::string token(n, 'a');
    return model == "Unigram"
               ? R"({"version": "1.0", "model": {"type": "Unigram", "unk_id": 0, "vocab": [["?", 0.0],
                    ["a", -1.0], [")" +
                     token + R"(b", -2.0]]}})"
               : R"({"version": "1.0", "model": {"type": "WordPiece", "unk_token": "?",
                    "continuing_subword_prefix": "", "max_input_chars_per_word": 100000000,
                    "vocab": {"?": 0, "a": 1, ")" +
                     token + R"(b": 2}}})";
  };
  for (const char* model : {"Unigram", "WordPiece"}) {
    const Tokenizer t(parse_tokenizer(with(model, 1023), "t.json"));
    const std::string text(20'000, 'a');
    EXPECT_EQ(t.encode(text).size(), text.size()) << model;
    EXPECT_EQ(t.encode(text + "b").size(), text.size() - 1023 + 1) << model;
    try {
      parse_tokenizer(with(model, 1024), "t.json");
      ADD_FAILURE() << model;
    } catch (const UserError& e) {
      EXPECT_EQ(e.code(), "TL-TOKENIZER-002");
      EXPECT_THAT(e.what(), HasSubstr("has 1025 bytes, where at most 1024 are supported"));
    }
  }
}

TEST(Tokenizer, StripsAMegabyteOfOneLetter) {
  const std::string x(1'000'000, 'x');
  const Tokenizer t(parse_tokenizer(
      R"({"version": "1.0", "decoder": {"type": "Strip", "content": "x", "start": 999999, "stop": 0},
          "model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, ")" +
          x + R"(": 1}}})",
      "t.json"));
  EXPECT_EQ(t.decode(std::vector<TokenId>{1}), "x");
}

TEST(Tokenizer, PatternsThatBacktrackForeverEnd) {
  const std::string text = replaced(kCharacters, R"(\\w+|\\s+)", R"((?:a|aa|a?)+c)");
  const Tokenizer t(parse_tokenizer(text, "t.json"));
  try {
    t.encode(std::string(5000, 'a') + "bc");
    FAIL();
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), "TL-TOKENIZER-004");
    EXPECT_THAT(
        e.what(),
        HasSubstr("t.json: matching '(?:a|aa|a?)+c' from byte 0 of the text on took too long"));
  }
}

}  // namespace
}  // namespace tlaloc::text
