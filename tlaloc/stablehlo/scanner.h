// A cursor over MLIR text, and what types and attributes look like; internal to stablehlo.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlaloc/stablehlo/tree.h"

namespace tlaloc::stablehlo {

class Scanner {
 public:
  explicit Scanner(const Source& source, std::deque<TensorSpec>& specs)
      : source_(source), specs_(specs), p_(source.text.data()), end_(p_ + source.text.size()) {}

  // ---- tokens; blanks and comments in front of one are skipped ----
  bool at_end() {
    skip();
    return p_ == end_;
  }
  /// The next character; 0 at the end.
  char peek() {
    skip();
    return p_ < end_ ? *p_ : '\0';
  }
  bool peek(std::string_view token) {
    skip();
    return std::string_view(p_, end_).starts_with(token);
  }
  /// Punctuation.
  bool accept(std::string_view token) {
    if (!peek(token)) return false;
    p_ += token.size();
    return true;
  }
  bool accept(char c) {
    skip();
    if (p_ == end_ || *p_ != c) return false;
    ++p_;
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail_expected("'" + std::string(token) + "'");
  }
  /// A whole word.
  bool accept_word(std::string_view word);
  void expect_word(std::string_view word);
  /// [A-Za-z_][A-Za-z0-9_$.]*; empty where there is none.
  std::string_view word();
  std::string_view expect_word_of(const char* what);
  /// What stands behind % or @ or #: [A-Za-z0-9_$.-]+
  std::string_view suffix_id();
  /// A name behind '@', which may be quoted.
  std::string_view symbol();
  /// Between quotes, escapes as written.
  std::string_view quoted();
  std::int64_t integer();

  Offset at() {
    skip();
    return static_cast<Offset>(p_ - source_.text.data());
  }
  [[noreturn]] void fail(const std::string& message) { source_.fail(at(), message); }
  [[noreturn]] void fail_expected(const std::string& what);
  const Source& source() const { return source_; }

  // ---- types ----
  /// The type of a value. TL-HLO-002 for what is no tensor, and for element types without dtype.
  SpecRef type();
  /// `type` or `(types)`.
  void types(std::vector<SpecRef>& out);
  void parenthesized_types(std::vector<SpecRef>& out);

  // ---- attributes ----
  Attribute attribute();
  /// What stands behind `name =`: pretty forms also write `[0] x [1]`.
  Attribute named_value();
  /// Anything in brackets.
  Attribute opaque();
  /// `{a = 1, b}` behind its opening brace, or the same up to another closing character.
  void fields(std::vector<NamedAttribute>& out, char close);
  /// `loc(…)`, if there is one.
  void skip_location();
  /// An opening bracket and all up to the one that closes it. The text between them.
  std::string_view balanced();
  /// From the item of a module that begins at `at` to the next one, or to the module's end.
  void skip_item(Offset at);
  /// `#name = …` or `!name = …` at the top of a module.
  void alias();

  std::size_t unknown_sizes = 0;  ///< `?` seen so far

 private:
  void skip();
  SpecRef intern(TensorSpec spec);
  SpecRef tensor(std::string_view inside, Offset at);
  Attribute number();
  Attribute list();
  Attribute dense();
  Attribute array();
  Attribute dialect_attribute();
  Attribute type_attribute();

  class Depth {
   public:
    explicit Depth(Scanner& s) : s_(s) {
      if (++s_.depth_ > kMaxDepth) s_.fail("attributes nest deeper than 64");
    }
    ~Depth() { --s_.depth_; }

   private:
    Scanner& s_;
  };

  const Source& source_;
  std::deque<TensorSpec>& specs_;
  const char* p_;
  const char* end_;
  int depth_ = 0;
  std::unordered_map<std::string_view, SpecRef> known_types_;  // by what stands between < and >
  std::unordered_map<std::string, SpecRef> interned_;          // by dtype and sizes
  /// Where the text says an alias, all of it is copied, so that copies of copies grow quickly.
  struct Alias {
    Attribute value;
    std::size_t size = 0;
  };
  std::unordered_map<std::string_view, Alias> attribute_aliases_;
  std::size_t copied_ = 0;
  std::unordered_map<std::string_view, SpecRef> type_aliases_;
};

/// Refuses a name that is there twice.
void refuse_repeated(const Source& source, std::span<const NamedAttribute> fields, Offset at);
/// Cuts at `separator` outside of brackets and quotes; parts are trimmed.
std::vector<std::string_view> split_outside(std::string_view text, char separator);

}  // namespace tlaloc::stablehlo
