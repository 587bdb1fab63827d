#include "tlaloc/ir/print.h"

#include "tlaloc/ir/names.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ir/text_io.h"

namespace tlaloc::ir {
namespace {

using namespace std::string_view_literals;

/// Prints one graph; regions are printed by printers of their own, each with its own names.
class GraphPrinter {
 public:
  GraphPrinter(Printer& p, const Graph& g, int indent)
      : p_(p),
        g_(g),
        names_(g),
        indent_(indent),
        outer_indent_(p.indent),
        outer_namer_(p.namer),
        outer_order_(p.order) {
    p_.indent = indent + 2;
    p_.namer = [this](Symbol s) { return names_.symbol(s); };
    p_.order = [this](Symbol s) { return names_.rank(s); };
  }
  ~GraphPrinter() {
    p_.namer = outer_namer_;
    p_.order = outer_order_;
    p_.indent = outer_indent_;
  }
  GraphPrinter(const GraphPrinter&) = delete;
  GraphPrinter& operator=(const GraphPrinter&) = delete;

  std::string symbol(Symbol s) const { return names_.symbol(s); }

  void graph() {
    p_.put("graph ");
    if (!g_.name().empty()) {
      p_.put("@");
      name(g_.name());
      p_.put(" ");
    }
    if (!g_.dims().empty()) {
      symbols(g_.dims());
      p_.put(" ");
    }
    p_.put("(");
    for (std::size_t k = 0; k < g_.param_count(); ++k) {
      if (k) p_.put(", ");
      param(k);
    }
    p_.put(") -> ");
    if (!g_.result_dims().empty()) {
      list("{", g_.result_dims(), "} ");
    }
    p_.put("(");
    for (std::size_t k = 0; k < g_.results().size(); ++k) {
      if (k) p_.put(", ");
      const Label& label = g_.result_label(k);
      if (!label.name.empty()) print_value(p_, label.name);
      axes(label, label.name.empty() ? "" : " ");
      if (!label.name.empty() || !label.axes.empty()) p_.put(": ");
      print_value(p_, g_.type(g_.results()[k]));
    }
    p_.put(") {\n");
    for (std::uint32_t i = 0; i < g_.node_count(); ++i) {
      line();
      node(g_.node(i), true);
      p_.put("\n");
    }
    for (const Constraint& c : g_.constraints()) {
      line();
      constraint(c);
      p_.put("\n");
    }
    line();
    p_.put("return");
    for (std::size_t k = 0; k < g_.results().size(); ++k) {
      p_.put(k ? ", " : " ");
      value(g_.results()[k]);
    }
    p_.put("\n");
    p_.text.append(static_cast<std::size_t>(indent_), ' ');
    p_.put("}");
  }

  void node(const Node& n, bool with_regions) {
    for (std::size_t k = 0; k < n.result_count(); ++k) {
      if (k) p_.put(", ");
      value(n.result(k));
    }
    if (n.result_count()) p_.put(" = ");
    p_.put(n.op().name);
    if (!n.bound().empty()) {
      p_.put(" ");
      symbols(n.bound());
      p_.put(" ");
    }
    p_.put("(");
    for (std::size_t k = 0; k < n.operands().size(); ++k) {
      if (k) p_.put(", ");
      value(n.operand(k));
    }
    p_.put(")");
    if (n.attr()) {
      p_.put(" ");
      n.attr()->print(p_);
    }
    if (n.result_count()) list(" : ", n.result_types(), "");
    const auto names = region_names(n.op(), n.attr().get());
    for (std::size_t k = 0; k < n.regions().size(); ++k) {
      p_.put("\n");
      line();
      p_.put("  ");
      p_.put(k < names.size() ? names[k] : "region"sv);
      region(n.region(k), with_regions);
    }
  }

 private:
  void line() { p_.text.append(static_cast<std::size_t>(indent_) + 2, ' '); }
  void value(ValueId v) {
    p_.put("%");
    if (v < g_.value_count())
      p_.text += names_.value(v);
    else
      p_.put("?");
  }
  /// An identifier as it is, anything else in quotes.
  void name(const std::string& s) {
    if (!s.empty() && to_identifier(s) == s)
      p_.put(s);
    else
      print_value(p_, s);
  }
  template <class T>
  void list(std::string_view open, std::span<const T> items, std::string_view close) {
    p_.put(open);
    for (std::size_t k = 0; k < items.size(); ++k) {
      if (k) p_.put(", ");
      print_value(p_, items[k]);
    }
    p_.put(close);
  }

  void symbols(std::span<const Symbol> symbols) {
    p_.put("{");
    for (std::size_t k = 0; k < symbols.size(); ++k) {
      if (k) p_.put(", ");
      const SymbolFacts& f = symbols[k].facts();
      static const SymbolFacts kDefault;
      p_.text += names_.symbol(symbols[k]);
      if (f.lower != kDefault.lower || f.upper != kDefault.upper) {
        p_.text += " in " + std::to_string(f.lower) + "..";
        if (f.upper != kDefault.upper) p_.text += std::to_string(f.upper);
      }
      if (f.multiple_of != kDefault.multiple_of) p_.text += " % " + std::to_string(f.multiple_of);
      if (f.typical != kDefault.typical) p_.text += " ~ " + std::to_string(f.typical);
    }
    p_.put("}");
  }
  void axes(const Label& label, std::string_view before) {
    if (label.axes.empty()) return;
    p_.put(before);
    p_.put("{");
    for (std::size_t k = 0; k < label.axes.size(); ++k) {
      if (k) p_.put(", ");
      if (label.axes[k].empty())
        p_.put("_");
      else if (label.axes[k] == "_")
        p_.put("\"_\"");
      else
        name(label.axes[k]);
    }
    p_.put("}");
  }
  void param(std::size_t k) {
    const Label& label = g_.param_label(k);
    const std::string id = names_.value(static_cast<ValueId>(k));
    p_.text += "%" + id;
    if (!label.name.empty() && label.name != id) {
      p_.put(" ");
      print_value(p_, label.name);
    }
    axes(label, " ");
    p_.put(": ");
    print_value(p_, g_.type(static_cast<ValueId>(k)));
  }
  void constraint(const Constraint& c) {
    p_.put("require ");
    print_value(p_, c.a);
    p_.put(c.kind == Constraint::Kind::equal ? " == " : " <= ");
    print_value(p_, c.b);
    if (!c.what.empty()) {
      p_.put(" ");
      print_value(p_, c.what);
    }
    if (c.place.known()) {
      p_.put(" at ");
      print_value(p_, c.place.file);
      p_.text += ":" + std::to_string(c.place.line);
    }
  }
  void region(const Region& r, bool whole) {
    GraphPrinter inner(p_, *r.graph, indent_ + 4);
    if (!r.dims.empty()) {
      p_.put(" {");
      for (std::size_t k = 0; k < r.dims.size(); ++k) {
        if (k) p_.put(", ");
        p_.text += k < r.graph->dims().size() ? inner.symbol(r.graph->dims()[k]) : "?";
        p_.put("=");
        // The size given is the caller's; the inner printer has put its own names in place.
        p_.text += r.dims[k] ? r.dims[k]->to_string([this](Symbol s) { return names_.symbol(s); },
                                                    [this](Symbol s) { return names_.rank(s); })
                             : "_";
      }
      p_.put("}");
    }
    p_.put(" ");
    if (whole)
      inner.graph();
    else
      p_.put("graph ...");
  }

  Printer& p_;
  const Graph& g_;
  Names names_;
  int indent_, outer_indent_;
  Dim::Namer outer_namer_;
  Dim::Order outer_order_;
};

}  // namespace

void print_value(Printer& p, const GraphAttr& x) {
  if (x.graph)
    GraphPrinter(p, *x.graph, p.indent).graph();
  else
    p.put("none");
}

std::string Graph::to_string() const {
  Printer p;
  GraphPrinter(p, *this, 0).graph();
  p.put("\n");
  return std::move(p.text);
}

std::string node_text(const Graph& g, std::uint32_t node) {
  Printer p;
  GraphPrinter(p, g, 0).node(g.node(node), false);
  return std::move(p.text);
}

}  // namespace tlaloc::ir
