// Control flow in tensor mode: lambdas for tl::cond, tl::while_loop and tl::scan.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/names.h"
#include "tlaloc/cxx/tensor_lowering.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

ExprRef TensorLowering::tuple(const TensorValues& values, const ir::Node& n) {
  if (values.size() == 1) return full(values[0], n);
  Exprs args;
  for (const TensorValue& v : values) args.push_back(full(v, n));
  const std::string type = args.empty() ? "std::tuple<>" : "std::tuple";
  return cxx::call(type, std::move(args));
}

TensorValues TensorLowering::unpack(ExprRef from, std::span<const Type> types,
                                    const std::vector<std::string>& names) {
  TensorValues r;
  Stmt s{types.size() == 1 ? Stmt::Kind::assign : Stmt::Kind::unpack};
  s.value = std::move(from);
  for (std::size_t k = 0; k < types.size(); ++k) {
    const VarId v = declare(names[k], NameRank::user);
    r.push_back({types[k], types[k], variable(v)});
    if (types.size() == 1)
      s.target = v;
    else
      s.params.push_back(v);
  }
  if (!types.empty()) emit(std::move(s));
  for (const TensorValue& v : r) know(v);
  return r;
}

ExprRef TensorLowering::lambda(const std::string& name, std::span<const VarId> params,
                               const std::function<ExprRef()>& f) {
  Stmt s{Stmt::Kind::lambda, declare(name, NameRank::user)};
  const VarId v = s.target;
  s.params.assign(params.begin(), params.end());
  s.body = block([&] {
    Stmt result{Stmt::Kind::result};
    result.moves.push_back({0, f()});
    emit(std::move(result));
  });
  emit(std::move(s));
  return variable(v);
}

namespace {

std::vector<std::string> names_of(const ir::Graph& g, std::size_t first, std::size_t count) {
  std::vector<std::string> r;
  for (std::size_t k = 0; k < count; ++k) r.push_back(speaking(g.param_label(first + k).name));
  return r;
}
std::vector<Type> types_of(const ir::Graph& g, std::size_t first, std::size_t count,
                           const ir::DimMap& dims) {
  std::vector<Type> r;
  for (std::size_t k = 0; k < count; ++k) {
    r.push_back(g.type(static_cast<ValueId>(first + k)).substitute(dims));
  }
  return r;
}

}  // namespace

void TensorLowering::region(const ir::Node& n, TensorCall& c, ir::DimMap& dims) {
  switch (n.region_kind()) {
    case ir::RegionKind::branch:
      return branch(n, c, dims);
    case ir::RegionKind::loop:
      return while_loop(n, c, dims);
    case ir::RegionKind::scan:
      return scan(n, c, dims);
    case ir::RegionKind::manual:
      refuse(n, "several devices run it");
    default:
      return call(n, c, dims);
  }
}

void TensorLowering::branch(const ir::Node& n, TensorCall& c, const ir::DimMap& dims) {
  if (c.in[0].type.rank() > 0) refuse(n, "its lanes take different branches");
  const TensorValues args(c.in.begin() + 1, c.in.end());
  Exprs parts{full(c.in[0], n)};
  // Region 0 is taken where the condition holds.
  for (std::size_t b = 0; b < 2; ++b) {
    parts.push_back(lambda(b == 0 ? "then" : "otherwise", {}, [&] {
      return tuple(graph(*n.region(b).graph, args, ir::region_map(n.region(b), dims)), n);
    }));
  }
  const std::vector<std::string> names(c.types.size(),
                                       c.types.size() == 1 ? n.origin().name : std::string());
  c.out = unpack(cxx::call("tl::cond", std::move(parts)), c.types, names);
}

void TensorLowering::while_loop(const ir::Node& n, TensorCall& c, const ir::DimMap& dims) {
  const auto& a = n.as<ir::WhileAttrs>();
  if (!a.append.empty()) {
    refuse(n, "it records values of each trip, and how many there are is known only at run time");
  }
  const auto n_inv = static_cast<std::size_t>(a.n_inv),
             n_carry = static_cast<std::size_t>(a.n_carry);
  const TensorValues inv(c.in.begin(), c.in.begin() + a.n_inv);
  const TensorValues init(c.in.begin() + a.n_inv, c.in.end());
  const ir::Graph& body = *n.region(1).graph;
  auto part = [&](const char* name, std::size_t region) {
    const ir::Graph& g = *n.region(region).graph;
    const ir::DimMap map = ir::region_map(n.region(region), dims);
    const VarId carry = declare("carry", NameRank::derived);
    return lambda(name, std::span(&carry, 1), [&] {
      TensorValues args = inv;
      const TensorValues carries =
          unpack(variable(carry), types_of(g, n_inv, n_carry, map), names_of(body, n_inv, n_carry));
      args.insert(args.end(), carries.begin(), carries.end());
      return tuple(graph(g, args, map), n);
    });
  };
  const ExprRef condition = part("condition", 0), step = part("step", 1);
  Exprs args{condition, step, tuple(init, n)};
  if (a.max_trips > 0) args.push_back(integer(a.max_trips));
  std::vector<Type> types(c.types.begin(), c.types.begin() + a.n_carry);
  c.out = unpack(cxx::call("tl::while_loop", std::move(args)), types,
                 std::vector<std::string>(n_carry));
  // The trip count, which nobody reads where nothing is recorded.
  c.out.push_back({c.types.back(), c.types.back(), integer(0)});
}

void TensorLowering::scan(const ir::Node& n, TensorCall& c, const ir::DimMap& dims) {
  const auto& a = n.as<ir::ScanAttrs>();
  const bool flat = std::ranges::any_of(a.append, [](const ir::Append& x) { return x.flat; }) ||
                    std::ranges::any_of(a.xrag, [](bool ragged) { return ragged; });
  if (flat) refuse(n, "its trips read or append pieces of different lengths");
  const auto n_inv = static_cast<std::size_t>(a.n_inv),
             n_carry = static_cast<std::size_t>(a.n_carry);
  const ir::Graph& body = *n.region(0).graph;
  const ir::DimMap map = ir::region_map(n.region(0), dims);
  const TensorValues inv(c.in.begin(), c.in.begin() + a.n_inv);
  const TensorValues init(c.in.begin() + a.n_inv, c.in.begin() + a.n_inv + a.n_carry);
  const TensorValues xs(c.in.begin() + a.n_inv + a.n_carry, c.in.end());
  const Dim length = a.length.substitute(dims);
  if (xs.empty() && !length.is_constant()) {
    refuse(n, "it runs " + length.to_string() + " times over no array");
  }
  std::vector<VarId> params{declare("carry", NameRank::derived)};
  if (!xs.empty()) params.push_back(declare("element", NameRank::derived));
  const ExprRef step = lambda("step", params, [&] {
    TensorValues args = inv;
    auto bind = [&](VarId from, std::size_t first, std::size_t count) {
      const TensorValues values =
          unpack(variable(from), types_of(body, first, count, map), names_of(body, first, count));
      args.insert(args.end(), values.begin(), values.end());
    };
    bind(params[0], n_inv, n_carry);
    if (!xs.empty()) bind(params[1], n_inv + n_carry, xs.size());
    const TensorValues results = graph(body, args, map);
    const auto split = results.begin() + static_cast<std::ptrdiff_t>(n_carry);
    return cxx::call("std::pair",
                     {tuple({results.begin(), split}, n), tuple({split, results.end()}, n)});
  });
  Exprs args{step, tuple(init, n)};
  if (!xs.empty()) args.push_back(tuple(xs, n));
  if (a.reverse)
    args.push_back(literal(xs.empty() ? "{}, {.reverse = true}" : "{.reverse = true}"));
  const std::string function =
      xs.empty() ? "tl::scan<" + std::to_string(length.constant()) + ">" : "tl::scan";
  // A pair of the carry and the stacked values, each one value or a tuple.
  const std::span<const Type> types = c.types;
  Stmt s{Stmt::Kind::unpack};
  s.value = cxx::call(function, std::move(args));
  TensorValues out;
  std::vector<std::pair<VarId, std::span<const Type>>> tuples;
  for (const auto& part : {types.first(n_carry), types.subspan(n_carry)}) {
    const VarId v = declare(part.size() == 1                       ? ""
                            : &part[0] == &types[0] && n_carry > 0 ? "last"
                                                                   : "stacked",
                            NameRank::derived);
    s.params.push_back(v);
    tuples.emplace_back(v, part);
  }
  emit(std::move(s));
  for (const auto& [v, part] : tuples) {
    if (part.size() == 1) {
      c.out.push_back({part[0], part[0], variable(v)});
    } else {
      const TensorValues values = unpack(variable(v), part, std::vector<std::string>(part.size()));
      c.out.insert(c.out.end(), values.begin(), values.end());
    }
  }
}

namespace {

/// Composites that the public API has under the same name, of one operand and no parameter.
constexpr const char* kActivations[] = {"relu", "relu6",      "gelu",         "gelu_tanh",
                                        "silu", "softplus",   "hard_sigmoid", "hard_swish",
                                        "mish", "log_sigmoid"};

}  // namespace

void TensorLowering::call(const ir::Node& n, TensorCall& c, ir::DimMap& dims) {
  const auto& a = n.as<ir::CallAttrs>();
  const bool named_call = std::ranges::find(kActivations, a.name) != std::end(kActivations) &&
                          a.params.empty() && c.in.size() == 1;
  if (named_call) {
    c.out.push_back(named(c.types[0], cxx::call("tl::" + a.name, {full(c.in[0], n)}), n.origin()));
    return;
  }
  if (a.params.size() == 1 && c.in.size() == 1 && !a.params[0].ints.empty() &&
      (a.name == "softmax" || a.name == "log_softmax" || a.name == "mean" ||
       a.name == "logsumexp")) {
    std::string axes;
    for (std::int64_t axis : a.params[0].ints) {
      axes += (axes.empty() ? "" : ", ") + std::to_string(axis);
    }
    const ExprRef e = cxx::call("tl::" + a.name + "<" + axes + ">", {full(c.in[0], n)});
    c.out.push_back(named(c.types[0], e, n.origin()));
    return;
  }
  const TensorValues args(c.in.begin(), c.in.end());
  c.out = graph(*n.region(0).graph, args, ir::region_map(n.region(0), dims));
  for (std::size_t k = 0; k < c.out.size(); ++k) c.out[k].type = c.types[k];
}

}  // namespace tlaloc::cxx
