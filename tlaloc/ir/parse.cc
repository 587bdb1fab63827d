#include "tlaloc/ir/parse.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "tlaloc/ir/builder.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ir/text_io.h"

namespace tlaloc::ir {
namespace {

constexpr int kMaxDepth = 256;  // as deep as traces nest

/// Parses one graph; each region has a parser of its own on the same cursor.
class GraphParser {
 public:
  GraphParser(Parser& p, const OpLookup& find_op, int depth)
      : p_(p),
        find_op_(find_op),
        depth_(depth),
        outer_symbols_(std::move(p.symbol_of)),
        outer_nested_(std::move(p.nested_graph)) {
    p_.nested_graph = [this] { return GraphParser(p_, find_op_, depth_ - 1).graph(); };
    p_.symbol_of = [this](const std::string& name) -> std::optional<Symbol> {
      auto it = symbols_.find(name);
      return it == symbols_.end() ? std::nullopt : std::optional(it->second);
    };
  }
  ~GraphParser() {
    p_.symbol_of = std::move(outer_symbols_);
    p_.nested_graph = std::move(outer_nested_);
  }
  GraphParser(const GraphParser&) = delete;
  GraphParser& operator=(const GraphParser&) = delete;

  GraphRef graph() {
    if (depth_ == 0) p_.fail("graphs are nested too deeply");
    p_.expect("graph");
    Builder b(p_.accept("@") ? name() : "");
    builder_ = &b;
    const std::size_t dims_at = p_.position();
    if (p_.peek("{")) close_.dims = symbols();
    p_.expect("(");
    list(")", [&] { param(); });
    p_.expect("->");
    const std::size_t signature_at = p_.position();
    if (p_.peek("{")) skip_group("{");
    skip_group("(");
    p_.expect("{");
    while (!p_.peek("return") && !p_.peek("require")) node();
    while (p_.accept("require")) constraint();
    const Vals values = results(signature_at);
    p_.expect("}");
    close_.keep_dead = true;
    const std::size_t declared = close_.dims.size();
    GraphRef g = b.build(values, std::move(close_));
    if (g->dims().size() != declared) {
      p_.fail_at(dims_at, "a size is declared here that nothing in the graph mentions");
    }
    return g;
  }

 private:
  std::string name() { return p_.peek("\"") ? p_.quoted() : p_.identifier(); }

  /// items separated by commas, then `close`.
  template <class Item>
  void list(std::string_view close, const Item& item) {
    if (p_.accept(close)) return;
    do item();
    while (p_.accept(","));
    p_.expect(close);
  }

  std::vector<Symbol> symbols() {
    std::vector<Symbol> r;
    p_.expect("{");
    list("}", [&] {
      const std::size_t at = p_.position();
      SymbolFacts facts;
      facts.name = p_.identifier();
      if (p_.accept("in")) {
        facts.lower = p_.integer();
        p_.expect("..");
        const std::string_view rest = p_.rest();
        if (!rest.empty() && (rest[0] == '-' || (rest[0] >= '0' && rest[0] <= '9'))) {
          facts.upper = p_.integer();
        }
      }
      if (p_.accept("%")) facts.multiple_of = p_.integer();
      if (p_.accept("~")) facts.typical = p_.integer();
      if (facts.lower > facts.upper || facts.multiple_of < 1) {
        p_.fail_at(at, "no size is within these bounds");
      }
      std::string key = facts.name;
      const Symbol s = Symbol::fresh(std::move(facts));
      if (!symbols_.emplace(std::move(key), s).second) {
        p_.fail_at(at, "the size '" + s.name() + "' is defined already");
      }
      r.push_back(s);
    });
    return r;
  }

  std::vector<std::string> axes() {
    std::vector<std::string> r;
    if (p_.accept("{")) {
      list("}", [&] { r.push_back(p_.accept("_") ? "" : name()); });
    }
    return r;
  }

  std::string value_name() {
    p_.expect("%");
    return p_.word();
  }
  Val value() {
    const std::size_t at = p_.position();
    const std::string name = value_name();
    auto it = values_.find(name);
    if (it == values_.end()) p_.fail_at(at, "'%" + name + "' is not defined here");
    return it->second;
  }
  void define(std::size_t at, std::string name, Val v) {
    const auto [it, added] = values_.emplace(std::move(name), v);
    if (!added) p_.fail_at(at, "'%" + it->first + "' is defined already");
  }
  static bool is_number(const std::string& name) {
    return name.find_first_not_of("0123456789") == std::string::npos;
  }

  void param() {
    const std::size_t at = p_.position();
    std::string id = value_name();
    Label label;
    if (p_.peek("\""))
      label.name = p_.quoted();
    else if (!is_number(id))
      label.name = id;
    label.axes = axes();
    p_.expect(":");
    Type type;
    parse_value(p_, type);
    define(at, std::move(id), builder_->param(type, std::move(label)));
  }

  /// Passes over one bracketed group.
  void skip_group(std::string_view open) {
    p_.expect(open);
    for (int depth = 1; depth > 0;) {
      if (p_.peek("\"")) {
        p_.quoted();
        continue;
      }
      const std::string_view rest = p_.rest();
      if (rest.empty()) p_.fail("a bracket is not closed");
      if (rest[0] == '(' || rest[0] == '{' || rest[0] == '[') ++depth;
      if (rest[0] == ')' || rest[0] == '}' || rest[0] == ']') --depth;
      p_.advance(1);
    }
  }

  /// `results` is where the result signature stands. It may mention sizes that nodes bind, so it is
  /// read after them.
  Vals results(std::size_t signature_at) {
    p_.expect("return");
    const std::size_t return_at = p_.position();
    Vals values;
    if (p_.peek("%")) {
      do values.push_back(value());
      while (p_.accept(","));
    }
    const std::size_t end = p_.position();
    p_.seek(signature_at);
    if (p_.accept("{")) {
      list("}", [&] { parse_value(p_, close_.result_dims.emplace_back()); });
    }
    p_.expect("(");
    list(")", [&] {
      const std::size_t at = p_.position();
      Label& label = close_.result_labels.emplace_back();
      if (p_.peek("\"")) label.name = p_.quoted();
      label.axes = axes();
      if (!label.name.empty() || !label.axes.empty()) p_.expect(":");
      Type type;
      parse_value(p_, type);
      const std::size_t k = close_.result_labels.size() - 1;
      if (k < values.size() && builder_->type(values[k]) != type) {
        p_.fail_at(at, "result " + std::to_string(k) + " is " +
                           builder_->type(values[k]).to_string() + ", not " + type.to_string());
      }
    });
    if (values.size() != close_.result_labels.size()) {
      p_.fail_at(return_at, std::to_string(values.size()) +
                                " values are returned, the signature has " +
                                std::to_string(close_.result_labels.size()));
    }
    p_.seek(end);
    return values;
  }

  const OpDef* find_op(std::string_view name) const {
    if (const OpDef* op = find_op_ ? find_op_(name) : nullptr) return op;
    for (const OpDef* op : {&kIf, &kWhile, &kScan, &kCall, &kManual}) {
      if (op->name == name) return op;
    }
    return nullptr;
  }

  void node() {
    std::vector<std::pair<std::size_t, std::string>> names;
    if (p_.peek("%")) {
      do {
        const std::size_t at = p_.position();
        names.emplace_back(at, value_name());
      } while (p_.accept(","));
      p_.expect("=");
    }
    const std::size_t op_at = p_.position();
    const std::string op_name = p_.identifier();
    const OpDef* op = find_op(op_name);
    if (!op) p_.fail_at(op_at, "unknown op '" + op_name + "'");
    std::vector<Symbol> bound;
    if (p_.peek("{")) bound = symbols();
    Vals in;
    p_.expect("(");
    list(")", [&] { in.push_back(value()); });
    AttrRef attr = op->parse_attr ? op->parse_attr(p_) : nullptr;
    std::vector<Type> types(names.size());
    for (std::size_t k = 0; k < names.size(); ++k) {
      p_.expect(k ? "," : ":");
      parse_value(p_, types[k]);
    }
    std::vector<Region> regions;
    for (std::string_view name : region_names(*op, attr.get())) regions.push_back(region(name));

    // Not a name of the trace that may be going on around us.
    OriginScope origin{OriginRef()};
    std::optional<OriginScope> named;
    if (!names.empty() && !is_number(names[0].second))
      named.emplace(Origin{names[0].second, {}, {}});
    const Vals out =
        builder_->append(*op, std::move(attr), in, types, std::move(regions), std::move(bound));
    for (std::size_t k = 0; k < names.size(); ++k) {
      define(names[k].first, std::move(names[k].second), out[k]);
    }
  }

  Region region(std::string_view name) {
    p_.expect(name);
    const std::size_t dims_at = p_.position();
    Region r;
    std::vector<std::string> names;
    if (p_.accept("{")) {
      list("}", [&] {
        names.push_back(p_.identifier());
        p_.expect("=");
        r.dims.emplace_back();
        if (!p_.accept("_")) parse_value(p_, r.dims.back().emplace());
      });
    }
    r.graph = GraphParser(p_, find_op_, depth_ - 1).graph();
    const bool same = std::ranges::equal(names, r.graph->dims(), {}, {}, &Symbol::name);
    if (!same) p_.fail_at(dims_at, "these are not the sizes that the region's graph takes");
    return r;
  }

  void constraint() {
    Constraint c;
    parse_value(p_, c.a);
    if (p_.accept("<="))
      c.kind = Constraint::Kind::less_equal;
    else
      p_.expect("==");
    parse_value(p_, c.b);
    if (p_.peek("\"")) c.what = p_.quoted();
    if (p_.accept("at")) {
      c.place.file = p_.quoted();
      p_.expect(":");
      const std::size_t at = p_.position();
      const std::int64_t line = p_.integer();
      if (line < 1 || line > std::numeric_limits<int>::max()) p_.fail_at(at, "no such line");
      c.place.line = static_cast<int>(line);
    }
    builder_->append(std::move(c));
  }

  Parser& p_;
  const OpLookup& find_op_;
  int depth_;
  std::function<std::optional<Symbol>(const std::string&)> outer_symbols_;
  std::function<GraphRef()> outer_nested_;
  Builder* builder_ = nullptr;
  Builder::Close close_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::unordered_map<std::string, Val> values_;
};

}  // namespace

void parse_value(Parser& p, GraphAttr& x) {
  if (p.accept("none")) return;
  if (!p.nested_graph) p.fail("a graph has no place here");
  x.graph = p.nested_graph();
}

GraphRef parse_graph(std::string_view text, const OpLookup& find_op, std::string source) {
  Parser p(text, std::move(source));
  GraphRef g = GraphParser(p, find_op, kMaxDepth).graph();
  if (!p.at_end()) p.fail("expected the end of the text");
  return g;
}

}  // namespace tlaloc::ir
