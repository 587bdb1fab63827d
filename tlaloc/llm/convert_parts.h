// What converting consists of.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tlaloc/io/gguf.h"
#include "tlaloc/llm/checkpoint.h"
#include "tlaloc/llm/convert.h"
#include "tlaloc/llm/weights.h"

namespace tlaloc::llm {

/// UserError TL-CONVERT-001.
[[noreturn]] void refuse_to_convert(const std::string& message, const std::string& hint);

/// The tensors of one format, made of those of another.
class ConvertedTensors {
 public:
  /// `to` is the decoder that the other format says. `gguf`: what is written is.
  ConvertedTensors(const io::TensorFile& tensors, const Decoder& from, const Decoder& to,
                   const ConvertOptions& options, bool gguf);

  ConvertedTensors(const ConvertedTensors&) = delete;  // parts point to its sources
  ConvertedTensors& operator=(const ConvertedTensors&) = delete;

  const std::vector<io::TensorSpec>& specs() const { return specs_; }
  /// The bytes of a tensor, until the next call.
  std::span<const std::byte> bytes(const std::string& name);

 private:
  /// What becomes of rows of a tensor.
  struct Change {
    std::int64_t head_width = 0;  ///< of heads whose pairs are laid out anew; 0: none are
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

/// How transformers writes the tokenizer of GGUF metadata: files of a folder, by name.
std::vector<std::pair<std::string, std::string>> tokenizer_files(const io::GgufMetadata& metadata);
/// The metadata of a tokenizer.json of the name, for a model with so many rows; TL-CONVERT-001
/// where GGUF can't say what it does.
void add_tokenizer(const boost::json::object& tokenizer, const std::string& name,
                   std::int64_t vocabulary, io::GgufMetadata& metadata);

}  // namespace tlaloc::llm
