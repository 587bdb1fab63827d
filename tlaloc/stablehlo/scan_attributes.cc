// Attributes as MLIR writes them, and as the pretty forms of StableHLO do.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "tlaloc/stablehlo/scanner.h"

namespace tlaloc::stablehlo {
namespace {

/// i64, ui8, f32, index …: the type behind a number.
bool is_element_type(std::string_view w) {
  if (w == "index" || w == "bf16") return true;
  if (w.starts_with("ui") || w.starts_with("si")) w.remove_prefix(1);
  if (w.size() < 2 || (w[0] != 'i' && w[0] != 'f')) return false;
  return std::ranges::all_of(w.substr(1), [](char c) { return c >= '0' && c <= '9'; });
}

/// Attributes that aliases stand for: so many, and so many for each byte of text.
constexpr std::size_t kFreeCopies = std::size_t{1} << 16, kCopiesPerByte = 4;

}  // namespace

std::size_t Attribute::size() const {
  std::size_t n = 1 + integers.size() + types.size();
  for (const Attribute& a : items) n += a.size();
  for (const NamedAttribute& f : fields) n += f.value.size();
  return n;
}
const Attribute* Attribute::find(std::string_view name) const {
  for (const NamedAttribute& f : fields) {
    if (f.name == name) return &f.value;
  }
  return nullptr;
}
const Attribute* Operation::find(std::string_view attribute) const {
  for (const NamedAttribute& a : attributes) {
    if (a.name == attribute) return &a.value;
  }
  return nullptr;
}
const Attribute* Operation::find(std::initializer_list<std::string_view> names) const {
  for (std::string_view n : names) {
    if (const Attribute* a = find(n)) return a;
  }
  return nullptr;
}

Attribute Scanner::number() {
  Attribute a;
  a.at = at();
  const char* start = p_;
  const bool negative = *p_ == '-';
  if (negative) ++p_;
  if (p_ < end_ && *p_ == '0' && p_ + 1 < end_ && p_[1] == 'x') {
    std::uint64_t bits = 0;
    const auto [after, error] = std::from_chars(p_ + 2, end_, bits, 16);
    if (error != std::errc()) fail("this is no hexadecimal number of 64 bits");
    p_ = after;
    a.kind = Attribute::Kind::integer;
    a.integer = static_cast<std::int64_t>(negative ? -bits : bits);
  } else {
    while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
    const bool real = p_ < end_ && (*p_ == '.' || *p_ == 'e' || *p_ == 'E');
    p_ = start;
    if (real) {
      a.kind = Attribute::Kind::real;
      const auto [after, error] = std::from_chars(p_, end_, a.real);
      if (error == std::errc::invalid_argument) fail_expected("a number");
      p_ = after;
    } else {
      a.kind = Attribute::Kind::integer;
      a.integer = integer();
    }
  }
  const char* end = p_;
  // A tensor's type is the operation's.
  if (!accept(':') || !is_element_type(word())) p_ = end;
  return a;
}

Attribute Scanner::list() {
  Attribute a;
  a.at = at();
  a.kind = Attribute::Kind::integers;
  expect("[");
  if (accept(']')) return a;
  do {
    const char c = peek();
    Attribute item = attribute();
    if (a.kind == Attribute::Kind::integers && item.kind == Attribute::Kind::integer &&
        (c == '-' || (c >= '0' && c <= '9'))) {
      a.integers.push_back(item.integer);
      continue;
    }
    if (a.kind == Attribute::Kind::integers && !a.integers.empty()) {
      source_.fail(item.at, "a list of integers holds something else");
    }
    a.kind = Attribute::Kind::list;
    a.items.push_back(std::move(item));
  } while (accept(','));
  expect("]");
  return a;
}

Attribute Scanner::array() {
  Attribute a;
  a.at = at();
  a.kind = Attribute::Kind::integers;
  expect("<");
  const std::string_view element = expect_word_of("an element type");
  if (!is_element_type(element)) source_.fail(a.at, "an array's element type is none");
  if (accept(':')) {
    do {
      if (element == "i1") {
        const std::string_view w = expect_word_of("true or false");
        if (w != "true" && w != "false") fail("expected true or false");
        a.integers.push_back(w == "true");
      } else if (element.starts_with('f')) {
        a.kind = Attribute::Kind::list;
        a.items.push_back(number());
      } else {
        a.integers.push_back(integer());
      }
    } while (accept(','));
  }
  expect(">");
  return a;
}

Attribute Scanner::dense() {
  Attribute a;
  a.at = at();
  a.kind = Attribute::Kind::dense;
  a.text = balanced();
  expect(":");
  skip();
  const char* start = p_;
  if (!accept("tensor") && !accept("vector")) fail_expected("a tensor's type");
  // Layouts are tensors of index.
  if (balanced().ends_with("index")) return a;
  p_ = start;
  a.type = type();
  return a;
}

Attribute Scanner::dialect_attribute() {
  const Offset start = at();
  const char* from = p_;
  expect("#");
  const std::string_view name = suffix_id();
  Attribute a;
  a.at = start;
  if (p_ < end_ && *p_ == '<') {
    const char* opening = p_;
    // Fields, `#stablehlo.gather<offset_dims = [1]>`, or anything else.
    ++p_;
    if (accept('>')) {
      a.kind = Attribute::Kind::dictionary;
      a.text = name;
      return a;
    }
    if (!word().empty() && peek() == '=') {
      p_ = opening + 1;
      a.kind = Attribute::Kind::dictionary;
      fields(a.fields, '>');
      a.text = name;
      return a;
    }
    p_ = opening;
    balanced();
    a.kind = Attribute::Kind::word;
    a.text = {from, p_};
    return a;
  }
  const auto known = attribute_aliases_.find(name);
  if (known != attribute_aliases_.end()) {
    copied_ += known->second.size;
    if (copied_ > kFreeCopies + kCopiesPerByte * source_.text.size()) {
      source_.unsupported(start, "#" + std::string(name), "aliases of aliases say too much");
    }
    return known->second.value;
  }
  a.kind = Attribute::Kind::word;
  a.text = {from, p_};
  return a;
}

Attribute Scanner::type_attribute() {
  Attribute a;
  a.at = at();
  if (peek() == '(') {
    a.kind = Attribute::Kind::function;
    parenthesized_types(a.types);
    a.integer = static_cast<std::int64_t>(a.types.size());
    expect("->");
    types(a.types);
    return a;
  }
  a.kind = Attribute::Kind::type;
  a.type = type();
  return a;
}

Attribute Scanner::attribute() {
  const Depth depth(*this);
  Attribute a;
  a.at = at();
  const char c = peek();
  if (c == '-' || (c >= '0' && c <= '9')) return number();
  switch (c) {
    case '"':
      a.kind = Attribute::Kind::string;
      a.text = quoted();
      return a;
    case '@':
      a.kind = Attribute::Kind::symbol;
      a.text = symbol();
      return a;
    case '[':
      return list();
    case '{':
      ++p_;
      a.kind = Attribute::Kind::dictionary;
      fields(a.fields, '}');
      return a;
    case '#':
      return dialect_attribute();
    case '<':
      ++p_;
      a.kind = Attribute::Kind::dictionary;
      fields(a.fields, '>');
      return a;
    case '(':
      return type_attribute();
    default:
      break;
  }
  const char* start = p_;
  const std::string_view w = word();
  if (w == "true" || w == "false") {
    a.kind = Attribute::Kind::boolean;
    a.flag = w == "true";
  } else if (w == "array") {
    return array();
  } else if (w == "dense") {
    return dense();
  } else if (w == "dense_resource") {
    source_.unsupported(a.at, "dense_resource", "constants outside of the text are not supported",
                        "print the module without eliding resources");
  } else if (w == "tensor" || w == "complex" || w == "tuple") {
    p_ = start;
    return type_attribute();
  } else if (!w.empty()) {
    a.kind = Attribute::Kind::word;
    if (p_ < end_ && *p_ == '<') balanced();
    a.text = {start, p_};
  } else {
    fail_expected("an attribute");
  }
  return a;
}

Attribute Scanner::named_value() {
  Attribute a = attribute();
  // `[0] x [1]`: two lists.
  if (a.kind == Attribute::Kind::integers && peek() == 'x' && accept_word("x")) {
    Attribute both;
    both.at = a.at;
    both.kind = Attribute::Kind::list;
    both.items.push_back(std::move(a));
    both.items.push_back(attribute());
    return both;
  }
  return a;
}

Attribute Scanner::opaque() {
  Attribute a;
  a.at = at();
  a.kind = Attribute::Kind::word;
  a.text = balanced();
  return a;
}

void Scanner::fields(std::vector<NamedAttribute>& out, char close) {
  const Depth depth(*this);
  const Offset start = at();
  const std::size_t first = out.size();
  if (accept(close)) return;
  do {
    NamedAttribute f;
    f.name = peek() == '"' ? quoted() : expect_word_of("an attribute's name");
    if (accept('=')) f.value = named_value();
    out.push_back(std::move(f));
  } while (accept(','));
  if (!accept(close)) fail_expected(std::string("'") + close + "'");
  refuse_repeated(source_, std::span(out).subspan(first), start);
}

void refuse_repeated(const Source& source, std::span<const NamedAttribute> fields, Offset at) {
  if (fields.size() < 2) return;
  std::vector<std::string_view> names;
  for (const NamedAttribute& f : fields) names.push_back(f.name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  if (twice != names.end()) {
    source.fail(at, "the attribute " + std::string(*twice) + " is given twice");
  }
}

}  // namespace tlaloc::stablehlo
