// Values from JSON and to it.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <cmath>

#include "tlaloc/text/template_interpreter.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

void append_quoted(HeapText& out, std::string_view s) {
  out += '"';
  for (char c : s) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

class Writer {
 public:
  Writer(Heap& heap, std::optional<std::string> indent, std::string_view item, std::string_view key,
         bool sorted)
      : out(heap), indent_(std::move(indent)), item_(item), key_(key), sorted_(sorted) {}

  HeapText out;

  void write(const Value& v, int depth = 0) {
    if (depth > 100) fail_limit("a value nested too deep");
    out.heap().step();
    switch (v.kind) {
      case Value::kNone:
        out += "null";
        return;
      case Value::kBool:
        out += v.boolean ? "true" : "false";
        return;
      case Value::kInteger:
        out += std::to_string(v.integer);
        return;
      case Value::kFloat:
        out += std::isnan(v.number)   ? "NaN"
               : std::isinf(v.number) ? (v.number < 0 ? "-Infinity" : "Infinity")
                                      : float_text(v.number);
        return;
      case Value::kString:
        append_quoted(out, v.str());
        return;
      case Value::kList:
      case Value::kTuple:
        if (v.items().empty()) {
          out += "[]";
          return;
        }
        out += '[';
        for (std::size_t i = 0; i < v.items().size(); ++i) {
          separate(i > 0, depth + 1);
          write(v.items()[i], depth + 1);
        }
        close(']', depth);
        return;
      case Value::kDict:
        write_dict(v.dict(), depth);
        return;
      default:
        fail_value("a " + kind_name(v) + " has no JSON");
    }
  }

 private:
  void write_dict(const TemplateDict& d, int depth) {
    if (d.entries.empty()) {
      out += "{}";
      return;
    }
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& e : d.entries) entries.push_back(&e);
    if (sorted_) {
      std::stable_sort(entries.begin(), entries.end(), [&](const auto* a, const auto* b) {
        return compare(out.heap(), a->first, b->first) < 0;
      });
    }
    out += '{';
    bool more = false;
    for (const auto* e : entries) {
      separate(more, depth + 1);
      more = true;
      if (e->first.is(Value::kString)) {
        append_quoted(out, e->first.str());
      } else if (e->first.is(Value::kTuple)) {
        fail_value("a tuple as a key has no JSON");
      } else {
        out += '"';
        write(e->first, depth + 1);
        out += '"';
      }
      out += key_;
      write(e->second, depth + 1);
    }
    close('}', depth);
  }
  void separate(bool more, int depth) {
    if (more) out += item_;
    new_line(depth);
  }
  void new_line(int depth) {
    if (!indent_) return;
    out += '\n';
    for (int i = 0; i < depth; ++i) out += *indent_;
  }
  void close(char c, int depth) {
    new_line(depth);
    out += c;
  }
  std::optional<std::string> indent_;
  std::string_view item_, key_;
  bool sorted_;
};

}  // namespace

Value to_json(Heap& heap, const Value& v, std::optional<std::string> indent,
              std::string_view item_separator, std::string_view key_separator, bool sort_keys) {
  Writer writer(heap, std::move(indent), item_separator, key_separator, sort_keys);
  writer.write(v);
  return std::move(writer.out).value();
}

Value from_json(Heap& heap, const boost::json::value& v) {
  auto text = [&](const boost::json::string_view s) {
    return heap.text(replace_ill_formed(std::string_view(s.data(), s.size())));
  };
  switch (v.kind()) {
    case boost::json::kind::null:
      return Value::none();
    case boost::json::kind::bool_:
      return Value::of(v.get_bool());
    case boost::json::kind::int64:
      return Value::of(std::int64_t{v.get_int64()});
    case boost::json::kind::uint64:
      fail_value("an integer beyond 64 bits");
    case boost::json::kind::double_:
      return Value::of(v.get_double());
    case boost::json::kind::string:
      return text(v.get_string());
    case boost::json::kind::array: {
      std::vector<Value> items;
      for (const boost::json::value& item : v.get_array()) items.push_back(from_json(heap, item));
      return heap.list(std::move(items));
    }
    case boost::json::kind::object: {
      std::vector<std::pair<Value, Value>> entries;
      for (const auto& e : v.get_object()) {
        const Value key = text(e.key());
        entries.emplace_back(key, from_json(heap, e.value()));
      }
      return heap.dict(std::move(entries));
    }
  }
  return Value::none();
}

}  // namespace tlaloc::text
