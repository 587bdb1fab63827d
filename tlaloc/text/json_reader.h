// tokenizer.json, read in one pass: vocabulary and merges into flat lists, the rest as a tree.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::text {

/// Strings, one after the other.
class StringList {
 public:
  /// Room for so many strings with so many bytes.
  void reserve(std::size_t strings, std::size_t bytes) {
    ends_.reserve(strings);
    bytes_.reserve(bytes);
  }
  void add(std::string_view s) {
    bytes_ += s;
    ends_.push_back(bytes_.size());
  }
  std::size_t size() const { return ends_.size(); }
  std::size_t bytes() const { return bytes_.size(); }
  std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;
};

struct TokenizerDocument {
  boost::json::value root;        ///< without /model/vocab and /model/merges, which are null in it
  StringList tokens;              ///< of /model/vocab, an object or a list of pairs
  std::vector<std::int64_t> ids;  ///< where it is an object
  std::vector<double> scores;     ///< where it is a list
  bool has_vocab = false, vocab_is_list = false;
  StringList merges;  ///< of /model/merges: left and right, in turn
  bool has_merges = false;
};

/// UserError TL-TOKENIZER-001 with line and column for what is no JSON, or too deep or too large,
/// and for an object that has a key twice: readers disagree about which one counts.
TokenizerDocument read_tokenizer_document(std::string_view json, const std::string& name);

}  // namespace tlaloc::text
