// What the interpreter checks of sizes and values, and how it says so.
#include <bit>
#include <cmath>

#include "tlaloc/interp/machine.h"

namespace tlaloc::interp {
namespace {

using ir::Dim;
using ir::Graph;
using ir::ValueId;

std::string quoted(const std::string& s) { return "'" + s + "'"; }

std::string argument_name(const Graph& g, std::size_t k) {
  const std::string& name = g.param_label(k).name;
  return "argument " + std::to_string(k) + (name.empty() ? "" : " " + quoted(name));
}
std::string axis_name(const Graph& g, std::size_t k, int axis) {
  const auto& axes = g.param_label(k).axes;
  const auto i = static_cast<std::size_t>(axis);
  const std::string label = i < axes.size() && !axes[i].empty() ? " " + quoted(axes[i]) : "";
  return "axis " + std::to_string(axis) + label + " of " + argument_name(g, k);
}

/// "n = 3 (axis 0 'batch' of argument 1 'x')".
std::string describe(const Frame& f, Dim d) {
  const std::string value = std::to_string(f.size(d));
  if (d.is_constant()) return value;
  const Graph& g = *f.plan().graph;
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const ir::Type t = g.type(static_cast<ValueId>(k));
    for (int axis = 0; axis < t.rank(); ++axis) {
      if (t.dim(axis) == d) {
        return d.to_string() + " = " + value + " (" + axis_name(g, k, axis) + ")";
      }
    }
  }
  std::string sizes;
  d.each_symbol([&](ir::Symbol s) {
    if (!sizes.empty()) sizes += ", ";
    sizes += s.name() + " = " + std::to_string(f.size(s));
  });
  return d.as_symbol() ? sizes : d.to_string() + " = " + value + " (" + sizes + ")";
}

void check_facts(const Frame& f, ir::Symbol s) {
  const ir::SymbolFacts& facts = s.facts();
  const std::int64_t n = f.size(s);
  std::string problem;
  if (n < facts.lower) problem = "below its bound of " + std::to_string(facts.lower);
  if (n > facts.upper) problem = "above its bound of " + std::to_string(facts.upper);
  if (facts.multiple_of > 1 && n % facts.multiple_of != 0) {
    problem = "not a multiple of " + std::to_string(facts.multiple_of);
  }
  if (problem.empty()) return;
  throw UserError({"TL-SHAPE-005",
                   f.plan().graph->name(),
                   describe(f, s) + " is " + problem,
                   "pass arguments of another size",
                   {}});
}

[[noreturn]] void throw_misfit(const Frame& f, std::size_t k, const HostArray& arg,
                               const std::string& reason) {
  const Graph& g = *f.plan().graph;
  throw UserError({"TL-SHAPE-002",
                   g.name(),
                   argument_name(g, k) + " is " + std::string(name(arg.dtype())) +
                       to_string(arg.extents()) + " where " +
                       g.type(static_cast<ValueId>(k)).to_string() + " is expected" + reason,
                   "",
                   {}});
}

/// The size of one axis of an argument. A quantized type counts elements where its array has bytes.
std::int64_t axis_size(ir::Type t, const HostArray& arg, int axis) {
  const std::int64_t n = arg.extents()[static_cast<std::size_t>(axis)];
  const ir::Encoding* e = t.encoding();
  return e && axis + 1 == t.rank() ? n / e->block_bytes * e->block_elements : n;
}
bool fits_storage(ir::Type t, const HostArray& arg) {
  if (arg.rank() != t.rank()) return false;
  const ir::Encoding* e = t.encoding();
  if (!e) return arg.dtype() == t.dtype();
  return arg.dtype() == DType::u8 && arg.extents().back() % e->block_bytes == 0;
}

}  // namespace

void bind_arguments(Frame& f, const Arrays& args, const DimValues& dims) {
  const Graph& g = *f.plan().graph;
  if (args.size() != g.param_count()) {
    throw UserError({"TL-ARITY-001",
                     g.name(),
                     "takes " + std::to_string(g.param_count()) + " arguments, " +
                         std::to_string(args.size()) + " were given",
                     "",
                     {}});
  }
  std::vector<bool> bound(g.dims().size());
  auto position = [&](ir::Symbol s) { return f.plan().sizes.at(s.id()); };
  for (const auto& [id, size] : dims) {
    if (!f.plan().sizes.contains(id)) continue;
    const ir::Symbol s = ir::Symbol::from_id(id);
    f.bind(s, size);
    bound[position(s)] = true;
  }
  for (std::size_t k = 0; k < args.size(); ++k) {
    const ir::Type t = g.type(static_cast<ValueId>(k));
    if (!fits_storage(t, args[k])) throw_misfit(f, k, args[k], "");
    for (int axis = 0; axis < t.rank(); ++axis) {
      const auto s = t.dim(axis).as_symbol();
      if (!s || bound[position(*s)]) continue;
      f.bind(*s, axis_size(t, args[k], axis));
      bound[position(*s)] = true;
    }
  }
  for (ir::Symbol s : g.dims()) {
    if (bound[position(s)]) {
      check_facts(f, s);
    } else {
      throw UserError({"TL-SHAPE-004",
                       g.name(),
                       "no argument's shape determines the size " + quoted(s.name()),
                       "pass the size in Options::dims",
                       {}});
    }
  }
  for (std::size_t k = 0; k < args.size(); ++k) {
    const ir::Type t = g.type(static_cast<ValueId>(k));
    for (int axis = 0; axis < t.rank(); ++axis) {
      const std::int64_t got = axis_size(t, args[k], axis);
      if (got == f.size(t.dim(axis))) continue;
      throw_misfit(f, k, args[k],
                   ": " + axis_name(g, k, axis) + " has size " + std::to_string(got) + ", but " +
                       describe(f, t.dim(axis)));
    }
  }
}

DimValues check_entry(const Program& program, const Arrays& args, const DimValues& dims) {
  Frame f(program.entry());
  bind_arguments(f, args, dims);
  std::size_t next = 0;
  check_constraints(f, Plan::kEntry, next);
  DimValues sizes;
  for (ir::Symbol s : f.plan().graph->dims()) sizes.emplace(s.id(), f.size(s));
  return sizes;
}

void check_constraints(const Frame& f, std::uint32_t node, std::size_t& next) {
  const auto& checks = f.plan().checks;
  for (; next < checks.size() && checks[next].node == node; ++next) {
    const ir::Constraint& c = f.plan().graph->constraints()[checks[next].constraint];
    const std::int64_t a = f.size(c.a), b = f.size(c.b);
    if (c.kind == ir::Constraint::Kind::equal ? a != b : a > b) throw_constraint(f, c);
  }
}

void throw_constraint(const Frame& f, const ir::Constraint& c) {
  const char* relation = c.kind == ir::Constraint::Kind::equal ? " is not " : " is not at most ";
  throw UserError({"TL-SHAPE-001", "",
                   c.what + ": " + describe(f, c.a) + relation + describe(f, c.b),
                   "pass arguments whose sizes agree", c.place});
}

std::uint8_t find_nonfinite(const HostArray& a) {
  if (!is_float(a.dtype())) return 0;
  return dispatch(a.dtype(), [&]<class T>(TypeTag<T>) -> std::uint8_t {
    std::uint8_t found = 0;
    if constexpr (std::is_floating_point_v<ComputeType<T>>) {
      for (T x : a.as<T>()) {
        const auto v = static_cast<ComputeType<T>>(x);
        if (std::isnan(v))
          found |= 1;
        else if (std::isinf(v))
          found |= 2;
      }
    }
    return found;
  });
}

void throw_nonfinite(const ir::Node& n, const HostArray& value, std::uint8_t found) {
  std::int64_t at = 0;
  for (; at < value.size(); ++at) {
    const double x = value.element(at);
    if (found & 1 ? std::isnan(x) : std::isinf(x)) break;
  }
  Extents place(value.extents().size());
  std::int64_t rest = at;
  for (std::size_t i = place.size(); i-- > 0; rest /= value.extents()[i]) {
    place[i] = rest % value.extents()[i];
  }
  const std::string& of = n.origin().name;
  throw UserError({"TL-NAN-001", n.op().name,
                   std::string("gave ") + (found & 1 ? "a NaN" : "an infinity") + " at " +
                       to_string(place) + " of " + std::string(name(value.dtype())) +
                       to_string(value.extents()) + (of.empty() ? "" : ", for " + quoted(of)) +
                       "; no operand held one",
                   "", n.origin().place});
}

}  // namespace tlaloc::interp
