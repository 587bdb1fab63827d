// What turns pieces of text into tokens.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tlaloc/text/aligned_text.h"
#include "tlaloc/text/vocabulary.h"

namespace tlaloc::text {

/// Tokens, and where in the text they stand if that is wanted.
class TokenSink {
 public:
  explicit TokenSink(bool wants_ranges = false) : wants_ranges_(wants_ranges) {}
  void clear(bool wants_ranges) {
    size_ = 0;
    wants_ranges_ = wants_ranges;
  }
  bool wants_ranges() const { return wants_ranges_; }
  std::size_t size() const { return size_; }
  /// Makes room for `more` tokens that push() does not check for.
  void reserve(std::size_t more) {
    if (capacity_ - size_ < more || (wants_ranges_ && !ranges_)) grow(more);
  }
  void push(TokenId id, Range r) {
    ids_[size_] = id;
    if (wants_ranges_) ranges_[size_] = r;
    ++size_;
  }
  /// Appends `count` ids, of which there may be up to `written` more that don't count.
  void push_ids(const TokenId* ids, std::size_t count, std::size_t written) {
    std::memcpy(ids_.get() + size_, ids, written * sizeof(TokenId));
    size_ += count;
  }
  std::span<const TokenId> ids() const { return {ids_.get(), size_}; }
  std::span<Range> ranges() { return {ranges_.get(), wants_ranges_ ? size_ : 0}; }
  std::size_t bytes() const {
    return capacity_ * (sizeof(TokenId) + (ranges_ ? sizeof(Range) : 0));
  }

 private:
  void grow(std::size_t more);
  bool wants_ranges_;
  std::size_t size_ = 0, capacity_ = 0;
  std::unique_ptr<TokenId[]> ids_;
  std::unique_ptr<Range[]> ranges_;
};

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

/// What a thread keeps between texts: what a model remembers, and room to work in.
class ModelState {
 public:
  virtual ~ModelState() = default;
  /// Of the room that grows with texts.
  virtual std::size_t bytes() const { return 0; }
};

class Model {
 public:
  virtual ~Model() = default;
  virtual std::unique_ptr<ModelState> make_state() const = 0;
  /// Whether a byte-level model can take this text as it is, in place of the characters that stand
  /// for its bytes.
  virtual bool takes_raw(std::string_view) const { return false; }
  /// Appends the tokens of each piece of `text`, which is raw if takes_raw() holds for it.
  /// `state` is from make_state(), of one thread at a time.
  virtual void tokenize(std::string_view text, std::span<const Range> pieces, bool raw,
                        ModelState& state, TokenSink& out) const = 0;
  const Vocabulary& vocabulary() const { return vocabulary_; }

 protected:
  explicit Model(Vocabulary vocabulary) : vocabulary_(std::move(vocabulary)) {}

 private:
  Vocabulary vocabulary_;
};
using ModelPtr = std::unique_ptr<const Model>;

}  // namespace tlaloc::text
