#include "tlaloc/text/template_value.h"

#include <fmt/format.h>
#include <utf8proc.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

constexpr int kMostDepth = 100;

void check_depth(int depth) {
  if (depth > kMostDepth) fail_limit("a value nested too deep");
}

bool is_printable(char32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    case UTF8PROC_CATEGORY_ZS:
      return c == ' ';
    default:
      return true;
  }
}

void append_quoted(HeapText& out, std::string_view s) {
  const char quote = s.find('\'') != s.npos && s.find('"') == s.npos ? '"' : '\'';
  out += quote;
  for (const char *p = s.data(), *end = p + s.size(); p != end;) {
    const char* const first = p;
    const char32_t c = next_char(p);
    if (c == static_cast<unsigned char>(quote) || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\r') {
      out += "\\r";
    } else if (c == '\t') {
      out += "\\t";
    } else if (is_printable(c)) {
      out += std::string_view(first, static_cast<std::size_t>(p - first));
    } else if (c < 0x100) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    } else if (c < 0x10000) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += fmt::format("\\U{:08x}", static_cast<unsigned>(c));
    }
  }
  out += quote;
}

void append_repr(HeapText& out, const Value& v, int depth) {
  check_depth(depth);
  out.heap().step();
  switch (v.kind) {
    case Value::kUndefined:
      out += "Undefined";
      return;
    case Value::kNone:
      out += "None";
      return;
    case Value::kBool:
      out += v.boolean ? "True" : "False";
      return;
    case Value::kInteger:
      out += std::to_string(v.integer);
      return;
    case Value::kFloat:
      out += float_text(v.number);
      return;
    case Value::kString:
      append_quoted(out, v.str());
      return;
    case Value::kList:
    case Value::kTuple: {
      const bool list = v.is(Value::kList);
      out += list ? '[' : '(';
      for (std::size_t i = 0; i < v.items().size(); ++i) {
        if (i > 0) out += ", ";
        append_repr(out, v.items()[i], depth + 1);
      }
      if (!list && v.items().size() == 1) out += ',';
      out += list ? ']' : ')';
      return;
    }
    case Value::kDict: {
      out += '{';
      bool more = false;
      for (const auto& [key, value] : v.dict().entries) {
        if (more) out += ", ";
        more = true;
        append_repr(out, key, depth + 1);
        out += ": ";
        append_repr(out, value, depth + 1);
      }
      out += '}';
      return;
    }
    case Value::kFunction:
    case Value::kNamespace:
    case Value::kLoop:
      break;
  }
  fail_value("a " + kind_name(v) + " has no text");
}

}  // namespace

const std::string& Value::str() const { return static_cast<const TemplateString*>(object)->text; }
const std::vector<Value>& Value::items() const {
  return static_cast<const TemplateList*>(object)->items;
}
const TemplateDict& Value::dict() const { return *static_cast<const TemplateDict*>(object); }

const Value* TemplateDict::find(std::string_view key) const {
  const auto it = index.find(std::string(key));
  return it == index.end() ? nullptr : &entries[it->second].second;
}

void fail_value(const std::string& message) { throw TemplateError("TL-TEMPLATE-002", message); }
void fail_limit(const std::string& message) { throw TemplateError("TL-TEMPLATE-003", message); }

void Heap::step(std::size_t bytes) {
  // What a step takes a processor that reads so many bytes.
  constexpr std::size_t kBytes = 4096;
  const std::size_t n = 1 + bytes / kBytes;
  if (n > steps_left_) fail_limit(fmt::format("the template takes more than {} steps", steps_));
  steps_left_ -= n;
}

Value Heap::dict(std::vector<std::pair<Value, Value>> entries) {
  take(entries.size() * (2 * sizeof(Value) + 64) + 128);
  auto o = std::make_unique<TemplateDict>();
  for (auto& [key, value] : entries) {
    if (key.is(Value::kString)) {
      const auto [it, is_new] = o->index.try_emplace(key.str(), o->entries.size());
      if (!is_new) {
        o->entries[it->second].second = value;
        continue;
      }
    } else if (key.is(Value::kList) || key.is(Value::kDict)) {
      fail_value("a " + kind_name(key) + " can't be a key");
    } else {
      const auto it = std::find_if(o->entries.begin(), o->entries.end(),
                                   [&](const auto& e) { return equal(*this, e.first, key); });
      if (it != o->entries.end()) {
        it->second = value;
        continue;
      }
    }
    o->entries.emplace_back(key, value);
  }
  return keep(Value::kDict, std::move(o));
}

bool truth(const Value& v) {
  switch (v.kind) {
    case Value::kUndefined:
    case Value::kNone:
      return false;
    case Value::kBool:
      return v.boolean;
    case Value::kInteger:
      return v.integer != 0;
    case Value::kFloat:
      return v.number != 0;
    case Value::kString:
      return !v.str().empty();
    case Value::kList:
    case Value::kTuple:
      return !v.items().empty();
    case Value::kDict:
      return !v.dict().entries.empty();
    case Value::kFunction:
    case Value::kNamespace:
    case Value::kLoop:
      return true;
  }
  return true;
}

bool equal(Heap& heap, const Value& a, const Value& b, int depth) {
  check_depth(depth);
  heap.step();
  if (a.is_number() && b.is_number()) {
    return a.is_integer() && b.is_integer() ? a.as_integer() == b.as_integer()
                                            : a.as_number() == b.as_number();
  }
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case Value::kUndefined:
    case Value::kNone:
      return true;
    case Value::kString:
      if (a.str().size() != b.str().size()) return false;
      heap.step(a.str().size());
      return a.str() == b.str();
    case Value::kList:
    case Value::kTuple:
      return std::equal(
          a.items().begin(), a.items().end(), b.items().begin(), b.items().end(),
          [&](const Value& x, const Value& y) { return equal(heap, x, y, depth + 1); });
    case Value::kDict: {
      const auto &x = a.dict().entries, &y = b.dict().entries;
      return x.size() == y.size() && std::all_of(x.begin(), x.end(), [&](const auto& e) {
               if (e.first.is(Value::kString)) {
                 const Value* other = b.dict().find(e.first.str());
                 return other != nullptr && equal(heap, e.second, *other, depth + 1);
               }
               return std::any_of(y.begin(), y.end(), [&](const auto& f) {
                 return equal(heap, e.first, f.first, depth + 1) &&
                        equal(heap, e.second, f.second, depth + 1);
               });
             });
    }
    default:
      return a.object == b.object;
  }
}

int compare(Heap& heap, const Value& a, const Value& b, int depth) {
  check_depth(depth);
  heap.step();
  auto sign = [](auto x, auto y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (a.is_number() && b.is_number()) {
    return a.is_integer() && b.is_integer() ? sign(a.as_integer(), b.as_integer())
                                            : sign(a.as_number(), b.as_number());
  }
  if (a.is(Value::kString) && b.is(Value::kString)) {
    heap.step(std::min(a.str().size(), b.str().size()));
    return sign(a.str().compare(b.str()), 0);
  }
  if (a.is_sequence() && a.kind == b.kind) {
    const std::size_t n = std::min(a.items().size(), b.items().size());
    for (std::size_t i = 0; i < n; ++i) {
      if (!equal(heap, a.items()[i], b.items()[i])) {
        return compare(heap, a.items()[i], b.items()[i], depth + 1);
      }
    }
    return sign(a.items().size(), b.items().size());
  }
  fail_value("there is no order between " + kind_name(a) + " and " + kind_name(b));
}

std::string float_text(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  char buffer[64];
  // The shortest digits that read back to the number, in Python's notation.
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific);
  const std::string_view s(buffer, static_cast<std::size_t>(end.ptr - buffer));
  const std::size_t e = s.find('e');
  int exponent = 0;
  const char* digits = s.data() + e + 1;
  std::from_chars(digits + (*digits == '+'), end.ptr, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(s);
  const auto fixed = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::fixed);
  std::string out(buffer, fixed.ptr);
  if (out.find('.') == out.npos) out += ".0";
  return out;
}

void append_text(HeapText& out, const Value& v) {
  if (v.is(Value::kString)) {
    out += v.str();
  } else if (!v.is(Value::kUndefined)) {
    append_repr(out, v, 0);
  }
}

std::string to_text(Heap& heap, const Value& v) {
  if (v.is(Value::kString)) return v.str();
  HeapText out(heap);
  append_text(out, v);
  return std::move(out).text();
}

std::string to_repr(Heap& heap, const Value& v) {
  HeapText out(heap);
  append_repr(out, v, 0);
  return std::move(out).text();
}

std::string kind_name(const Value& v) {
  switch (v.kind) {
    case Value::kUndefined:
      return v.object == nullptr ? "undefined value"
                                 : "undefined value (" +
                                       static_cast<const TemplateUndefined*>(v.object)->what + ")";
    case Value::kNone:
      return "none";
    case Value::kBool:
      return "boolean";
    case Value::kInteger:
      return "integer";
    case Value::kFloat:
      return "float";
    case Value::kString:
      return "string";
    case Value::kList:
      return "list";
    case Value::kTuple:
      return "tuple";
    case Value::kDict:
      return "dictionary";
    case Value::kFunction:
      return "function";
    case Value::kNamespace:
      return "namespace";
    case Value::kLoop:
      return "loop";
  }
  return "value";
}

Characters::Characters(Heap& heap, std::string_view s) : heap_(heap), counted_(0) {
  const auto n = static_cast<std::size_t>(
      std::count_if(s.begin(), s.end(), [](char c) { return !is_continuation(c); }));
  heap.step(s.size());
  heap.take(n * sizeof(std::string_view));
  counted_ = n * sizeof(std::string_view);
  all_.reserve(n);
  for (std::size_t i = 0; i < s.size(); i += all_.back().size()) {
    all_.push_back(s.substr(i, length_of(s[i])));
  }
}

std::vector<Value> elements(Heap& heap, const Value& v) {
  std::vector<Value> out;
  switch (v.kind) {
    case Value::kUndefined:
      return out;
    case Value::kList:
    case Value::kTuple:
      heap.take(v.items().size() * sizeof(Value));
      return v.items();
    case Value::kDict:
      heap.take(v.dict().entries.size() * sizeof(Value));
      for (const auto& [key, value] : v.dict().entries) out.push_back(key);
      return out;
    case Value::kString:
      for (std::string_view c : Characters(heap, v.str())) {
        heap.take(sizeof(Value));
        out.push_back(heap.text(std::string(c)));
      }
      return out;
    default:
      fail_value("a " + kind_name(v) + " can't be looped over");
  }
}

std::size_t length(const Value& v) {
  switch (v.kind) {
    case Value::kUndefined:
      return 0;
    case Value::kString:
      return static_cast<std::size_t>(std::count_if(v.str().begin(), v.str().end(),
                                                    [](char c) { return !is_continuation(c); }));
    case Value::kList:
    case Value::kTuple:
      return v.items().size();
    case Value::kDict:
      return v.dict().entries.size();
    default:
      fail_value("a " + kind_name(v) + " has no length");
  }
}

}  // namespace tlaloc::text
