#include "tlaloc/bounded/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::bounded {
namespace {

constexpr char kFormat[] = "tlaloc-bounded";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kMaxRank = 64, kMaxValues = 65536;
constexpr std::string_view kRoles[] = {"data", "valid_length", "valid_mask"};

// ---- writing ----

std::string list(const std::vector<std::int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}
std::string axes_text(const Manifest& m, const Value& v) {
  std::string s;
  for (const Axis& a : v.axes) {
    s += s.empty() ? "" : ", ";
    s += a.bound ? "{\"bound\": " + json_quoted(m.bounds[*a.bound].name) + "}"
                 : fmt::format("{{\"size\": {}}}", a.size);
  }
  return "[" + s + "]";
}
std::string value_text(const Manifest& m, const Value& v) {
  return fmt::format("\"name\": {}, \"dtype\": \"{}\", \"axes\": {}", json_quoted(v.name),
                     name(v.dtype), axes_text(m, v));
}
/// JSON has no infinities, and a zero without a point is an integer, which has no sign.
std::string padding_text(double x) {
  if (std::isinf(x)) return x < 0 ? "\"-inf\"" : "\"inf\"";
  return x == 0 && std::signbit(x) ? "-0.0" : fmt::format("{}", x);
}
template <class T, class F>
std::string rows(const std::vector<T>& values, F row) {
  std::string s;
  for (const T& v : values) s += (s.empty() ? "\n    " : ",\n    ") + row(v);
  return "[" + s + (s.empty() ? "]" : "\n  ]");
}

}  // namespace

std::string Manifest::json() const {
  std::string s = fmt::format("{{\n  \"format\": \"{}\",\n  \"version\": {},\n  \"name\": {},\n",
                              kFormat, kVersion, json_quoted(name));
  s += "  \"bounds\": " + rows(bounds, [](const Bound& b) {
         return fmt::format("{{\"name\": {}, \"least\": {}, \"most\": {}, \"buckets\": {}}}",
                            json_quoted(b.name), b.least, b.most, list(b.buckets));
       });
  s += ",\n  \"inputs\": " + rows(inputs, [&](const Input& i) {
         std::string r =
             fmt::format("{{\"role\": \"{}\", {}", kRoles[static_cast<std::size_t>(i.role)],
                         value_text(*this, i));
         if (i.bound) r += ", \"bound\": " + json_quoted(bounds[*i.bound].name);
         if (i.role == Role::data) r += ", \"padding\": " + padding_text(i.padding);
         if (i.result) r += fmt::format(", \"result\": {}", *i.result);
         return r + "}";
       });
  s += ",\n  \"results\": " +
       rows(results, [&](const Value& v) { return "{" + value_text(*this, v) + "}"; });
  s += fmt::format(",\n  \"exceeded\": {},\n  \"bodies\": ", exceeded);
  s += rows(bodies, [](const Body& b) {
    return fmt::format("{{\"sizes\": {}, \"file\": {}, \"sha256\": \"{}\"}}", list(b.sizes),
                       json_quoted(b.file), b.sha256);
  });
  std::vector<std::string> sizes;
  for (const auto& one : check.sizes) sizes.push_back(list(one));
  s += fmt::format(
      ",\n  \"check\": {{\"tolerance\": {}, \"largest_difference\": {}, \"sizes\": [{}]}}\n}}\n",
      check.tolerance, check.largest_difference, fmt::join(sizes, ", "));
  return s;
}

// ---- reading ----

namespace {

/// A part of the text, and where it is, such as "bounds[1].name".
class Part {
 public:
  Part(const boost::json::value& value, const std::string& file, std::string at)
      : value_(value), file_(file), at_(std::move(at)) {}

  [[noreturn]] void fail(const std::string& message) const {
    throw UserError({"TL-BOUNDED-002",
                     "bounded",
                     file_ + ": " + (at_.empty() ? "" : at_ + " ") + message,
                     "export the program anew",
                     {}});
  }
  Part field(std::string_view key) const {
    const auto* found = object().if_contains(key);
    if (!found) fail("has no \"" + std::string(key) + "\"");
    return {*found, file_, at_ + (at_.empty() ? "" : ".") + std::string(key)};
  }
  bool has(std::string_view key) const { return object().contains(key); }
  /// Nothing beside these: what is not understood may change what the rest says.
  void expect_only(std::initializer_list<std::string_view> keys) const {
    for (const auto& f : object()) {
      if (std::ranges::find(keys, std::string_view(f.key())) == keys.end()) {
        fail("has " + json_quoted(f.key()) + ", which is unknown");
      }
    }
  }
  std::vector<Part> list(std::size_t most) const {
    if (!value_.is_array()) fail("is no list");
    if (value_.get_array().size() > most)
      fail("has more than " + std::to_string(most) + " entries");
    std::vector<Part> r;
    for (const auto& v : value_.get_array()) {
      r.emplace_back(v, file_, at_ + "[" + std::to_string(r.size()) + "]");
    }
    return r;
  }
  std::string text() const {
    if (!value_.is_string()) fail("is no string");
    return std::string(value_.get_string());
  }
  std::int64_t integer(std::int64_t least, std::int64_t most) const {
    if (!value_.is_int64()) fail("is no integer");
    const std::int64_t n = value_.get_int64();
    if (n < least || n > most) {
      fail(fmt::format("is {}, not from {} to {}", n, least, most));
    }
    return n;
  }
  double number() const {
    if (value_.is_int64()) return static_cast<double>(value_.get_int64());
    if (!value_.is_double() || !std::isfinite(value_.get_double())) fail("is no number");
    return value_.get_double();
  }
  double number_or_infinity() const {
    if (!value_.is_string()) return number();
    const auto& s = value_.get_string();
    if (s != "inf" && s != "-inf") fail("is no number");
    return (s == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
  }
  double size_of_difference() const {
    const double x = number();
    if (x < 0) fail("is negative");
    return x;
  }
  bool flag() const {
    if (!value_.is_bool()) fail("is not true or false");
    return value_.get_bool();
  }
  std::vector<std::int64_t> integers(std::size_t most, std::int64_t largest) const {
    std::vector<std::int64_t> r;
    for (const Part& p : list(most)) r.push_back(p.integer(0, largest));
    return r;
  }

 private:
  const boost::json::object& object() const {
    if (!value_.is_object()) fail("is no object");
    return value_.get_object();
  }
  const boost::json::value& value_;
  const std::string& file_;
  std::string at_;
};

Bound read_bound(const Part& p) {
  p.expect_only({"name", "least", "most", "buckets"});
  Bound b;
  b.name = p.field("name").text();
  b.most = p.field("most").integer(0, kMaxSize);
  b.least = p.field("least").integer(0, b.most);
  b.buckets = p.field("buckets").integers(4096, kMaxSize);
  try {
    check_buckets(b);
  } catch (const UserError& e) {
    p.fail("is wrong: " + e.info().message);
  }
  return b;
}
std::size_t bound_named(const Part& p, const Manifest& m) {
  const std::string wanted = p.text();
  for (std::size_t k = 0; k < m.bounds.size(); ++k) {
    if (m.bounds[k].name == wanted) return k;
  }
  p.fail("names no bound");
}
DType dtype_named(const Part& p) {
  const std::string wanted = p.text();
  for (int k = 0; k < kDTypeCount; ++k) {
    const auto t = static_cast<DType>(k);
    if (name(t) == wanted && !is_complex(t)) return t;
  }
  p.fail("is no element type");
}
void read_value(const Part& p, const Manifest& m, Value& v) {
  v.name = p.field("name").text();
  v.dtype = dtype_named(p.field("dtype"));
  Extents largest;
  const Part axes = p.field("axes");
  for (const Part& a : axes.list(kMaxRank)) {
    const bool bounded = a.has("bound");
    a.expect_only({bounded ? "bound" : "size"});
    Axis axis;
    if (bounded) {
      axis.bound = bound_named(a.field("bound"), m);
    } else {
      axis.size = a.field("size").integer(0, kMaxSize);
    }
    largest.push_back(bounded ? m.bounds[*axis.bound].most : axis.size);
    v.axes.push_back(axis);
  }
  try {
    checked_bytes(v.dtype, largest);
  } catch (const UserError& e) {
    axes.fail("are too large: " + e.info().message);
  }
}
Input read_input(const Part& p, const Manifest& m) {
  const Part role = p.field("role");
  const auto known = std::ranges::find(kRoles, role.text());
  if (known == std::end(kRoles)) role.fail("is unknown");
  Input i;
  i.role = static_cast<Role>(known - std::begin(kRoles));
  read_value(p, m, i);
  if (i.role == Role::data) {
    p.expect_only({"role", "name", "dtype", "axes", "padding", "result"});
    const Part padding = p.field("padding");
    i.padding = padding.number_or_infinity();
    if (!can_pad(i.dtype, i.padding)) padding.fail("is no number of that type");
    if (p.has("result")) {
      i.result = static_cast<std::size_t>(p.field("result").integer(0, kMaxValues));
    }
    return i;
  }
  p.expect_only({"role", "name", "dtype", "axes", "bound"});
  i.bound = bound_named(p.field("bound"), m);
  const bool fits = i.role == Role::valid_length ? i.axes.empty() && i.dtype != DType::boolean
                                                 : i.axes.size() == 1 && i.axes[0].bound == i.bound;
  if (!fits) p.fail("has axes or a type that its role does not have");
  if (i.role == Role::valid_length && m.bounds[*i.bound].most > largest_length(i.dtype)) {
    p.fail("has a type that does not hold all lengths");
  }
  return i;
}
/// What takes over memory is there, has the type of what lies there, and is alone.
void check_donated(const std::vector<Part>& inputs, const Manifest& m) {
  std::set<std::size_t> taken;
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Input& i = m.inputs[k];
    if (!i.result) continue;
    const Part p = inputs[k].field("result");
    if (*i.result >= m.results.size()) p.fail("is none of the results");
    const Value& r = m.results[*i.result];
    if (r.dtype != i.dtype || r.axes != i.axes) p.fail("is a result of another type");
    if (!taken.insert(*i.result).second) p.fail("is that of another input, too");
  }
}
/// A file of the folder itself, with a name that means the same everywhere.
std::string read_file_name(const Part& p) {
  const std::string s = p.text();
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  if (s.empty() || s.size() > 200 || s[0] == '.' || !std::ranges::all_of(s, plain)) {
    p.fail("is no plain name of a file");
  }
  return s;
}
Body read_body(const Part& p, const Manifest& m, std::size_t index) {
  p.expect_only({"sizes", "file", "sha256"});
  Body b;
  const Part sizes = p.field("sizes"), hash = p.field("sha256");
  b.sizes = sizes.integers(kMaxBounds, kMaxSize);
  if (b.sizes != sizes_of_body(m.bounds, index)) sizes.fail("are not those of this body");
  b.file = read_file_name(p.field("file"));
  b.sha256 = hash.text();
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (b.sha256.size() != 64 || !std::ranges::all_of(b.sha256, digit)) hash.fail("is no SHA-256");
  return b;
}

}  // namespace

bool can_pad(DType dtype, double x) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    const auto held = ops::convert_element<double>(ops::convert_element<T>(x));
    // A float type rounds; whole numbers beyond those that a double tells apart are not meant.
    return is_float(dtype) ? !std::isnan(x) && std::isinf(x) == std::isinf(held)
                           : held == x && std::abs(x) <= 0x1p53;
  });
}
std::int64_t largest_length(DType dtype) {
  const int bits = bit_width(dtype);
  switch (dtype) {
    case DType::boolean:
      return 0;
    case DType::f16:
      return std::int64_t{1} << 11;
    case DType::bf16:
      return std::int64_t{1} << 8;
    case DType::f32:
      return std::int64_t{1} << 24;
    case DType::f64:
      return kMaxSize;
    default:
      if (bits == 64) return kMaxSize;
      return (std::int64_t{1} << (is_signed_integer(dtype) ? bits - 1 : bits)) - 1;
  }
}

Manifest parse_manifest(std::string_view text, const std::string& file) {
  const boost::json::value value =
      parse_json(text, file, {.bytes = std::size_t{16} << 20, .depth = 8});
  const Part top(value, file, "");
  if (top.field("format").text() != kFormat) top.fail("is no manifest of a bounded program");
  const Part version = top.field("version");
  if (version.integer(1, kMaxSize) != kVersion) version.fail("is of a later Tlaloc");
  top.expect_only(
      {"format", "version", "name", "bounds", "inputs", "results", "exceeded", "bodies", "check"});
  Manifest m;
  m.name = top.field("name").text();
  const Part bounds = top.field("bounds");
  std::set<std::string> names;
  for (const Part& p : bounds.list(kMaxBounds)) {
    m.bounds.push_back(read_bound(p));
    if (!names.insert(m.bounds.back().name).second) p.fail("has a name that another has");
  }
  std::size_t count = 0;
  try {
    count = count_bodies(m.bounds);
  } catch (const UserError& e) {
    bounds.fail("are too many: " + e.info().message);
  }
  const Part inputs = top.field("inputs");
  const std::vector<Part> listed_inputs = inputs.list(kMaxValues);
  for (const Part& p : listed_inputs) m.inputs.push_back(read_input(p, m));
  for (std::size_t k = 0; k < m.bounds.size(); ++k) {
    const auto tells = [&](const Input& i) {
      return i.role == Role::data &&
             std::ranges::any_of(i.axes, [&](const Axis& a) { return a.bound == k; });
    };
    if (std::ranges::none_of(m.inputs, tells)) {
      inputs.fail("have no axis that tells the size of " + m.bounds[k].name);
    }
  }
  for (const Part& p : top.field("results").list(kMaxValues)) {
    p.expect_only({"name", "dtype", "axes"});
    read_value(p, m, m.results.emplace_back());
  }
  check_donated(listed_inputs, m);
  m.exceeded = top.field("exceeded").flag();
  const Part bodies = top.field("bodies");
  const std::vector<Part> listed = bodies.list(4096);
  if (listed.size() != count) bodies.fail("are not one for each combination of buckets");
  for (const Part& p : listed) m.bodies.push_back(read_body(p, m, m.bodies.size()));
  const Part check = top.field("check");
  check.expect_only({"tolerance", "largest_difference", "sizes"});
  m.check.tolerance = check.field("tolerance").size_of_difference();
  m.check.largest_difference = check.field("largest_difference").size_of_difference();
  for (const Part& p : check.field("sizes").list(kMaxValues)) {
    m.check.sizes.push_back(p.integers(kMaxBounds, kMaxSize));
  }
  return m;
}

}  // namespace tlaloc::bounded
