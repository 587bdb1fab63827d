// Methods of texts, lists and dictionaries.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "tlaloc/text/template_interpreter.h"
#include "tlaloc/text/template_lexer.h"
#include "tlaloc/text/template_text.h"
#include "tlaloc/text/unicode_class.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

using Method = std::function<Value(Interpreter&, const Value&, Parameters&)>;

const std::string& text_of(const Value& v, std::string_view function) {
  if (!v.is(Value::kString)) fail_value(fmt::format("{} of a {}", function, kind_name(v)));
  return v.str();
}

Value strings(Interpreter& i, const std::vector<std::string>& parts) {
  std::vector<Value> items;
  for (const std::string& s : parts) items.push_back(i.heap().text(s));
  return i.heap().list(std::move(items));
}

Method strip(bool left, bool right) {
  return [left, right](Interpreter& i, const Value& self, Parameters& p) {
    const std::optional<Value> chars = p.next("chars");
    p.finish();
    const bool given = chars && !chars->is(Value::kNone);
    return i.heap().text(
        python_strip(i.heap(), self.str(), given ? &*chars : nullptr, left, right));
  };
}

/// str.split and str.rsplit.
Method split(bool from_right) {
  return [from_right](Interpreter& i, const Value& self, Parameters& p) {
    const std::optional<Value> separator = p.next("sep"), most = p.next("maxsplit");
    p.finish();
    const std::int64_t limit = most && most->is_integer() ? most->as_integer() : -1;
    const bool given = separator && !separator->is(Value::kNone);
    return strings(
        i, given ? split_at(i.heap(), self.str(), text_of(*separator, "split"), limit, from_right)
                 : split_at_space(i.heap(), self.str(), limit, from_right));
  };
}

Method starts(bool front) {
  return [front](Interpreter&, const Value& self, Parameters& p) {
    const Value what = p.required("prefix");
    p.finish();
    auto holds = [&](const Value& v) {
      const std::string& s = text_of(v, front ? "startswith" : "endswith");
      return front ? self.str().starts_with(s) : self.str().ends_with(s);
    };
    if (!what.is(Value::kTuple)) return Value::of(holds(what));
    return Value::of(std::any_of(what.items().begin(), what.items().end(), holds));
  };
}

Method of_text(std::string (*f)(const std::string&)) {
  return [f](Interpreter& i, const Value& self, Parameters& p) {
    p.finish();
    return i.heap().text(f(self.str()));
  };
}

Method all_chars(bool (*f)(char32_t)) {
  return [f](Interpreter&, const Value& self, Parameters& p) {
    p.finish();
    const std::string& s = self.str();
    bool all = !s.empty();
    for (const char *c = s.data(), *end = c + s.size(); c != end && all;) all = f(next_char(c));
    return Value::of(all);
  };
}

/// str.find, rfind, and index.
Method find(bool from_right, bool must) {
  return [from_right, must](Interpreter&, const Value& self, Parameters& p) {
    const std::string what = text_of(p.required("sub"), "find");
    p.finish();
    const std::string& s = self.str();
    const std::size_t at = from_right ? s.rfind(what) : s.find(what);
    if (at == s.npos && must) fail_value("the text that index looks for is not there");
    if (at == s.npos) return Value::of(std::int64_t{-1});
    return Value::of(static_cast<std::int64_t>(
        std::count_if(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char c) { return !is_continuation(c); })));
  };
}

Method affix(bool front) {
  return [front](Interpreter& i, const Value& self, Parameters& p) {
    const std::string what = text_of(p.required("prefix"), "removeprefix");
    p.finish();
    std::string s = self.str();
    if (front && s.starts_with(what)) s.erase(0, what.size());
    if (!front && s.ends_with(what)) s.resize(s.size() - what.size());
    return i.heap().text(std::move(s));
  };
}

Method partition(bool from_right) {
  return [from_right](Interpreter& i, const Value& self, Parameters& p) {
    const std::string what = text_of(p.required("sep"), "partition");
    p.finish();
    if (what.empty()) fail_value("an empty separator");
    const std::string& s = self.str();
    const std::size_t at = from_right ? s.rfind(what) : s.find(what);
    Heap& h = i.heap();
    std::vector<Value> parts;
    if (at == s.npos) {
      parts = {h.text(from_right ? "" : s), h.text(""), h.text(from_right ? s : "")};
    } else {
      parts = {h.text(s.substr(0, at)), h.text(what), h.text(s.substr(at + what.size()))};
    }
    return h.list(std::move(parts), Value::kTuple);
  };
}

const std::map<std::string, Method, std::less<>>& text_methods() {
  static const std::map<std::string, Method, std::less<>> methods{
      {"strip", strip(true, true)},
      {"lstrip", strip(true, false)},
      {"rstrip", strip(false, true)},
      {"split", split(false)},
      {"rsplit", split(true)},
      {"splitlines",
       [](Interpreter& i, const Value& self, Parameters& p) {
         const std::optional<Value> keep = p.next("keepends");
         p.finish();
         return strings(i, split_lines(i.heap(), self.str(), keep && truth(*keep)));
       }},
      {"startswith", starts(true)},
      {"endswith", starts(false)},
      {"removeprefix", affix(true)},
      {"removesuffix", affix(false)},
      {"partition", partition(false)},
      {"rpartition", partition(true)},
      {"upper", of_text(upper_text)},
      {"lower", of_text(lower_text)},
      {"title", of_text(title_text)},
      {"capitalize", of_text(capitalized_text)},
      {"find", find(false, false)},
      {"rfind", find(true, false)},
      {"index", find(false, true)},
      {"isspace", all_chars(is_python_space)},
      {"isdigit",
       all_chars([](char32_t c) { return c < 128 ? c >= '0' && c <= '9' : is_digit(c); })},
      {"isalpha", all_chars([](char32_t c) { return (CharClasses::get()[c] & kLetter) != 0; })},
      {"isalnum",
       all_chars([](char32_t c) { return (CharClasses::get()[c] & (kLetter | kNumber)) != 0; })},
      {"count",
       [](Interpreter&, const Value& self, Parameters& p) {
         const std::string what = text_of(p.required("sub"), "count");
         p.finish();
         if (what.empty()) return Value::of(static_cast<std::int64_t>(length(self)) + 1);
         std::int64_t n = 0;
         for (std::size_t at = 0; (at = self.str().find(what, at)) != std::string::npos; ++n) {
           at += what.size();
         }
         return Value::of(n);
       }},
      {"replace",
       [](Interpreter& i, const Value& self, Parameters& p) {
         const std::string from = text_of(p.required("old"), "replace");
         const std::string to = text_of(p.required("new"), "replace");
         const std::optional<Value> most = p.next("count");
         p.finish();
         return replaced_text(i.heap(), self.str(), from, to, most ? most->as_integer() : -1);
       }},
      {"join",
       [](Interpreter& i, const Value& self, Parameters& p) {
         const std::vector<Value> items = elements(i.heap(), p.required("iterable"));
         p.finish();
         HeapText out(i.heap());
         for (std::size_t k = 0; k < items.size(); ++k) {
           if (k > 0) out += self.str();
           out += text_of(items[k], "join");
         }
         return std::move(out).value();
       }},
  };
  return methods;
}

const std::map<std::string, Method, std::less<>>& dict_methods() {
  static const std::map<std::string, Method, std::less<>> methods{
      {"items",
       [](Interpreter& i, const Value& self, Parameters& p) {
         p.finish();
         std::vector<Value> out;
         for (const auto& [key, v] : self.dict().entries) {
           out.push_back(i.heap().list({key, v}, Value::kTuple));
         }
         return i.heap().list(std::move(out));
       }},
      {"keys",
       [](Interpreter& i, const Value& self, Parameters& p) {
         p.finish();
         return i.heap().list(elements(i.heap(), self));
       }},
      {"values",
       [](Interpreter& i, const Value& self, Parameters& p) {
         p.finish();
         std::vector<Value> out;
         for (const auto& [key, v] : self.dict().entries) out.push_back(v);
         return i.heap().list(std::move(out));
       }},
      {"get",
       [](Interpreter& i, const Value& self, Parameters& p) {
         const Value key = p.required("key");
         const std::optional<Value> otherwise = p.next("default");
         p.finish();
         for (const auto& [k, v] : self.dict().entries) {
           if (equal(i.heap(), k, key)) return v;
         }
         return otherwise.value_or(Value::none());
       }},
      {"copy",
       [](Interpreter&, const Value& self, Parameters& p) {
         p.finish();
         return self;
       }},
  };
  return methods;
}

const std::map<std::string, Method, std::less<>>& list_methods() {
  static const std::map<std::string, Method, std::less<>> methods{
      {"index",
       [](Interpreter& i, const Value& self, Parameters& p) {
         const Value what = p.required("value");
         p.finish();
         for (std::size_t k = 0; k < self.items().size(); ++k) {
           if (equal(i.heap(), self.items()[k], what))
             return Value::of(static_cast<std::int64_t>(k));
         }
         fail_value("the value that index looks for is not there");
       }},
      {"count",
       [](Interpreter& i, const Value& self, Parameters& p) {
         const Value what = p.required("value");
         p.finish();
         return Value::of(static_cast<std::int64_t>(
             std::count_if(self.items().begin(), self.items().end(),
                           [&](const Value& v) { return equal(i.heap(), v, what); })));
       }},
  };
  return methods;
}

/// Methods that change a value, which the sandbox of transformers forbids.
bool changes(const Value& v, const std::string& name) {
  static const std::vector<std::string> kList{"append", "clear",  "extend",  "insert",
                                              "pop",    "remove", "reverse", "sort"};
  static const std::vector<std::string> kDict{"clear", "pop", "popitem", "setdefault", "update"};
  const std::vector<std::string>& names = v.is(Value::kDict) ? kDict : kList;
  return (v.is(Value::kList) || v.is(Value::kDict)) &&
         std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Value method_of(Interpreter& interpreter, const Value& self, const std::string& name) {
  if (changes(self, name)) {
    return interpreter.heap().function(name, [name](Interpreter&, Arguments&) -> Value {
      fail_value(fmt::format("{} would change a value, which templates can't", name));
    });
  }
  const auto* methods = self.is(Value::kString) ? &text_methods()
                        : self.is(Value::kDict) ? &dict_methods()
                        : self.is_sequence()    ? &list_methods()
                                                : nullptr;
  if (methods == nullptr) return {};
  const auto it = methods->find(name);
  if (it == methods->end()) return {};
  const Method& method = it->second;
  return interpreter.heap().function(name, [&method, self, name](Interpreter& i, Arguments& a) {
    Parameters p(name, a);
    if (self.is(Value::kString)) i.heap().step(self.str().size());
    return method(i, self, p);
  });
}

}  // namespace tlaloc::text
