#include "tlaloc/stablehlo/mesh_text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "tlaloc/stablehlo/text.h"

namespace tlaloc::stablehlo {
namespace {

std::string axis_text(const ir::AxisRef& a) {
  std::string s = quoted(a.axis);
  if (a.size) s += ":(" + std::to_string(a.before) + ")" + std::to_string(a.size);
  return s;
}
void append_item(std::string& out, const std::string& item) {
  if (out.back() != '{' && out.back() != '[') out += ", ";
  out += item;
}

/// A cursor over a part of the source.
class Reader {
 public:
  Reader(const Source& source, std::string_view text) : source_(source), rest_(text) {}

  Offset at() {
    skip();
    return static_cast<Offset>(rest_.data() - source_.text.data());
  }
  [[noreturn]] void fail(const std::string& message) { source_.fail(at(), message); }
  bool accept(std::string_view token) {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail("expected '" + std::string(token) + "'");
  }
  void end() {
    skip();
    if (!rest_.empty()) fail("expected the end of the attribute");
  }
  std::int64_t integer() {
    skip();
    std::int64_t v = 0;
    const auto [after, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), v);
    if (error != std::errc() || v < 0) fail("expected a number");
    rest_.remove_prefix(static_cast<std::size_t>(after - rest_.data()));
    return v;
  }
  /// Between quotes; axes have no escapes.
  std::string quoted_name() {
    expect("\"");
    const std::size_t length = rest_.find('"');
    if (length == std::string_view::npos) fail("a name is not closed");
    const std::string name(rest_.substr(0, length));
    if (name.find('\\') != std::string::npos) {
      source_.unsupported(at(), "sdy", "names of axes with escapes are not supported");
    }
    rest_.remove_prefix(length + 1);
    return name;
  }
  /// Behind an @.
  std::string_view symbol() {
    expect("@");
    std::size_t length = 0;
    if (rest_.starts_with('"')) {
      length = rest_.find('"', 1);
      if (length == std::string_view::npos) fail("a name is not closed");
      const std::string_view name = rest_.substr(1, length - 1);
      rest_.remove_prefix(length + 1);
      return name;
    }
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) ||
            std::string_view("_$.-").find(rest_[length]) != std::string_view::npos)) {
      ++length;
    }
    const std::string_view name = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return name;
  }
  template <class Item>
  void list(std::string_view close, const Item& item) {
    if (accept(close)) return;
    do {
      item();
    } while (accept(","));
    expect(close);
  }
  ir::AxisRef axis() {
    ir::AxisRef a{quoted_name()};
    if (!accept(":")) return a;
    expect("(");
    a.before = integer();
    expect(")");
    a.size = integer();
    if (a.size == 0) fail("a part of an axis has devices");
    return a;
  }
  ir::Sharding sharding(const FindMesh& find) {
    ir::Sharding s;
    const Offset start = at();
    if (accept("mesh")) {
      source_.unsupported(start, "sdy.sharding", "meshes within shardings are not supported",
                          "declare the mesh with sdy.mesh");
    }
    s.mesh = find(symbol(), start);
    expect(",");
    expect("[");
    list("]", [&] {
      ir::DimSharding& d = s.dims.emplace_back();
      expect("{");
      list("}", [&] {
        if (d.open) fail("'?' stands last");
        if (accept("?")) {
          d.open = true;
        } else {
          d.axes.push_back(axis());
        }
      });
      if (accept("p")) d.priority = integer();
    });
    while (accept(",")) {
      const Offset what = at();
      if (accept("unreduced")) {
        source_.unsupported(what, "sdy.sharding",
                            "axes that are not reduced yet are not supported");
      }
      expect("replicated");
      expect("=");
      expect("{");
      list("}", [&] { s.replicated.push_back(axis()); });
    }
    return s;
  }

 private:
  void skip() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_[0]))) {
      rest_.remove_prefix(1);
    }
  }
  const Source& source_;
  std::string_view rest_;
};

}  // namespace

std::string axes_text(std::span<const std::string> axes) {
  std::string s = "{";
  for (const std::string& axis : axes) append_item(s, quoted(axis));
  return s + "}";
}
std::string mesh_text(const ir::Mesh& mesh) {
  std::string s = "[";
  for (const ir::NamedAxis& a : mesh.axes) {
    append_item(s, quoted(a.name) + "=" + std::to_string(a.size));
  }
  s += "]";
  if (!mesh.device_ids.empty()) s += ", device_ids=" + list_text(mesh.device_ids);
  return s;
}
std::string sharding_text(const ir::Sharding& sharding, const std::string& name) {
  std::string s = "@" + name + ", [";
  for (const ir::DimSharding& d : sharding.dims) {
    std::string dim = "{";
    for (const ir::AxisRef& a : d.axes) append_item(dim, axis_text(a));
    if (d.open) append_item(dim, "?");
    dim += "}";
    if (d.priority) dim += "p" + std::to_string(*d.priority);
    append_item(s, dim);
  }
  s += "]";
  if (sharding.replicated.empty()) return s;
  std::string replicated = "{";
  for (const ir::AxisRef& a : sharding.replicated) append_item(replicated, axis_text(a));
  return s + ", replicated=" + replicated + "}";
}
std::string spec_text(const ir::ManualAttrs& manual, const ir::ShardSpec& spec,
                      const std::string& name) {
  ir::Sharding s{manual.mesh, {}, {}};
  for (const auto& dim : spec.dims) {
    ir::DimSharding& d = s.dims.emplace_back();
    for (const std::string& axis : dim) d.axes.push_back({axis});
    d.open = manual.axes.size() < manual.mesh.axes.size();
  }
  return sharding_text(s, name);
}

ir::Mesh parse_mesh(const Source& source, std::string_view name, std::string_view text) {
  Reader r(source, text);
  ir::Mesh m;
  m.name = name;
  if (r.accept("maximal") || r.accept("device_id")) {
    source.unsupported(r.at(), "sdy.mesh", "meshes of one named device are not supported");
  }
  r.expect("[");
  r.list("]", [&] {
    ir::NamedAxis& a = m.axes.emplace_back();
    a.name = r.quoted_name();
    r.expect("=");
    a.size = r.integer();
  });
  if (r.accept(",")) {
    r.expect("device_ids");
    r.expect("=");
    r.expect("[");
    r.list("]", [&] { m.device_ids.push_back(r.integer()); });
  }
  r.end();
  if (const std::string p = ir::mesh_problem(m); !p.empty()) {
    source.fail(static_cast<Offset>(text.data() - source.text.data()), p);
  }
  if (std::ranges::is_sorted(m.device_ids)) m.device_ids.clear();
  return m;
}
ir::Sharding parse_sharding(const Source& source, std::string_view text, const FindMesh& find) {
  Reader r(source, text);
  ir::Sharding s = r.sharding(find);
  r.end();
  return s;
}
std::vector<ir::Sharding> parse_shardings(const Source& source, std::string_view text,
                                          const FindMesh& find) {
  Reader r(source, text);
  std::vector<ir::Sharding> all;
  r.expect("[");
  r.list("]", [&] {
    r.expect("<");
    all.push_back(r.sharding(find));
    r.expect(">");
  });
  r.end();
  return all;
}
std::vector<std::string> parse_axes(const Source& source, std::string_view text) {
  Reader r(source, text);
  std::vector<std::string> axes;
  r.accept("manual_axes");  // in generic form
  r.expect("{");
  r.list("}", [&] { axes.push_back(r.quoted_name()); });
  r.end();
  return axes;
}

std::string_view in_brackets(const Source& source, const Attribute& a) {
  std::string_view text = a.text;
  if (a.kind == Attribute::Kind::word) {
    const std::size_t open = text.find('<');
    if (!text.starts_with('#')) return text;
    if (open != std::string_view::npos && text.ends_with('>')) {
      return text.substr(open + 1, text.size() - open - 2);
    }
  }
  source.fail(a.at, "expected a sharding");
}

std::vector<std::vector<std::int64_t>> device_groups(const ir::Mesh& mesh,
                                                     std::span<const std::string> axes) {
  std::int64_t members = 1;
  for (const std::string& axis : axes) members *= mesh.size_of(axis);
  const std::int64_t devices = mesh.devices();
  std::vector<std::vector<std::int64_t>> groups(usize(devices / members));
  for (std::int64_t place = 0; place < devices; ++place) {
    // The place among the devices that differ along the other axes only.
    std::int64_t group = 0, rest = devices, at = place;
    for (const ir::NamedAxis& a : mesh.axes) {
      rest /= a.size;
      const std::int64_t coordinate = at / rest;
      at %= rest;
      if (std::ranges::find(axes, a.name) == axes.end()) group = group * a.size + coordinate;
    }
    groups[usize(group)].push_back(mesh.device_ids.empty() ? place : mesh.device_ids[usize(place)]);
  }
  return groups;
}

}  // namespace tlaloc::stablehlo
