#include "tlaloc/runtime/arguments.h"

#include <algorithm>

#include "tlaloc/base/error.h"

namespace tlaloc::runtime {
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
std::string describe(const Graph& g, Dim d, const SizeOf& size_of) {
  const std::string value = std::to_string(size_of(d));
  if (d.is_constant()) return value;
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
    sizes += s.name() + " = " + std::to_string(size_of(s));
  });
  return d.as_symbol() ? sizes : d.to_string() + " = " + value + " (" + sizes + ")";
}

void check_facts(const Graph& g, ir::Symbol s, const SizeOf& size_of) {
  const ir::SymbolFacts& facts = s.facts();
  const std::int64_t n = size_of(s);
  std::string problem;
  if (n < facts.lower) problem = "below its bound of " + std::to_string(facts.lower);
  if (n > facts.upper) problem = "above its bound of " + std::to_string(facts.upper);
  if (facts.multiple_of > 1 && n % facts.multiple_of != 0) {
    problem = "not a multiple of " + std::to_string(facts.multiple_of);
  }
  if (problem.empty()) return;
  throw UserError({"TL-SHAPE-005",
                   g.name(),
                   describe(g, s, size_of) + " is " + problem,
                   "pass arguments of another size",
                   {}});
}

[[noreturn]] void throw_misfit(const Graph& g, std::size_t k, const HostArray& arg,
                               const std::string& reason) {
  throw UserError({"TL-SHAPE-002",
                   g.name(),
                   argument_name(g, k) + " is " + std::string(name(arg.dtype())) +
                       to_string(arg.extents()) + " where " +
                       g.type(static_cast<ValueId>(k)).to_string() + " is expected" + reason,
                   "",
                   {}});
}

}  // namespace

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

std::vector<std::int64_t> bind_arguments(const Graph& g, std::span<const HostArray> args,
                                         const DimValues& given) {
  if (args.size() != g.param_count()) {
    throw UserError({"TL-ARITY-001",
                     g.name(),
                     "takes " + std::to_string(g.param_count()) + " arguments, " +
                         std::to_string(args.size()) + " were given",
                     "",
                     {}});
  }
  const auto dims = g.dims();
  std::vector<std::int64_t> sizes(dims.size());
  std::vector<bool> bound(dims.size());
  // Signatures have few symbols.
  auto position = [&](ir::Symbol s) {
    return static_cast<std::size_t>(std::ranges::find(dims, s) - dims.begin());
  };
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const auto it = given.find(dims[i].id());
    if (it == given.end()) continue;
    sizes[i] = it->second;
    bound[i] = true;
  }
  for (std::size_t k = 0; k < args.size(); ++k) {
    const ir::Type t = g.type(static_cast<ValueId>(k));
    if (!fits_storage(t, args[k])) throw_misfit(g, k, args[k], "");
    for (int axis = 0; axis < t.rank(); ++axis) {
      const auto s = t.dim(axis).as_symbol();
      if (!s || bound[position(*s)]) continue;
      sizes[position(*s)] = axis_size(t, args[k], axis);
      bound[position(*s)] = true;
    }
  }
  const SizeOf size_of = [&](Dim d) {
    return d.is_constant() ? d.constant()
                           : d.evaluate([&](ir::Symbol s) { return sizes[position(s)]; });
  };
  for (ir::Symbol s : dims) {
    if (bound[position(s)]) {
      check_facts(g, s, size_of);
    } else {
      throw UserError({"TL-SHAPE-004",
                       g.name(),
                       "no argument's shape determines the size " + quoted(s.name()),
                       "pass the size in RunOptions::dims",
                       {}});
    }
  }
  for (std::size_t k = 0; k < args.size(); ++k) {
    const ir::Type t = g.type(static_cast<ValueId>(k));
    for (int axis = 0; axis < t.rank(); ++axis) {
      const std::int64_t got = axis_size(t, args[k], axis);
      if (got == size_of(t.dim(axis))) continue;
      throw_misfit(g, k, args[k],
                   ": " + axis_name(g, k, axis) + " has size " + std::to_string(got) + ", but " +
                       describe(g, t.dim(axis), size_of));
    }
  }
  return sizes;
}

void check_sizes(const Graph& g, std::span<const std::int64_t> sizes) {
  const auto dims = g.dims();
  const auto known = [&](Dim d) {
    bool all = true;
    if (!d.is_constant()) {
      d.each_symbol([&](ir::Symbol s) { all = all && std::ranges::find(dims, s) != dims.end(); });
    }
    return all;
  };
  const SizeOf size_of = [&](Dim d) {
    return d.is_constant() ? d.constant() : d.evaluate([&](ir::Symbol s) {
      return sizes[static_cast<std::size_t>(std::ranges::find(dims, s) - dims.begin())];
    });
  };
  for (ir::Symbol s : dims) check_facts(g, s, size_of);
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const ir::Type t = g.type(static_cast<ValueId>(k));
    for (int axis = 0; axis < t.rank(); ++axis) {
      const std::int64_t n = size_of(t.dim(axis));
      if (n < 0) throw_negative_size(t, axis, n, g.name().c_str());
    }
  }
  for (const ir::Constraint& c : g.constraints()) {
    if (!known(c.a) || !known(c.b)) continue;  // only a run knows
    const std::int64_t a = size_of(c.a), b = size_of(c.b);
    const bool holds = c.kind == ir::Constraint::Kind::equal ? a == b : a <= b;
    if (!holds) throw_constraint(g, c, size_of);
  }
}

ArgumentBinder::ArgumentBinder(ir::GraphRef g) : graph_(std::move(g)) {
  const auto dims = graph_->dims();
  for (ir::Symbol s : dims) {
    const ir::SymbolFacts& f = s.facts();
    dims_.push_back({f.lower, f.upper, f.multiple_of});
  }
  for (std::size_t k = 0; k < graph_->param_count(); ++k) {
    const ir::Type t = graph_->type(static_cast<ValueId>(k));
    params_.push_back({t.dtype(), t.rank()});
    if (t.encoding()) listed_ = false;
    for (Dim d : t.shape()) {
      const auto s = d.as_symbol();
      if (d.is_constant()) {
        axes_.push_back({d.constant(), 0});
      } else if (s) {
        const auto at = std::ranges::find(dims, *s);
        internal_check(at != dims.end(), "a param's size is no entry dim");
        axes_.push_back({-1, static_cast<std::size_t>(at - dims.begin())});
      } else {
        listed_ = false;
      }
    }
  }
}
bool ArgumentBinder::fit(std::span<const HostArray* const> args,
                         std::vector<std::int64_t>& sizes) const {
  if (args.size() != params_.size()) return false;
  std::ranges::fill(sizes, -1);
  auto axis = axes_.begin();
  for (std::size_t k = 0; k < args.size(); ++k) {
    const HostArray& a = *args[k];
    if (a.dtype() != params_[k].dtype || a.rank() != params_[k].rank) return false;
    for (std::int64_t n : a.extents()) {
      if (axis->size < 0 && sizes[axis->dim] < 0) sizes[axis->dim] = n;
      if (n != (axis->size < 0 ? sizes[axis->dim] : axis->size)) return false;
      ++axis;
    }
  }
  for (std::size_t i = 0; i < dims_.size(); ++i) {
    const Bounds& b = dims_[i];
    if (sizes[i] < 0 || sizes[i] < b.lower || sizes[i] > b.upper) return false;
    if (b.multiple_of > 1 && sizes[i] % b.multiple_of != 0) return false;
  }
  return true;
}
std::vector<std::int64_t> ArgumentBinder::operator()(std::span<const HostArray* const> args,
                                                     const DimValues& given) const {
  std::vector<std::int64_t> sizes(dims_.size());
  if (listed_ && given.empty() && fit(args, sizes)) return sizes;
  // Sizes that only the caller knows, and errors.
  std::vector<HostArray> all;
  for (const HostArray* a : args) all.push_back(*a);
  return bind_arguments(*graph_, all, given);
}

void throw_constraint(const Graph& g, const ir::Constraint& c, const SizeOf& size_of) {
  const char* relation = c.kind == ir::Constraint::Kind::equal ? " is not " : " is not at most ";
  throw UserError({"TL-SHAPE-001", "",
                   c.what + ": " + describe(g, c.a, size_of) + relation + describe(g, c.b, size_of),
                   "pass arguments whose sizes agree", c.place});
}

void throw_negative_size(ir::Type t, int axis, std::int64_t size, const char* op) {
  throw UserError({"TL-SIZE-001",
                   op,
                   "the size " + t.dim(axis).to_string() + " of " + t.to_string() + " is " +
                       std::to_string(size),
                   "pass larger arguments",
                   {}});
}

void throw_alias(const Signature& s, const Alias& a, const std::string& why) {
  throw UserError({"TL-ALIAS-001",
                   s.name,
                   "result " + std::to_string(a.result) +
                       " must take over the memory of argument " + std::to_string(a.param) + ", " +
                       why,
                   "donate the argument and keep no other handle of it",
                   {}});
}
void check_alias_of_bound(const Signature& s, std::size_t k) {
  for (const Alias& a : s.aliases) {
    if (a.must && a.param == k) throw_alias(s, a, "which can't be bound then");
  }
}
void check_run(const Signature& s, std::span<const std::size_t> inputs, std::size_t given,
               const std::vector<bool>& donate) {
  if (given != inputs.size() || (!donate.empty() && donate.size() != inputs.size())) {
    throw UserError({"TL-ARITY-001",
                     s.name,
                     "takes " + std::to_string(inputs.size()) + " arguments, " +
                         std::to_string(given) + " were given" +
                         (donate.empty() ? "" : "; donate needs one flag for each"),
                     "",
                     {}});
  }
  for (const Alias& a : s.aliases) {
    if (!a.must) continue;
    const auto it = std::ranges::find(inputs, a.param);
    const bool donated = it != inputs.end() && !donate.empty() &&
                         donate[static_cast<std::size_t>(it - inputs.begin())];
    if (!donated) throw_alias(s, a, "which was not donated");
  }
}

}  // namespace tlaloc::runtime
