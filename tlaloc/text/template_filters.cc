// Filters and tests.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "tlaloc/text/template_interpreter.h"
#include "tlaloc/text/template_text.h"

namespace tlaloc::text {
namespace {

using Filter = std::function<Value(Interpreter&, const Value&, Parameters&)>;
using Test = std::function<bool(Interpreter&, const Value&, Parameters&)>;

Filter of_text(std::string (*f)(const std::string&)) {
  return [f](Interpreter& i, const Value& v, Parameters& p) {
    p.finish();
    return i.heap().text(f(to_text(i.heap(), v)));
  };
}

/// What "a.b.0" names in a value.
Value path(Interpreter& i, Value v, const Value& name) {
  if (name.is_integer()) return i.item(v, name);
  for (const std::string& part : split_at(i.heap(), to_text(i.heap(), name), ".", -1, false)) {
    std::int64_t index = 0;
    const auto read = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = read.ec == std::errc() && read.ptr == part.data() + part.size();
    v = is_index ? i.item(v, Value::of(index)) : i.item(v, i.heap().text(part));
  }
  return v;
}

/// Texts are compared without case, unless asked otherwise.
Value folded(Interpreter& i, const Value& v, bool case_sensitive) {
  return v.is(Value::kString) && !case_sensitive ? i.heap().text(lower_text(v.str())) : v;
}

bool flag(Parameters& p, std::string_view name) {
  const std::optional<Value> v = p.next(name);
  return v && truth(*v);
}

std::int64_t integer(const Value& v, std::string_view what) {
  if (!v.is_integer())
    fail_value(fmt::format("{} takes an integer, and got a {}", what, kind_name(v)));
  return v.as_integer();
}

using Keyed = std::vector<std::pair<Value, Value>>;
Value sorted(Interpreter& i, Keyed keyed, bool reverse) {
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    i.step();
    return reverse ? compare(i.heap(), b.first, a.first) < 0
                   : compare(i.heap(), a.first, b.first) < 0;
  });
  std::vector<Value> out;
  for (const auto& [key, v] : keyed) out.push_back(v);
  return i.heap().list(std::move(out));
}

Keyed keyed(Interpreter& i, const Value& v, const std::optional<Value>& attribute, bool sensitive) {
  Keyed out;
  for (const Value& item : elements(i.heap(), v)) {
    const bool whole = !attribute || attribute->is(Value::kNone);
    out.emplace_back(folded(i, whole ? item : path(i, item, *attribute), sensitive), item);
  }
  return out;
}

Value sort(Interpreter& i, const Value& v, Parameters& p) {
  const bool reverse = flag(p, "reverse"), sensitive = flag(p, "case_sensitive");
  const std::optional<Value> attribute = p.next("attribute");
  p.finish();
  return sorted(i, keyed(i, v, attribute, sensitive), reverse);
}

Value dictsort(Interpreter& i, const Value& v, Parameters& p) {
  const bool sensitive = flag(p, "case_sensitive");
  const std::optional<Value> by = p.next("by");
  const bool reverse = flag(p, "reverse");
  p.finish();
  if (!v.is(Value::kDict)) fail_value("dictsort of a " + kind_name(v));
  const bool by_value = by && to_text(i.heap(), *by) == "value";
  Keyed out;
  for (const auto& [key, value] : v.dict().entries) {
    out.emplace_back(folded(i, by_value ? value : key, sensitive),
                     i.heap().list({key, value}, Value::kTuple));
  }
  return sorted(i, std::move(out), reverse);
}

Filter extreme(bool largest) {
  return [largest](Interpreter& i, const Value& v, Parameters& p) {
    const bool sensitive = flag(p, "case_sensitive");
    const std::optional<Value> attribute = p.next("attribute");
    p.finish();
    const Keyed all = keyed(i, v, attribute, sensitive);
    if (all.empty()) return i.heap().undefined("the extreme of nothing");
    std::size_t best = 0;
    for (std::size_t k = 1; k < all.size(); ++k) {
      const int order = compare(i.heap(), all[k].first, all[best].first);
      if (largest ? order > 0 : order < 0) best = k;
    }
    return all[best].second;
  };
}

Value unique(Interpreter& i, const Value& v, Parameters& p) {
  const bool sensitive = flag(p, "case_sensitive");
  const std::optional<Value> attribute = p.next("attribute");
  p.finish();
  std::vector<Value> seen, out;
  for (const auto& [key, item] : keyed(i, v, attribute, sensitive)) {
    bool known = false;
    for (const Value& s : seen) {
      i.step();
      known = known || equal(i.heap(), s, key);
    }
    if (known) continue;
    seen.push_back(key);
    out.push_back(item);
  }
  return i.heap().list(std::move(out));
}

Value join(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> separator = p.next("d"), attribute = p.next("attribute");
  p.finish();
  const std::string between = separator ? to_text(i.heap(), *separator) : "";
  HeapText out(i.heap());
  bool more = false;
  for (const Value& item : elements(i.heap(), v)) {
    if (more) out += between;
    more = true;
    const bool whole = !attribute || attribute->is(Value::kNone);
    append_text(out, whole ? item : path(i, item, *attribute));
  }
  return std::move(out).value();
}

Value map(Interpreter& i, const Value& v, Parameters& p, Arguments& rest) {
  const std::vector<Value> items = elements(i.heap(), v);
  std::vector<Value> out;
  if (rest.positional.empty()) {
    const Value attribute = p.required("attribute");
    const std::optional<Value> otherwise = p.next("default");
    p.finish();
    for (const Value& item : items) {
      Value got = path(i, item, attribute);
      if (got.is(Value::kUndefined) && otherwise) got = *otherwise;
      out.push_back(got);
    }
  } else {
    const std::string name = to_text(i.heap(), rest.positional[0]);
    rest.positional.erase(rest.positional.begin());
    for (const Value& item : items) {
      Arguments copy = rest;
      i.step();
      out.push_back(i.filter(name, item, copy));
    }
  }
  return i.heap().list(std::move(out));
}

/// select, reject, and the same by an attribute.
Value select(Interpreter& i, const Value& v, Arguments& rest, bool keeps, bool by_attribute) {
  std::optional<Value> attribute;
  if (by_attribute) {
    if (rest.positional.empty()) fail_value("selectattr needs the name of an attribute");
    attribute = rest.positional[0];
    rest.positional.erase(rest.positional.begin());
  }
  std::string name;
  if (!rest.positional.empty()) {
    name = to_text(i.heap(), rest.positional[0]);
    rest.positional.erase(rest.positional.begin());
  }
  std::vector<Value> out;
  for (const Value& item : elements(i.heap(), v)) {
    const Value what = attribute ? path(i, item, *attribute) : item;
    Arguments copy = rest;
    i.step();
    if ((name.empty() ? truth(what) : i.test(name, what, copy)) == keeps) out.push_back(item);
  }
  return i.heap().list(std::move(out));
}

Value round(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> places = p.next("precision"), method = p.next("method");
  p.finish();
  if (!v.is_number()) fail_value("round of a " + kind_name(v));
  const std::string how = method ? to_text(i.heap(), *method) : "common";
  const std::int64_t n = places ? integer(*places, "round") : 0;
  if (n < -300 || n > 300) fail_value("round to so many places");
  const double scale = std::pow(10.0, static_cast<double>(n)), x = v.as_number();
  if (how == "ceil") return Value::of(std::ceil(x * scale) / scale);
  if (how == "floor") return Value::of(std::floor(x * scale) / scale);
  if (how != "common") fail_value("round is common, ceil or floor");
  if (v.is_integer() && n >= 0) return Value::of(v.as_integer());
  if (n < 0) return Value::of(std::nearbyint(x * scale) / scale);
  // As Python does: the nearest decimal of the exact binary number, ties to even.
  double rounded = x;
  const std::string text = fmt::format("{:.{}f}", x, static_cast<int>(n));
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return Value::of(rounded);
}

std::optional<double> to_number(Heap& heap, const Value& v) {
  if (v.is_number()) return v.as_number();
  if (!v.is(Value::kString)) return std::nullopt;
  const std::string s = python_strip(heap, v.str(), nullptr, true, true);
  const char *begin = s.data() + (s.starts_with('+') ? 1 : 0), *end = s.data() + s.size();
  double d = 0;
  const auto read = std::from_chars(begin, end, d);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return d;
}

Value to_integer(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> otherwise = p.next("default"), base = p.next("base");
  p.finish();
  const std::int64_t radix = base ? integer(*base, "int") : 10;
  if (radix < 2 || radix > 36) fail_value("int with such a base");
  if (v.is_integer()) return Value::of(v.as_integer());
  if (v.is(Value::kString)) {
    const std::string s = python_strip(i.heap(), v.str(), nullptr, true, true);
    const char *begin = s.data() + (s.starts_with('+') ? 1 : 0), *end = s.data() + s.size();
    std::int64_t n = 0;
    const auto read = std::from_chars(begin, end, n, static_cast<int>(radix));
    if (read.ec == std::errc() && read.ptr == end) return Value::of(n);
  }
  const std::optional<double> d = to_number(i.heap(), v);
  if (d && std::abs(*d) < 9.2e18) return Value::of(static_cast<std::int64_t>(*d));
  return otherwise.value_or(Value::of(std::int64_t{0}));
}

Value indent(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> width = p.next("width");
  const bool first = flag(p, "first"), blank = flag(p, "blank");
  p.finish();
  std::string by(4, ' ');
  if (width && width->is(Value::kString)) {
    by = width->str();
  } else if (width) {
    const std::int64_t n = integer(*width, "indent");
    if (n > 10'000) fail_limit("indent by so much");
    by.assign(static_cast<std::size_t>(std::max<std::int64_t>(0, n)), ' ');
  }
  std::vector<std::string> lines = split_lines(i.heap(), to_text(i.heap(), v) + "\n", false);
  HeapText out(i.heap());
  if (first) out += by;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    if (k > 0) {
      out += '\n';
      if (blank || !lines[k].empty()) out += by;
    }
    out += lines[k];
  }
  return std::move(out).value();
}

Value tojson(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> ascii = p.next("ensure_ascii"), indent = p.next("indent"),
                             separators = p.next("separators"), sorts = p.next("sort_keys");
  p.finish();
  if (ascii && truth(*ascii)) fail_value("tojson with ensure_ascii");
  std::optional<std::string> by;
  if (indent && indent->is(Value::kString)) {
    by = indent->str();
  } else if (indent && indent->is_integer()) {
    if (indent->as_integer() > 1000) fail_limit("tojson with such an indent");
    by =
        std::string(static_cast<std::size_t>(std::max<std::int64_t>(0, indent->as_integer())), ' ');
  }
  std::string between = by ? "," : ", ", colon = ": ";
  if (separators && separators->is_sequence() && separators->items().size() == 2) {
    between = to_text(i.heap(), separators->items()[0]);
    colon = to_text(i.heap(), separators->items()[1]);
  }
  return to_json(i.heap(), v, by, between, colon, sorts && truth(*sorts));
}

Value replace(Interpreter& i, const Value& v, Parameters& p) {
  const std::string from = to_text(i.heap(), p.required("old")),
                    to = to_text(i.heap(), p.required("new"));
  const std::optional<Value> most = p.next("count");
  p.finish();
  const bool all = !most || most->is(Value::kNone);
  return replaced_text(i.heap(), to_text(i.heap(), v), from, to,
                       all ? -1 : integer(*most, "replace"));
}

Value trim(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> chars = p.next("chars");
  p.finish();
  const bool given = chars && !chars->is(Value::kNone);
  return i.heap().text(
      python_strip(i.heap(), to_text(i.heap(), v), given ? &*chars : nullptr, true, true));
}

Value escape(Interpreter& i, const Value& v, Parameters& p) {
  p.finish();
  HeapText out(i.heap());
  for (char c : to_text(i.heap(), v)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return std::move(out).value();
}

Value reverse(Interpreter& i, const Value& v, Parameters& p) {
  p.finish();
  std::vector<Value> items = elements(i.heap(), v);
  std::reverse(items.begin(), items.end());
  if (!v.is(Value::kString)) return i.heap().list(std::move(items));
  std::string out;
  for (const Value& c : items) out += c.str();
  return i.heap().text(std::move(out));
}

Value sum(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> attribute = p.next("attribute"), start = p.next("start");
  p.finish();
  Value total = start.value_or(Value::of(std::int64_t{0}));
  for (const Value& item : elements(i.heap(), v)) {
    const bool whole = !attribute || attribute->is(Value::kNone);
    const Value x = whole ? item : path(i, item, *attribute);
    if (!x.is_number() || !total.is_number()) fail_value("sum of a " + kind_name(x));
    total = arithmetic("+", total, x);
  }
  return total;
}

Value otherwise(Interpreter& i, const Value& v, Parameters& p) {
  const std::optional<Value> value = p.next("default_value");
  const bool boolean = flag(p, "boolean");
  p.finish();
  if (v.is(Value::kUndefined) || (boolean && !truth(v))) return value ? *value : i.heap().text("");
  return v;
}

Value end_of(Interpreter& i, const Value& v, Parameters& p, bool front) {
  p.finish();
  const std::vector<Value> items = elements(i.heap(), v);
  if (items.empty()) return i.heap().undefined("the first or last of nothing");
  return front ? items.front() : items.back();
}

const std::map<std::string, Filter, std::less<>>& filters() {
  static const Filter kDefault = otherwise,
                      kLength = [](Interpreter&, const Value& v, Parameters& p) {
                        p.finish();
                        return Value::of(static_cast<std::int64_t>(length(v)));
                      };
  static const std::map<std::string, Filter, std::less<>> all{
      {"abs",
       [](Interpreter&, const Value& v, Parameters& p) {
         p.finish();
         if (!v.is_number()) fail_value("abs of a " + kind_name(v));
         return v.as_number() < 0 ? arithmetic("*", v, Value::of(std::int64_t{-1})) : v;
       }},
      {"capitalize", of_text(capitalized_text)},
      {"count", kLength},
      {"d", kDefault},
      {"default", kDefault},
      {"dictsort", dictsort},
      {"e", escape},
      {"escape", escape},
      {"first",
       [](Interpreter& i, const Value& v, Parameters& p) { return end_of(i, v, p, true); }},
      {"float",
       [](Interpreter& i, const Value& v, Parameters& p) {
         const std::optional<Value> other = p.next("default");
         p.finish();
         const std::optional<double> d = to_number(i.heap(), v);
         return d ? Value::of(*d) : other.value_or(Value::of(0.0));
       }},
      {"indent", indent},
      {"int", to_integer},
      {"items",
       [](Interpreter& i, const Value& v, Parameters& p) {
         p.finish();
         if (v.is(Value::kUndefined)) return i.heap().list({});
         if (!v.is(Value::kDict)) fail_value("items of a " + kind_name(v));
         Arguments none;
         return i.call(i.attribute(v, "items"), none);
       }},
      {"join", join},
      {"last",
       [](Interpreter& i, const Value& v, Parameters& p) { return end_of(i, v, p, false); }},
      {"length", kLength},
      {"list",
       [](Interpreter& i, const Value& v, Parameters& p) {
         p.finish();
         return i.heap().list(elements(i.heap(), v));
       }},
      {"lower", of_text(lower_text)},
      {"max", extreme(true)},
      {"min", extreme(false)},
      {"replace", replace},
      {"reverse", reverse},
      {"round", round},
      {"safe",
       [](Interpreter& i, const Value& v, Parameters& p) {
         p.finish();
         return i.heap().text(to_text(i.heap(), v));
       }},
      {"sort", sort},
      {"string",
       [](Interpreter& i, const Value& v, Parameters& p) {
         p.finish();
         return i.heap().text(to_text(i.heap(), v));
       }},
      {"sum", sum},
      {"title", of_text(title_text)},
      {"tojson", tojson},
      {"trim", trim},
      {"unique", unique},
      {"upper", of_text(upper_text)},
  };
  return all;
}

Test of_kind(bool (*f)(const Value&)) {
  return [f](Interpreter&, const Value& v, Parameters& p) {
    p.finish();
    return f(v);
  };
}

Test compares(bool (*f)(int)) {
  return [f](Interpreter& i, const Value& v, Parameters& p) {
    const Value other = p.required("other");
    p.finish();
    return f(compare(i.heap(), v, other));
  };
}

Test divides(std::int64_t by, std::int64_t rest) {
  return [by, rest](Interpreter&, const Value& v, Parameters& p) {
    const std::int64_t n = by != 0 ? by : integer(p.required("num"), "divisibleby");
    p.finish();
    if (n == 0) fail_value("a division by zero");
    return n == -1 || ((integer(v, "the test") % n + n) % n) == rest;
  };
}

Test is_case(std::string (*f)(const std::string&)) {
  return [f](Interpreter& i, const Value& v, Parameters& p) {
    p.finish();
    const std::string s = to_text(i.heap(), v);
    i.heap().step(s.size());
    return f(s) == s && (upper_text(s) != s || lower_text(s) != s);
  };
}

const std::map<std::string, Test, std::less<>>& tests() {
  static const Test kEqual = [](Interpreter& i, const Value& v, Parameters& p) {
    const Value other = p.required("other");
    p.finish();
    return equal(i.heap(), v, other);
  };
  static const Test kUnequal = [](Interpreter& i, const Value& v, Parameters& p) {
    return !kEqual(i, v, p);
  };
  static const Test kLess = compares([](int c) { return c < 0; }),
                    kLessEqual = compares([](int c) { return c <= 0; }),
                    kGreater = compares([](int c) { return c > 0; }),
                    kGreaterEqual = compares([](int c) { return c >= 0; });
  static const std::map<std::string, Test, std::less<>> all{
      {"boolean", of_kind([](const Value& v) { return v.is(Value::kBool); })},
      {"callable", of_kind([](const Value& v) { return v.is(Value::kFunction); })},
      {"defined", of_kind([](const Value& v) { return !v.is(Value::kUndefined); })},
      {"undefined", of_kind([](const Value& v) { return v.is(Value::kUndefined); })},
      {"divisibleby", divides(0, 0)},
      {"even", divides(2, 0)},
      {"odd", divides(2, 1)},
      {"eq", kEqual},
      {"equalto", kEqual},
      {"==", kEqual},
      {"ne", kUnequal},
      {"!=", kUnequal},
      {"lt", kLess},
      {"lessthan", kLess},
      {"<", kLess},
      {"le", kLessEqual},
      {"<=", kLessEqual},
      {"gt", kGreater},
      {"greaterthan", kGreater},
      {">", kGreater},
      {"ge", kGreaterEqual},
      {">=", kGreaterEqual},
      {"false", of_kind([](const Value& v) { return v.is(Value::kBool) && !v.boolean; })},
      {"true", of_kind([](const Value& v) { return v.is(Value::kBool) && v.boolean; })},
      {"float", of_kind([](const Value& v) { return v.is(Value::kFloat); })},
      {"integer", of_kind([](const Value& v) { return v.is(Value::kInteger); })},
      {"number", of_kind([](const Value& v) { return v.is_number(); })},
      {"none", of_kind([](const Value& v) { return v.is(Value::kNone); })},
      {"string", of_kind([](const Value& v) { return v.is(Value::kString); })},
      {"mapping", of_kind([](const Value& v) { return v.is(Value::kDict); })},
      {"iterable", of_kind([](const Value& v) {
         return v.is(Value::kString) || v.is_sequence() || v.is(Value::kDict) ||
                v.is(Value::kUndefined) || v.is(Value::kLoop);
       })},
      {"sequence", of_kind([](const Value& v) {
         return v.is(Value::kString) || v.is_sequence() || v.is(Value::kDict) ||
                v.is(Value::kUndefined);
       })},
      {"lower", is_case(lower_text)},
      {"upper", is_case(upper_text)},
      {"in",
       [](Interpreter& i, const Value& v, Parameters& p) {
         const Value where = p.required("seq");
         p.finish();
         if (where.is(Value::kString)) {
           i.heap().step(where.str().size());
           return where.str().find(to_text(i.heap(), v)) != std::string::npos;
         }
         const std::vector<Value> items = elements(i.heap(), where);
         return std::any_of(items.begin(), items.end(),
                            [&](const Value& x) { return equal(i.heap(), x, v); });
       }},
      {"sameas",
       [](Interpreter& i, const Value& v, Parameters& p) {
         const Value other = p.required("other");
         p.finish();
         return v.kind == other.kind && equal(i.heap(), v, other);
       }},
  };
  return all;
}

}  // namespace

Value Interpreter::filter(std::string_view name, const Value& v, Arguments& a) {
  const Deeper deeper(*this);
  Parameters p(name, a);
  if (name == "map") return map(*this, v, p, a);
  if (name == "select" || name == "reject") return select(*this, v, a, name == "select", false);
  if (name == "selectattr" || name == "rejectattr") {
    return select(*this, v, a, name == "selectattr", true);
  }
  const auto it = filters().find(name);
  if (it == filters().end()) fail_value(fmt::format("there is no filter '{}' here", name));
  if (v.is(Value::kString)) heap_.step(v.str().size());
  return it->second(*this, v, p);
}

bool Interpreter::test(std::string_view name, const Value& v, Arguments& a) {
  const auto it = tests().find(name);
  if (it == tests().end()) fail_value(fmt::format("there is no test '{}' here", name));
  Parameters p(name, a);
  return it->second(*this, v, p);
}

}  // namespace tlaloc::text
