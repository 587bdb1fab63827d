// What converting consists of.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tlaloc/io/gguf.h"
#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/convert.h"
#include "tlaloc/llm/weights.h"
#include "tlaloc/text/gguf_vocabulary.h"
#include "tlaloc/text/gguf_words.h"

namespace tlaloc::llm {

/// UserError TL-CONVERT-001.
[[noreturn]] void refuse_to_convert(const std::string& message, const std::string& hint);
/// TL-CONVERT-001 where `to`, which the format says, does not compute what `from` does in f32; it
/// names what differs.
void check_same(const DecoderSpec& from, const DecoderSpec& to, const std::string& format);
/// The same for texts and tokens: a text with a bit of all that tokenizers treat in different
/// ways, with special tokens in it too, must have the same ids, and these the same text. `name` is
/// that of the model.
void check_same(const text::Tokenizer& from, const text::Tokenizer& to, const std::string& name);

/// A decoder as GGUF says it.
struct GgufPlan {
  io::GgufMetadata metadata;        ///< without the tokenizer
  std::vector<io::Tensor> factors;  ///< of frequencies, which are no weights
  Decoder decoder;                  ///< that a file with these has
};
/// TL-CONVERT-001 for what GGUF can't say; `name` is what errors call the file.
GgufPlan plan_gguf(const Decoder& from, const std::string& name);

/// The tensors of one format, made of those of another.
class ConvertedTensors {
 public:
  /// `to` is the decoder that the other format says. `gguf`: what is written is.
  ConvertedTensors(const io::TensorFile& tensors, const Decoder& from, const Decoder& to,
                   const ConvertOptions& options, bool gguf);

  ConvertedTensors(const ConvertedTensors&) = delete;  // parts point to its sources
  ConvertedTensors& operator=(const ConvertedTensors&) = delete;

  const std::vector<io::TensorSpec>& specs() const { return specs_; }
  /// Whether there is such a tensor among them.
  bool has(const std::string& name) const { return parts_.contains(name); }
  /// The bytes of a tensor, until the next call.
  std::span<const std::byte> bytes(const io::TensorSpec& spec);

 private:
  /// What becomes of rows of a tensor.
  struct Change {
    std::int64_t head_width = 0;  ///< of heads whose rows are laid out anew; 0: they stay
    std::int64_t reordered = 0;   ///< so many first ones of each head
    bool interleave = false;      ///< (i, i + half) become (2i, 2i + 1), else the other way round
    float add = 0;
  };
  struct Part {
    const Source* from;
    const Source* to;
    Change change;
  };
  void add(const Source& from, const Source& to, const Change& change, bool table);
  void add(const LinearOf<Source>& from, const LinearOf<Source>& to, const Change& change);
  void add(const std::optional<Source>& from, const std::optional<Source>& to,
           const Change& change);
  void put(const Part& part, io::Storage storage, std::byte* out) const;

  const io::TensorFile& tensors_;
  const ConvertOptions& options_;
  bool gguf_;
  Decoder from_, to_;  // where the parts' sources are
  std::vector<io::TensorSpec> specs_;
  std::unordered_map<std::string, std::vector<Part>> parts_;
  std::vector<std::byte> buffer_;
};

/// Files of a folder, by name, with their text.
using FolderFiles = std::vector<std::pair<std::string, std::string>>;

/// How transformers writes the tokenizer of GGUF metadata, and what it says of generation.
FolderFiles tokenizer_files(const io::GgufMetadata& metadata);
/// Adds the tokenizer that the text of a tokenizer.json describes, `name` being the file's, and
/// what the checkpoint says of tokens and generation; for a model with so many rows. TL-CONVERT-001
/// where GGUF can't say what it does.
void add_tokenizer(const Checkpoint& checkpoint, const std::string& text, const std::string& name,
                   io::GgufMetadata& metadata);

/// Whether an object has the key with that value.
bool says(const boost::json::object& o, const char* key, const boost::json::value& value);

// Of tokenizers of the kind gpt2, which split words in a way that GGUF names.

boost::json::object byte_level_component(bool use_regex);
boost::json::value words_pre_tokenizer(std::vector<std::string> patterns);
/// Null for a tokenizer.json that does something else.
const text::GgufWords* words_of_tokenizer(const boost::json::object& tokenizer);

// Of tokenizers of the kind llama, which have scores in GGUF.

/// Pairs of tokens that merge, as tokenizer.json lists them.
using ListedMerges = std::vector<std::pair<std::string, std::string>>;
/// The merges of scores as transformers lists them.
ListedMerges listed_merges(const text::GgufVocabulary& v);
/// Whether normalizer, pre-tokenizer and decoder of a tokenizer.json are those of the kind; with
/// whether a space stands before texts.
std::optional<bool> has_scored_shape(const boost::json::object& tokenizer);
/// Its components: normalizer and decoder.
boost::json::value scored_normalizer(bool space_before);
boost::json::value scored_decoder(bool space_before);
/// Scores of which the merges, in their order, are made; TL-CONVERT-001 where there are none.
/// `name` is the file's.
std::vector<float> scores_of(const ListedMerges& merges, const text::GgufVocabulary& v,
                             const std::string& name);

}  // namespace tlaloc::llm
