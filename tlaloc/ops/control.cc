#include "tlaloc/ops/control.h"

#include <algorithm>

#include "tlaloc/base/error.h"

namespace tlaloc::ops {

using ir::emit_if;
using ir::emit_scan;
using ir::emit_while;
using ir::make_region;

namespace {

std::vector<Type> types_of(const Vals& vs) {
  std::vector<Type> r;
  for (Val v : vs) r.push_back(v.type());
  return r;
}
std::string list(const std::vector<Type>& types) {
  std::string s;
  for (Type t : types) s += (s.empty() ? "" : ", ") + t.to_string();
  return "(" + s + ")";
}
void check_carries(const char* op, const ir::Graph& body, const std::vector<Type>& init) {
  const auto results = body.result_types();
  const std::vector<Type> carried(
      results.begin(),
      results.begin() + static_cast<std::ptrdiff_t>(std::min(results.size(), init.size())));
  bool same = results.size() >= init.size();
  for (std::size_t k = 0; same && k < init.size(); ++k) {
    same = equal(carried[k], init[k]) != ir::Truth::no;
  }
  if (same) return;
  throw UserError({"TL-CONTROL-002", op,
                   "the body returns carries of type " + list(carried) +
                       " where the loop starts with " + list(init),
                   "a carry keeps its element type and shape", ir::OriginScope::current()->place});
}

}  // namespace

Traced trace(std::span<const Type> params, const Body& body, const std::string& name) {
  ir::Builder b(name);
  Vals args;
  for (Type t : params) args.push_back(b.param(t));
  const Vals results = body(args);
  Traced t;
  t.graph = b.build(results);
  t.captured = b.lifted();
  return t;
}

Shared share_captures(const std::vector<Traced>& traced) {
  Shared s;
  for (const Traced& t : traced) {
    for (Val v : t.captured) {
      if (std::ranges::find(s.captured, v) == s.captured.end()) s.captured.push_back(v);
    }
  }
  for (const Traced& t : traced) {
    std::vector<ir::ParamSpec> params;
    for (Val v : s.captured) {
      const auto at = std::ranges::find(t.captured, v);
      if (at == t.captured.end())
        params.push_back({ir::kNoNode, v.type()});
      else
        params.push_back({static_cast<std::uint32_t>(at - t.captured.begin()), {}});
    }
    for (std::size_t k = t.captured.size(); k < t.graph->param_count(); ++k) {
      params.push_back({static_cast<std::uint32_t>(k), {}});
    }
    const std::vector<ir::ValueId> results(t.graph->results().begin(), t.graph->results().end());
    s.graphs.push_back(with_signature(*t.graph, params, results));
  }
  return s;
}

Vals cond(Val pred, const Vals& args, const Body& then, const Body& other) {
  const auto types = types_of(args);
  if (pred.type() != Type::scalar(DType::boolean)) {
    throw UserError({"TL-CONTROL-003", "cond",
                     "the predicate is " + pred.type().to_string() + ", not a bool scalar",
                     "use select for elementwise choices", ir::OriginScope::current()->place});
  }
  const Shared s = share_captures({trace(types, then, "then"), trace(types, other, "else")});
  const auto a = s.graphs[0]->result_types(), b = s.graphs[1]->result_types();
  bool same = a.size() == b.size();
  for (std::size_t k = 0; same && k < a.size(); ++k) same = equal(a[k], b[k]) != ir::Truth::no;
  if (!same) {
    throw UserError({"TL-CONTROL-001", "cond", "the branches return " + list(a) + " and " + list(b),
                     "both must return the same types", ir::OriginScope::current()->place});
  }
  Vals all = s.captured;
  all.insert(all.end(), args.begin(), args.end());
  return emit_if(pred, all, {make_region(s.graphs[0], {}), make_region(s.graphs[1], {})}, a).out;
}

LoopResult while_loop(const Vals& init, const Body& condition, const Body& body,
                      std::int64_t max_trips) {
  const auto types = types_of(init);
  const Shared s = share_captures({trace(types, condition, "cond"), trace(types, body, "body")});
  const auto c = s.graphs[0]->result_types();
  if (c.size() != 1 || c[0] != Type::scalar(DType::boolean)) {
    throw UserError({"TL-CONTROL-003", "while_loop", "the condition returns " + list(c),
                     "return one bool scalar", ir::OriginScope::current()->place});
  }
  check_carries("while_loop", *s.graphs[1], types);
  const Vals out =
      emit_while({s.captured, init, s.graphs[0], s.graphs[1], {}, {}, {}, max_trips}).out;
  const auto nc = static_cast<std::ptrdiff_t>(init.size());
  return {{out.begin(), out.begin() + nc}, {out.begin() + nc, out.end() - 1}, out.back()};
}

LoopResult scan(const Vals& init, const Vals& xs, const Body& body, std::optional<Dim> length,
                bool reverse) {
  auto types = types_of(init);
  for (Val x : xs) {
    if (x.rank() == 0) {
      throw UserError({"TL-CONTROL-004", "scan", "an operand to scan over is a scalar",
                       "scan needs a leading axis", ir::OriginScope::current()->place});
    }
    if (!length) length = x.dim(0);
    ir::Builder::current().require(
        {ir::Constraint::Kind::equal, x.dim(0), *length, "scan: length", {}});
    types.push_back(x.type().without_leading());
  }
  if (!length) {
    throw UserError({"TL-CONTROL-004", "scan", "neither operands to scan over nor a length", "",
                     ir::OriginScope::current()->place});
  }
  const Traced t = trace(types, body, "body");
  check_carries("scan", *t.graph, types_of(init));
  const Vals out = emit_scan({t.captured, init, xs, t.graph, {}, *length, reverse, {}, {}, {}}).out;
  const auto nc = static_cast<std::ptrdiff_t>(init.size());
  return {{out.begin(), out.begin() + nc}, {out.begin() + nc, out.end()}, {}};
}

Vals fori_loop(Val count, const Vals& init, const Body& body) {
  Vals start{scalar_int(0, count.dtype())};
  start.insert(start.end(), init.begin(), init.end());
  const LoopResult r = while_loop(
      start, [&](const Vals& c) { return Vals{c[0] < count}; },
      [&](const Vals& c) {
        Vals next{c[0] + scalar_int(1, count.dtype())};
        const Vals out = body(c);
        next.insert(next.end(), out.begin(), out.end());
        return next;
      });
  return {r.carries.begin() + 1, r.carries.end()};
}

}  // namespace tlaloc::ops
