#include "tlaloc/stablehlo/scanner.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace tlaloc::stablehlo {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '$' || c == '.'; }
bool is_suffix(char c) { return is_word(c) || c == '-'; }

}  // namespace

// ---- places and errors ----

Source::Source(std::string_view all, std::string name_for_errors, int first)
    : text(all), name(std::move(name_for_errors)), first_line(first) {
  for (std::size_t start = 0; start != std::string_view::npos;) {
    lines.push_back(static_cast<Offset>(start));
    start = text.find('\n', start);
    if (start != std::string_view::npos) ++start;
  }
}
Place Source::place(Offset at) const {
  const auto next = std::ranges::upper_bound(lines, at);  // never the first one, which is 0
  return {name, first_line + static_cast<int>(next - lines.begin()) - 1,
          static_cast<int>(at - next[-1]) + 1};
}
void Source::fail(Offset at, const std::string& message, const std::string& hint) const {
  throw UserError({"TL-HLO-001", "import", message, hint, place(at)});
}
void Source::unsupported(Offset at, const std::string& what, const std::string& message,
                         const std::string& hint) const {
  throw UserError({"TL-HLO-002", what, message, hint, place(at)});
}
void Scanner::fail_expected(const std::string& what) {
  skip();
  const std::string_view rest(p_, std::min<std::size_t>(20, static_cast<std::size_t>(end_ - p_)));
  const std::string_view line = rest.substr(0, rest.find('\n'));
  fail("expected " + what +
       (rest.empty() ? ", and the text ends here" : ", found '" + std::string(line) + "'"));
}

// ---- tokens ----

void Scanner::skip() {
  while (p_ < end_) {
    if (*p_ == ' ' || *p_ == '\n' || *p_ == '\t' || *p_ == '\r') {
      ++p_;
    } else if (*p_ == '/' && p_ + 1 < end_ && p_[1] == '/') {
      const void* line = std::memchr(p_, '\n', static_cast<std::size_t>(end_ - p_));
      p_ = line ? static_cast<const char*>(line) : end_;
    } else {
      return;
    }
  }
}
std::string_view Scanner::word() {
  skip();
  const char* start = p_;
  if (p_ < end_ && is_word_start(*p_)) {
    while (p_ < end_ && is_word(*p_)) ++p_;
  }
  return {start, p_};
}
std::string_view Scanner::expect_word_of(const char* what) {
  const std::string_view w = word();
  if (w.empty()) fail_expected(what);
  return w;
}
bool Scanner::accept_word(std::string_view wanted) {
  skip();
  const char* start = p_;
  if (word() == wanted) return true;
  p_ = start;
  return false;
}
void Scanner::expect_word(std::string_view wanted) {
  if (!accept_word(wanted)) fail_expected("'" + std::string(wanted) + "'");
}
std::string_view Scanner::suffix_id() {
  const char* start = p_;
  while (p_ < end_ && is_suffix(*p_)) ++p_;
  if (p_ == start) fail_expected("a name");
  return {start, p_};
}
std::string_view Scanner::symbol() {
  expect("@");
  if (p_ < end_ && *p_ == '"') return quoted();
  std::string_view name = suffix_id();
  if (name.find('$') == std::string_view::npos && peek("::")) fail("nested symbols are not known");
  return name;
}
std::string_view Scanner::quoted() {
  expect("\"");
  const char* start = p_;
  while (p_ < end_) {
    const char* quote =
        static_cast<const char*>(std::memchr(p_, '"', static_cast<std::size_t>(end_ - p_)));
    if (!quote) break;
    // Escaped if an odd number of backslashes stands in front.
    const char* back = quote;
    while (back > start && back[-1] == '\\') --back;
    p_ = quote + 1;
    if ((quote - back) % 2 == 0) return {start, quote};
  }
  p_ = start;
  fail("the string does not end");
}
std::int64_t Scanner::integer() {
  skip();
  std::int64_t x = 0;
  const auto [after, error] = std::from_chars(p_, end_, x);
  if (error == std::errc::result_out_of_range) fail("the integer is out of range");
  if (error != std::errc()) fail_expected("an integer");
  p_ = after;
  return x;
}
std::string_view Scanner::balanced() {
  skip();
  const Offset opening = at();
  std::string stack;
  const char* start = p_ + 1;
  while (p_ < end_) {
    const char c = *p_;
    if (c == '"') {
      quoted();
      continue;
    }
    if (c == '-' && p_ + 1 < end_ && p_[1] == '>') {
      p_ += 2;
      continue;
    }
    if (c == '/' && p_ + 1 < end_ && p_[1] == '/') {
      skip();
      continue;
    }
    constexpr std::string_view kOpen = "([{<", kClose = ")]}>";
    if (const std::size_t k = kOpen.find(c); k != std::string_view::npos) {
      if (stack.size() >= 4 * kMaxDepth) fail("brackets nest too deep");
      stack += kClose[k];
    } else if (kClose.find(c) != std::string_view::npos) {
      if (stack.empty() || stack.back() != c) fail("this bracket closes none");
      stack.pop_back();
      if (stack.empty()) return {start, p_++};
    } else if (stack.empty()) {
      fail_expected("an opening bracket");
    }
    ++p_;
  }
  source_.fail(opening, "the bracket is not closed");
}
void Scanner::skip_item(Offset at) {
  p_ = source_.text.data() + at;
  const char* start = p_;
  int depth = 0;
  for (skip(); p_ < end_; skip()) {
    const char c = *p_;
    const bool outside = depth == 0 && p_ != start;  // the item itself begins as others do
    if (c == '"') {
      const std::string_view name = quoted();
      if (outside && (name == "func.func" || name == "sdy.mesh")) {
        p_ = name.data() - 1;
        return;
      }
    } else if (is_word_start(c)) {
      const std::string_view name = word();
      if (outside && (name == "func.func" || name == "sdy.mesh")) {
        p_ = name.data();
        return;
      }
    } else {
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') {
        if (outside) return;
        depth = std::max(depth - 1, 0);
      }
      ++p_;
      if (c == '@' || c == '%' || c == '#') {  // names of anything
        while (p_ < end_ && is_suffix(*p_)) ++p_;
      }
    }
  }
}
void Scanner::skip_location() {
  skip();
  const char* start = p_;
  if (word() == "loc" && peek() == '(') {
    balanced();
  } else {
    p_ = start;
  }
}

// ---- types ----

bool TensorSpec::is_static() const { return std::ranges::find(extents, kUnknown) == extents.end(); }

SpecRef Scanner::intern(TensorSpec spec) {
  std::string key(name(spec.dtype));
  for (std::int64_t n : spec.extents) key += ',' + std::to_string(n);
  SpecRef& known = interned_[std::move(key)];
  if (!known) known = &specs_.emplace_back(std::move(spec));
  return known;
}

SpecRef Scanner::tensor(std::string_view inside, Offset at) {
  TensorSpec spec;
  const char* p = inside.data();
  const char* end = p + inside.size();
  auto blanks = [&] {
    while (p < end && (*p == ' ' || *p == '\n' || *p == '\t')) ++p;
  };
  for (blanks(); p < end && (is_digit(*p) || *p == '?'); blanks()) {
    std::int64_t n = TensorSpec::kUnknown;
    if (*p == '?') {
      ++p;
      ++unknown_sizes;
    } else {
      const auto [after, error] = std::from_chars(p, end, n);
      if (error != std::errc()) source_.fail(at, "a size is out of range");
      p = after;
    }
    spec.extents.push_back(n);
    if (spec.extents.size() > kMaxDepth) source_.fail(at, "a tensor has more than 64 axes");
    blanks();
    if (p == end || *p != 'x') source_.fail(at, "expected 'x' behind a size");
    ++p;
  }
  if (p < end && *p == '*')
    source_.unsupported(at, "tensor<*>", "tensors of unknown rank are not supported");
  std::string_view element(p, end);
  while (!element.empty() && element.back() == ' ') element.remove_suffix(1);
  struct Element {
    std::string_view name;
    DType dtype;
  };
  static constexpr Element kElements[] = {
      {"f32", DType::f32}, {"i1", DType::boolean}, {"i32", DType::i32},  {"i64", DType::i64},
      {"f64", DType::f64}, {"bf16", DType::bf16},  {"f16", DType::f16},  {"ui32", DType::u32},
      {"ui8", DType::u8},  {"i8", DType::i8},      {"ui64", DType::u64}, {"ui16", DType::u16},
      {"i16", DType::i16}};
  const auto known = std::ranges::find(kElements, element, &Element::name);
  if (known == std::end(kElements)) {
    const std::string text = "tensor<" + std::string(inside.substr(0, 60)) + ">";
    if (element.starts_with("complex")) {
      source_.unsupported(at, text, "complex numbers are not supported");
    }
    if (element.starts_with("!quant")) {
      source_.unsupported(at, text, "quantized types are not supported");
    }
    if (element.find(',') != std::string_view::npos) {
      source_.unsupported(at, text, "encodings and bounds of tensors are not supported");
    }
    source_.unsupported(at, text, "no dtype is '" + std::string(element.substr(0, 40)) + "'",
                        "convert it to one of i1, i8 to i64, ui8 to ui64, f16, bf16, f32, f64");
  }
  spec.dtype = known->dtype;
  // What no array can have would overflow later, far from its text.
  std::int64_t count = 1;
  for (std::int64_t n : spec.extents) {
    if (n == TensorSpec::kUnknown) continue;
    if (n > (std::int64_t{1} << 60) || __builtin_mul_overflow(count, n, &count)) {
      source_.unsupported(at, "tensor<" + std::string(inside.substr(0, 60)) + ">",
                          "64 bits don't hold the number of elements");
    }
  }
  return intern(std::move(spec));
}

SpecRef Scanner::type() {
  skip();
  const Offset start = at();
  const std::string_view rest(p_, end_);
  if (rest.starts_with("tensor<")) {
    p_ += 7;
    // The fast way: no nesting inside, and seen before.
    const auto* close =
        static_cast<const char*>(std::memchr(p_, '>', static_cast<std::size_t>(end_ - p_)));
    if (!close) fail("the type does not end");
    const std::string_view inside(p_, close);
    if (const auto known = known_types_.find(inside); known != known_types_.end()) {
      p_ = close + 1;
      if (known->second->extents.empty() || known->second->is_static()) return known->second;
      ++unknown_sizes;
      return known->second;
    }
    --p_;
    const std::string_view whole = balanced();
    const SpecRef spec = tensor(whole, start);
    known_types_.emplace(whole, spec);
    return spec;
  }
  if (rest.starts_with("!")) {
    ++p_;
    const std::string_view name = suffix_id();
    if (const auto known = type_aliases_.find(name); known != type_aliases_.end()) {
      if (!known->second->is_static()) ++unknown_sizes;
      return known->second;
    }
    source_.unsupported(start, "!" + std::string(name),
                        name == "stablehlo.token" ? "tokens are not supported"
                                                  : "values of this type are not supported");
  }
  if (rest.starts_with("tuple<")) source_.unsupported(start, "tuple", "tuples are not supported");
  if (const std::string_view w = word(); !w.empty()) {
    source_.unsupported(start, std::string(w), "values are tensors, and this is none");
  }
  fail_expected("a type");
}
void Scanner::types(std::vector<SpecRef>& out) {
  if (peek() == '(') {
    parenthesized_types(out);
  } else {
    out.push_back(type());
  }
}
void Scanner::parenthesized_types(std::vector<SpecRef>& out) {
  expect("(");
  if (accept(')')) return;
  do {
    out.push_back(type());
  } while (accept(','));
  expect(")");
}
void Scanner::alias() {
  const bool is_type = peek() == '!';
  ++p_;
  const Offset start = at();
  const std::string_view name = suffix_id();
  expect("=");
  if (is_type) {
    if (!type_aliases_.emplace(name, type()).second) {
      source_.fail(start, "!" + std::string(name) + " is defined twice");
    }
  } else if (accept_word("loc")) {
    balanced();
  } else {
    Alias a{attribute(), 0};
    a.size = a.value.size();
    if (!attribute_aliases_.emplace(name, std::move(a)).second) {
      source_.fail(start, "#" + std::string(name) + " is defined twice");
    }
  }
}

std::vector<std::string_view> split_outside(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quotes = false;
  std::size_t start = 0;
  auto add = [&](std::size_t end) {
    std::string_view part = text.substr(start, end - start);
    while (!part.empty() && (part.front() == ' ' || part.front() == '\n')) part.remove_prefix(1);
    while (!part.empty() && (part.back() == ' ' || part.back() == '\n')) part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    start = end + 1;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"' && (i == 0 || text[i - 1] != '\\')) quotes = !quotes;
    if (quotes) continue;
    if (c == '[' || c == '(' || c == '{') ++depth;
    if (c == ']' || c == ')' || c == '}') --depth;
    if (c == separator && depth == 0) add(i);
  }
  add(text.size());
  return parts;
}

}  // namespace tlaloc::stablehlo
