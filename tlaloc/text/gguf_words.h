// How words are split, by the names that GGUF files have for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::text {

/// What `tokenizer.ggml.pre` names.
struct GgufWords {
  std::vector<std::string> names;
  /// Each splits what the one before left: its matches, and what lies between them.
  std::vector<std::string> patterns;
  bool nfc = false;            ///< characters are composed before
  bool ignore_merges = false;  ///< a whole word that is a token is taken as it is
  bool bos = false;            ///< a text begins with bos where the file doesn't say
};

/// Null for a name that is not known.
const GgufWords* gguf_words(std::string_view name);
/// The first that splits so; null where none does.
const GgufWords* gguf_words_of(const std::vector<std::string>& patterns, bool nfc,
                               bool ignore_merges);
/// The pattern that stands for one number at a time.
inline constexpr std::string_view kOneNumber = R"(\p{N})";
/// All names, for messages.
std::string gguf_words_names();

}  // namespace tlaloc::text
