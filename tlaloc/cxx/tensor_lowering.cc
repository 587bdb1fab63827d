#include "tlaloc/cxx/tensor_lowering.h"

#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/evaluate.h"
#include "tlaloc/cxx/rules.h"
#include "tlaloc/cxx/types.h"
#include "tlaloc/ops/shape_ops.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

TensorRule find_tensor_rule(const ir::OpDef& op) {
  for (auto family : {tensor_elementwise_rules(), tensor_shape_rules(), tensor_reduce_rules(),
                      tensor_product_rules(), tensor_index_rules()}) {
    const auto it = std::ranges::find(family, &op, &TensorRow::op);
    if (it != family.end()) return it->rule;
  }
  return nullptr;
}

void TensorLowering::refuse(const ir::Node& n, const std::string& reason) {
  refuse_op(n.op(), reason, "print the function in plain mode", n.origin());
}

VarId TensorLowering::declare(std::string name, NameRank rank) {
  Var v{.type = "auto"};
  v.suggest(name, rank);
  return function_.add_var(std::move(v));
}
namespace {

/// A C++ number, which takes the element type of the tensor that it meets.
bool is_number(const Expr& e) {
  return is_literal(e) || (e.kind == Expr::Kind::prefix && is_literal(*e.args[0]));
}
void write_key(const Expr& e, std::string& key) {
  key += std::to_string(static_cast<int>(e.kind)) + ':' + std::to_string(e.var) + ':' + e.text;
  key += '(';
  for (const ExprRef& a : e.args) write_key(*a, key);
  key += ')';
}

}  // namespace

TensorValue TensorLowering::named(Type type, ExprRef e, const ir::Origin& origin) {
  if (is_var(*e) || is_number(*e)) return {type, type, e};
  std::string key;
  write_key(*e, key);
  if (const auto it = computed_.find(key); it != computed_.end()) {
    return {type, type, variable(it->second)};
  }
  const VarId v = declare();
  suggest(function_.vars[v], origin);
  computed_.emplace(std::move(key), v);
  Stmt s{Stmt::Kind::assign, v};
  s.value = std::move(e);
  emit(std::move(s));
  return {type, type, variable(v)};
}
TensorValue TensorLowering::number(Type type, const HostArray& value) {
  return {type, Type::scalar(type.dtype()), element_literal(value, 0), value};
}

// ---- types ----

std::string TensorLowering::dim_text(Dim d) {
  return d.is_constant() ? std::to_string(d.constant()) : "tl::any";
}
std::string TensorLowering::dims_text(std::span<const Dim> shape) {
  std::string s;
  for (Dim d : shape) s += (s.empty() ? "" : ", ") + dim_text(d);
  return s;
}
namespace {

std::string element_type(DType t) {
  if (t == DType::f16) return "tl::Half";
  if (t == DType::bf16) return "tl::BFloat16";
  return type_name(t);
}

}  // namespace
std::string TensorLowering::tensor_type(Type t) {
  if (t.encoding()) type_name(t);  // refuses it
  const std::string element = element_type(t.dtype());
  if (t.rank() == 0) return "tl::Scalar<" + element + ">";
  return "tl::Tensor<" + element + ", " + dims_text(t.shape()) + ">";
}

// ---- shapes ----

void TensorLowering::know(const TensorValue& v) {
  if (v.type.rank() > 0 && v.whole()) known_.push_back(v);
}
ExprRef TensorLowering::like(std::span<const Dim> shape, const ir::Node& n) const {
  for (const TensorValue& v : known_) {
    if (std::ranges::equal(v.type.shape(), shape)) return v.expr;
  }
  refuse(n, "nothing in scope has the shape that it makes");
}
TensorLowering::Sized TensorLowering::sized(Dim d, const ir::Node& n) const {
  for (const TensorValue& v : known_) {
    for (int axis = 0; axis < v.type.rank(); ++axis) {
      if (v.type.dim(axis) == d) return {v.expr, axis};
    }
  }
  refuse(n, "no tensor in scope tells the size " + d.to_string());
}

ExprRef TensorLowering::full(const TensorValue& v, const ir::Node& n) {
  const std::string element = element_type(v.type.dtype());
  if (v.whole()) {
    const bool number = is_number(*v.expr) && v.type.rank() == 0;
    return number ? cxx::call("tl::Scalar<" + element + ">", {v.expr}) : v.expr;
  }
  const auto shape = v.type.shape();
  const bool open = std::ranges::any_of(shape, [](Dim d) { return !d.is_constant(); });
  Exprs args;
  std::string function;
  if (v.base.rank() == 0) {
    const bool zero = is_literal(*v.expr) &&
                      (v.expr->text == "0.0" || v.expr->text == "0.0f" || v.expr->text == "0");
    function = zero ? "tl::zeros<" : "tl::full<";
    if (!zero) args.push_back(v.expr);
    function += element + ", " + dims_text(shape) + ">";
  } else {
    function = "tl::broadcast_to<" + dims_text(shape) + ">";
    args.push_back(v.expr);
  }
  if (open) args.push_back(like(shape, n));
  return named(v.type, cxx::call(function, std::move(args)), {}).expr;
}

Exprs TensorLowering::operands(const TensorCall& c, Type& base) {
  const Type type = c.types[0];
  Exprs r;
  for (const TensorValue& v : c.in) r.push_back(v.expr);
  auto same_shape = [](Type a, Type b) { return std::ranges::equal(a.shape(), b.shape()); };
  base = type;
  const bool whole =
      std::ranges::any_of(c.in, [&](const TensorValue& v) { return same_shape(v.base, type); });
  if (!whole && std::ranges::all_of(
                    c.in, [&](const TensorValue& v) { return same_shape(v.base, c.in[0].base); })) {
    base = Type::get(type.dtype(), c.in[0].base.shape());
  } else if (!whole) {
    // Of equal rank, with 1 in front of the shorter ones, they may stretch each other.
    std::vector<bool> covered(static_cast<std::size_t>(type.rank()));
    for (std::size_t k = 0; k < r.size(); ++k) {
      const Type t = c.in[k].base;
      const int missing = type.rank() - t.rank();
      for (int i = 0; t.rank() > 0 && i < missing; ++i) {
        r[k] = named(t, cxx::call("tl::expand<0>", {r[k]}), {}).expr;
      }
      for (int i = 0; i < t.rank(); ++i) {
        const auto at = static_cast<std::size_t>(i + missing);
        covered[at] = covered[at] || t.dim(i) == type.dim(i + missing);
      }
    }
    if (!std::ranges::all_of(covered, [](bool b) { return b; })) r[0] = full(c.in[0], c.node);
  }
  // Numbers alone would be computed as C++ numbers.
  if (std::ranges::all_of(r, [](const ExprRef& e) { return is_number(*e); })) {
    r[0] = cxx::call("tl::Scalar<" + element_type(c.in[0].type.dtype()) + ">", {r[0]});
  }
  return r;
}

// ---- graphs ----

Block TensorLowering::body(const ir::Graph& g, const TensorValues& params,
                           const std::function<void(const TensorValues&)>& finish) {
  return block([&] {
    for (const TensorValue& v : params) know(v);
    finish(graph(g, params, {}));
  });
}

namespace {

/// By value: the permutation of the transpose that is its only reader.
std::vector<const std::vector<std::int64_t>*> wanted_orders(const ir::Graph& g) {
  std::vector<int> readers(g.value_count());
  std::vector<const std::vector<std::int64_t>*> r(g.value_count());
  for (ValueId v : g.results()) ++readers[v];
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    for (ValueId v : n.operands()) ++readers[v];
    if (&n.op() == &ops::rows::Transpose) {
      r[n.operand(0)] = &n.as<ops::TransposeAttrs>().permutation;
    }
  }
  for (std::size_t v = 0; v < r.size(); ++v) {
    if (readers[v] != 1) r[v] = nullptr;
  }
  return r;
}
Type permuted(Type t, const std::vector<std::int64_t>& order) {
  std::vector<Dim> shape;
  for (std::int64_t axis : order) shape.push_back(t.dim(static_cast<int>(axis)));
  return Type::get(t.dtype(), shape);
}
bool is_elementwise(const ir::OpDef& op) {
  const Rule* rule = find_rule(op);
  return rule && rule->element;
}
bool all_constant(const TensorValues& in) {
  return !in.empty() &&
         std::ranges::all_of(in, [](const TensorValue& v) { return v.constant.has_value(); });
}

}  // namespace

TensorValues TensorLowering::graph(const ir::Graph& g, TensorValues params,
                                   const ir::DimMap& outer) {
  ir::DimMap dims = outer;
  TensorValues env(g.value_count());
  std::ranges::move(params, env.begin());
  const auto orders = wanted_orders(g);
  std::vector<bool> transposed(g.value_count());
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const ir::Node n = g.node(i);
    TensorValues in;
    for (ValueId v : n.operands()) in.push_back(env[v]);
    for (ir::Symbol s : n.bound()) dims.set(s, ir::Symbol::like(s));
    std::vector<Type> types;
    for (Type t : n.result_types()) types.push_back(t.substitute(dims));
    TensorCall c{.node = n, .in = in, .types = types, .dims = dims};
    if (n.result_count() == 1) c.wanted = orders[n.result()];
    if (c.in.size() == 1 && transposed[n.operand(0)]) {
      c.out.push_back(in[0]);
    } else if (is_elementwise(n.op()) && all_constant(in)) {
      std::vector<HostArray> args;
      for (const TensorValue& v : in) args.push_back(*v.constant);
      c.out.push_back(number(types[0], evaluate(n, std::move(args), types[0].dtype())));
    } else if (!n.regions().empty()) {
      region(n, c, dims);
    } else if (const TensorRule rule = find_tensor_rule(n.op())) {
      rule(*this, c);
    } else {
      refuse(n, "it has no form in tensor mode");
    }
    internal_check(c.out.size() == n.result_count(), "a tensor rule gave too few results");
    if (c.transposed) {
      transposed[n.result()] = true;
      c.out[0].type = c.out[0].base = permuted(types[0], *c.wanted);
    }
    for (std::size_t k = 0; k < c.out.size(); ++k) {
      know(c.out[k]);
      env[n.result(k)] = std::move(c.out[k]);
    }
  }
  TensorValues results;
  for (ValueId v : g.results()) results.push_back(env[v]);
  return results;
}

}  // namespace tlaloc::cxx
