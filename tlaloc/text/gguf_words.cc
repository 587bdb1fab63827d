#include "tlaloc/text/gguf_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tlaloc/text/word_scanner.h"

namespace tlaloc::text {
namespace {

/// The patterns are those of the makers' tokenizer.json where llama.cpp's source quotes them, and
/// its own elsewhere; for letters' case it has others in their places, which tell only ASCII's.
std::vector<GgufWords> make_table() {
  const std::string gpt2(word_pattern_text(WordPattern::kGpt2));
  const std::string llama3(word_pattern_text(WordPattern::kLlama3));
  const std::string qwen2(word_pattern_text(WordPattern::kQwen2));
  const std::string digit(kOneNumber), three_digits = R"(\p{N}{1,3})";
  const std::string asian = "[一-龥぀-ゟ゠-ヿ]+";
  const std::string contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
  const std::string before = R"([^\r\n\p{L}\p{N}]?)";
  const std::string blanks = R"(\s*[\r\n]+|\s+(?!\S)|\s+)";
  // Words in which no capital follows a small letter.
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])";
  const std::string lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
  const std::string cased = before + upper + "*" + lower + "+",
                    capital = before + upper + "+" + lower + "*";
  const std::string cased_words = cased + contraction + "?|" + capital + contraction + "?|";
  const std::string rest = R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|)" + blanks;
  const std::string gpt4o = cased_words + three_digits + rest;
  return {
      {.names = {"gpt-2", "olmo", "phi-2", "exaone4", "gigachat", "a.x-4.0", "mellum", "trillion",
                 "granite-docling"},
       .patterns = {gpt2}},
      {.names = {"smollm", "refact", "starcoder", "codeshell", "exaone", "minerva-7b", "mellum2"},
       .patterns = {digit, gpt2}},
      {.names = {"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0",
                 "lfm2"},
       .patterns = {llama3},
       .ignore_merges = true,
       .bos = true},
      {.names = {"dbrx", "smaug-bpe", "chatglm-bpe"}, .patterns = {llama3}},
      {.names = {"glm4", "glm5"}, .patterns = {llama3}, .ignore_merges = true},
      {.names = {"qwen2", "deepseek-r1-qwen"}, .patterns = {qwen2}, .nfc = true},
      {.names = {"hunyuan", "solar-open", "grok-2"}, .patterns = {qwen2}},
      {.names = {"laguna"}, .patterns = {R"([^\n]+|[\n]+)", qwen2}},
      {.names = {"qwen35"},
       .patterns = {contraction +
                    R"(|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|)" +
                    blanks},
       .nfc = true},
      {.names = {"ufakzeka"},
       .patterns = {before + R"(\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)" + blanks}},
      {.names = {"minicpm5"},
       .patterns = {three_digits, contraction + "|" + before +
                                      R"(\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|)" + blanks},
       .ignore_merges = true},
      {.names = {"seed-coder"},
       .patterns = {contraction + "|" + before + R"(\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|)" +
                    blanks}},
      {.names = {"bailingmoe", "bailingmoe2", "llada-moe"},
       .patterns = {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}|)"
                    R"( ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)"}},
      {.names = {"exaone-moe"},
       .patterns = {contraction + "|" + before +
                    R"((?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|)"
                    R"( ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)"}},
      {.names = {"tekken"},
       .patterns = {cased + "|" + capital + "|" + digit + rest},
       .ignore_merges = true,
       .bos = true},
      {.names = {"gpt-4o", "llama4", "kanana2", "minimax-m2"}, .patterns = {gpt4o}},
      {.names = {"tiny_aya", "cohere2moe"}, .patterns = {std::string(kThousands), gpt4o}},
      {.names = {"youtu"},
       .patterns = {"[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|" + asian,
                    cased_words + digit + rest},
       .ignore_merges = true},
      {.names = {"deepseek-v3", "hunyuan-dense", "joyai-llm", "hy_v4"},
       .patterns = {three_digits, asian,
                    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|)"
                    R"([^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|)" +
                        blanks}},
      {.names = {"deepseek-coder"},
       .patterns = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
                    R"([\x{4E00}-\x{9FA5}\x{0800}-\x{4E00}\x{AC00}-\x{D7FF}]+)", digit}},
  };
}

const std::vector<GgufWords>& table() {
  static const std::vector<GgufWords> words = make_table();
  return words;
}

}  // namespace

const GgufWords* gguf_words(std::string_view name) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const GgufWords& w) {
    return std::find(w.names.begin(), w.names.end(), name) != w.names.end();
  });
  return found == table().end() ? nullptr : &*found;
}

const GgufWords* gguf_words_of(const std::vector<std::string>& patterns, bool nfc,
                               bool ignore_merges) {
  const auto found = std::find_if(table().begin(), table().end(), [&](const GgufWords& w) {
    return w.patterns == patterns && w.nfc == nfc && w.ignore_merges == ignore_merges;
  });
  return found == table().end() ? nullptr : &*found;
}

std::string gguf_words_names() {
  std::vector<std::string> names;
  for (const GgufWords& w : table()) names.insert(names.end(), w.names.begin(), w.names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace tlaloc::text
