#include "tlaloc/text/template_text.h"

#include <utf8proc.h>

#include <algorithm>

#include "tlaloc/text/template_interpreter.h"
#include "tlaloc/text/template_lexer.h"
#include "tlaloc/text/unicode_class.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

void append_lower(std::string& out, char32_t c) {
  append_char(out, lower_case(c));
  if (c == 0x130) append_char(out, 0x307);
}

void append_upper(std::string& out, char32_t c) {
  if (c == 0xDF) {
    out += "SS";
  } else {
    append_char(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

template <class F>
void for_each_char(std::string_view s, F f) {
  for (const char *p = s.data(), *end = p + s.size(); p != end;) f(next_char(p));
}

/// Where the space at the end of `s` begins.
std::size_t strip_end(std::string_view s) {
  std::size_t end = s.size();
  while (end > 0) {
    std::size_t i = end - 1;
    while (i > 0 && is_continuation(s[i])) --i;
    const char* p = s.data() + i;
    if (!is_python_space(next_char(p))) break;
    end = i;
  }
  return end;
}

}  // namespace

std::string upper_text(const std::string& s) {
  std::string out;
  for_each_char(s, [&](char32_t c) { append_upper(out, c); });
  return out;
}

std::string lower_text(const std::string& s) {
  std::string out;
  auto cased = [](char32_t c) { return (CharClasses::get()[c] & (kUpper | kLower)) != 0; };
  bool after_cased = false;
  for (const char *p = s.data(), *end = p + s.size(); p != end;) {
    const char32_t c = next_char(p);
    const char* next = p;
    // A sigma at the end of a word has a form of its own.
    if (c == 0x3A3 && after_cased && (next == end || !cased(next_char(next)))) {
      append_char(out, 0x3C2);
    } else {
      append_lower(out, c);
    }
    after_cased = cased(c);
  }
  return out;
}

std::string title_text(const std::string& s) {
  std::string out;
  bool inside = false;
  for_each_char(s, [&](char32_t c) {
    inside ? append_lower(out, c) : append_upper(out, c);
    inside = (CharClasses::get()[c] & (kUpper | kLower)) != 0;
  });
  return out;
}

std::string capitalized_text(const std::string& s) {
  if (s.empty()) return s;
  const std::size_t first = length_of(s[0]);
  return upper_text(s.substr(0, first)) + lower_text(s.substr(first));
}

bool is_digit(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND || c == 0xB2 ||
         c == 0xB3 || c == 0xB9;
}

std::vector<std::string> split_at(Heap& heap, std::string_view s, std::string_view separator,
                                  std::int64_t limit, bool from_right) {
  if (separator.empty()) fail_value("an empty separator");
  std::vector<std::string> parts;
  while (limit != 0) {
    const std::size_t at = from_right ? s.rfind(separator) : s.find(separator);
    if (at == s.npos) break;
    const std::size_t after = at + separator.size();
    heap.take(sizeof(std::string));
    parts.emplace_back(from_right ? s.substr(after) : s.substr(0, at));
    s = from_right ? s.substr(0, at) : s.substr(after);
    --limit;
  }
  parts.emplace_back(s);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> split_at_space(Heap& heap, std::string_view s, std::int64_t limit,
                                        bool from_right) {
  const Characters chars(heap, s);
  auto is_space = [&](std::size_t i) {
    const char* p = chars[i].data();
    return is_python_space(next_char(p));
  };
  std::vector<std::string> parts;
  std::size_t begin = 0, end = chars.size();
  // Space at the end from which is cut is skipped; at the other end it stays with what is left.
  auto skip = [&] {
    while (!from_right && begin < end && is_space(begin)) ++begin;
    while (from_right && end > begin && is_space(end - 1)) --end;
  };
  auto join = [&](std::size_t first, std::size_t last) {
    std::string out;
    for (std::size_t i = first; i < last; ++i) out += chars[i];
    return out;
  };
  for (; limit != 0; --limit) {
    skip();
    if (begin == end) break;
    heap.take(sizeof(std::string));
    std::size_t at = from_right ? end : begin;
    while (from_right ? at > begin && !is_space(at - 1) : at < end && !is_space(at)) {
      from_right ? --at : ++at;
    }
    parts.push_back(from_right ? join(at, end) : join(begin, at));
    (from_right ? end : begin) = at;
  }
  skip();
  if (begin < end && limit == 0) parts.push_back(join(begin, end));
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<std::string> split_lines(Heap& heap, std::string_view s, bool keep_ends) {
  std::vector<std::string> lines;
  std::string line;
  bool open = false;
  const Characters chars(heap, s);
  for (std::size_t i = 0; i < chars.size(); ++i) {
    const char* p = chars[i].data();
    const char32_t c = next_char(p);
    const bool ends = (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
                      c == 0x2028 || c == 0x2029;
    if (!ends) {
      line += chars[i];
      open = true;
      continue;
    }
    if (keep_ends) line += chars[i];
    if (c == '\r' && i + 1 < chars.size() && chars[i + 1] == "\n") {
      ++i;
      if (keep_ends) line += '\n';
    }
    heap.take(sizeof(std::string));
    lines.push_back(std::move(line));
    line.clear();
    open = false;
  }
  if (open) lines.push_back(std::move(line));
  return lines;
}

Value replaced_text(Heap& heap, std::string_view s, std::string_view from, std::string_view to,
                    std::int64_t most) {
  HeapText out(heap);
  if (from.empty()) {
    // Between all characters.
    for (std::string_view c : Characters(heap, s)) {
      if (most != 0) {
        out += to;
        --most;
      }
      out += c;
    }
    if (most != 0) out += to;
    return std::move(out).value();
  }
  std::size_t done = 0;
  for (std::size_t at; most != 0 && (at = s.find(from, done)) != s.npos; --most) {
    out += s.substr(done, at - done);
    out += to;
    done = at + from.size();
  }
  out += s.substr(done);
  return std::move(out).value();
}

std::string python_strip(Heap& heap, const std::string& s, const Value* chars, bool left,
                         bool right) {
  if (chars == nullptr) {
    std::string_view v = s;
    if (right) v = v.substr(0, strip_end(v));
    while (left && !v.empty()) {
      const char* p = v.data();
      if (!is_python_space(next_char(p))) break;
      v.remove_prefix(static_cast<std::size_t>(p - v.data()));
    }
    return std::string(v);
  }
  if (!chars->is(Value::kString)) fail_value("strip takes a text");
  const Characters set(heap, chars->str()), all(heap, s);
  auto in_set = [&](std::string_view c) {
    return std::find(set.begin(), set.end(), c) != set.end();
  };
  std::size_t begin = 0, end = all.size();
  while (left && begin < end && in_set(all[begin])) ++begin;
  while (right && end > begin && in_set(all[end - 1])) --end;
  std::string out;
  for (std::size_t i = begin; i < end; ++i) out += all[i];
  return out;
}

}  // namespace tlaloc::text
