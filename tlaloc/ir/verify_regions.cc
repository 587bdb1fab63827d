// Signatures of the region ops.
//
// Sizes of a region's graph mean something in the caller only through the region's dims: entry dim
// i stands for dims[i]. Types are compared after that substitution, and "unknown" passes, because a
// branch may know more of a size than its caller does.
#include "tlaloc/ir/verify_regions.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "tlaloc/ir/region_ops.h"

namespace tlaloc::ir {
namespace {

/// One region seen from its node.
class Side {
 public:
  /// `optional`: entry dims without a size in the caller are allowed.
  Side(const CheckedNode& c, std::size_t k, bool optional = false)
      : c_(c), region_(c.node.region(k)), name_(region_names(c.node.op(), c.node.attr().get())[k]) {
    const auto dims = graph().dims();
    if (region_.dims.size() != dims.size()) fail("takes another number of sizes");
    for (std::size_t i = 0; i < dims.size(); ++i) {
      const auto& given = region_.dims[i];
      if (!given && !optional) fail("needs size '" + dims[i].name() + "'");
      if (!given) continue;
      if (!c_.in_scope(*given)) fail("is given a size that is out of scope");
      map_.set(dims[i], *given);
      const SymbolFacts& f = dims[i].facts();
      // A branch may be given a size that its facts exclude: it is then never taken.
      if (c.node.region_kind() == RegionKind::branch) continue;
      const Interval range = bounds(*given);
      if (range.upper < f.lower || range.lower > f.upper ||
          equal(mod(*given, f.multiple_of), 0) == Truth::no) {
        fail("is built on other bounds of size '" + f.name + "'");
      }
    }
  }

  const Graph& graph() const { return *region_.graph; }
  bool takes(std::size_t dim) const { return region_.dims[dim].has_value(); }
  [[noreturn]] void fail(const std::string& what) const {
    c_.fail("region '" + std::string(name_) + "' " + what);
  }
  Type param(std::size_t k) const { return graph().type(static_cast<ValueId>(k)); }
  Type result(std::size_t k) const { return graph().type(graph().results()[k]); }
  void check_counts(std::size_t params, std::size_t results) const {
    if (graph().param_count() != params) {
      fail("takes " + std::to_string(graph().param_count()) + " values, is given " +
           std::to_string(params));
    }
    if (graph().results().size() != results) {
      fail("returns " + std::to_string(graph().results().size()) + " values, not " +
           std::to_string(results));
    }
  }
  /// Result dim i of the graph is what the node binds as bound[i].
  void bind_results() {
    bound_ = c_.node.bound();
    if (graph().result_dims().size() != bound_.size()) fail("binds another number of sizes");
  }
  void no_result_dims() const {
    if (!graph().result_dims().empty()) fail("binds sizes, which a loop cannot");
  }

  /// A size of the graph in terms of the caller; none if it means nothing there.
  std::optional<Dim> resolve(Dim d) const {
    if (!d.mentions([&](Symbol s) { return !map_.find(s); })) return d.substitute(map_);
    for (std::size_t i = 0; i < bound_.size(); ++i) {
      if (graph().result_dims()[i] == d) return Dim(bound_[i]);
    }
    return std::nullopt;
  }
  /// Axes from `inner_from` of the inner type against those from `outer_from` of the caller's.
  void match(Type inner, int inner_from, Type outer, int outer_from, const std::string& what,
             bool lenient = false) const {
    const bool fits = inner.dtype() == outer.dtype() && inner.encoding() == outer.encoding() &&
                      inner.rank() - inner_from == outer.rank() - outer_from;
    if (!fits) mismatch(inner, outer, what);
    for (int i = inner_from; i < inner.rank(); ++i) {
      const auto d = resolve(inner.dim(i));
      if (!d && !lenient) fail(what + ": size " + inner.dim(i).to_string() + " stays inside");
      if (d && equal(*d, outer.dim(i - inner_from + outer_from)) == Truth::no) {
        mismatch(inner, outer, what);
      }
    }
  }
  void match(Type inner, Type outer, const std::string& what, bool lenient = false) const {
    match(inner, 0, outer, 0, what, lenient);
  }
  /// Only what no size can change.
  void match_kind(Type inner, Type outer, const std::string& what) const {
    if (inner.dtype() != outer.dtype() || inner.rank() != outer.rank()) {
      mismatch(inner, outer, what);
    }
  }
  [[noreturn]] void mismatch(Type inner, Type outer, const std::string& what) const {
    fail(what + " is " + inner.substitute(map_).to_string() + " inside, " + outer.to_string() +
         " outside");
  }

 private:
  const CheckedNode& c_;
  const Region& region_;
  std::string_view name_;
  DimMap map_;
  std::span<const Symbol> bound_;
};

std::string nth(const char* what, std::size_t k) { return what + (" " + std::to_string(k)); }

/// An operand or result of the node.
Type operand(const CheckedNode& c, std::size_t k) { return c.graph.type(c.node.operand(k)); }

template <class A>
const A& attrs_of(const CheckedNode& c) {
  const A* attrs = attr_if<A>(c.node.attr().get());
  c.check(attrs, "attributes of another op");
  return *attrs;
}
void check_regions(const CheckedNode& c) {
  const auto names = region_names(c.node.op(), c.node.attr().get());
  c.check(c.node.regions().size() == names.size(), "another number of regions");
  for (const Region& r : c.node.regions()) c.check(r.graph != nullptr, "a region has no graph");
}

// ---- if ----

void check_owners(const CheckedNode& c, const std::vector<std::int64_t>& owners,
                  std::size_t count) {
  c.check(owners.size() == count, "one owner per operand and per result");
  for (std::int64_t o : owners) c.check(o >= -1 && o <= 1, "an owner is -1, 0 or 1");
}

void verify_if(const CheckedNode& c) {
  const auto& a = attrs_of<IfAttrs>(c);
  check_regions(c);
  c.check(!c.node.operands().empty(), "the predicate is missing");
  const Type predicate = operand(c, 0);
  c.check(predicate.dtype() == DType::boolean, "the predicate is not bool");
  const std::size_t n_args = c.node.operands().size() - 1, n_out = c.node.result_count();
  check_owners(c, a.arg_owner, n_args);
  check_owners(c, a.out_owner, n_out);
  // Lanes select every result that no branch owns, so these and the operands have them in front.
  auto has_lanes = [&](Type t, int lanes) {
    if (t.rank() < lanes) return false;
    for (int i = 0; i < lanes; ++i) {
      if (equal(t.dim(i), predicate.dim(i)) == Truth::no) return false;
    }
    return true;
  };
  // Masks and lengths of outer lanes may have only those: they have no cotangent that would be
  // summed over the inner ones before the select.
  auto lanes_of = [&](Type t) {
    const int all = predicate.rank();
    return is_differentiable(t.dtype()) ? all : std::min(all, std::max(t.rank(), 1));
  };
  for (std::size_t k = 0; k < n_args; ++k) {
    const Type t = operand(c, k + 1);
    if (a.arg_owner[k] < 0) c.check(has_lanes(t, lanes_of(t)), "an operand lacks the lanes");
  }
  for (std::size_t k = 0; k < n_out; ++k) {
    if (a.out_owner[k] < 0)
      c.check(has_lanes(c.node.result_types()[k], predicate.rank()), "a result lacks the lanes");
  }
  for (std::size_t branch = 0; branch < 2; ++branch) {
    Side side(c, branch);
    side.check_counts(n_args, n_out);
    side.bind_results();
    // What the other branch owns is filler here, of sizes that may differ.
    auto foreign = [&](std::int64_t owner) {
      return owner >= 0 && owner != static_cast<std::int64_t>(branch);
    };
    for (std::size_t k = 0; k < n_args; ++k) {
      const std::string what = nth("operand", k);
      if (foreign(a.arg_owner[k]))
        side.match_kind(side.param(k), operand(c, k + 1), what);
      else
        side.match(side.param(k), operand(c, k + 1), what);
    }
    for (std::size_t k = 0; k < n_out; ++k) {
      const std::string what = nth("result", k);
      const Type outer = c.node.result_types()[k];
      if (foreign(a.out_owner[k]))
        side.match_kind(side.result(k), outer, what);
      else
        side.match(side.result(k), outer, what);
    }
  }
}

// ---- loops ----

/// What while and scan share: invariants, carries and per-iteration outputs of the body.
class LoopCheck {
 public:
  LoopCheck(const CheckedNode& c, std::int64_t n_inv, std::int64_t n_carry,
            const std::vector<Append>& append)
      : c_(c), append_(append) {
    const auto n = static_cast<std::int64_t>(c.node.operands().size());
    // Compared one by one: their sum could overflow.
    c.check(n_inv >= 0 && n_carry >= 0 && n_inv <= n && n_carry <= n - n_inv,
            "too few operands for the invariants and carries");
    n_inv_ = static_cast<std::size_t>(n_inv);
    n_carry_ = static_cast<std::size_t>(n_carry);
  }
  std::size_t inputs() const { return n_inv_ + n_carry_; }

  /// Sizes that differ from one iteration to the next.
  void add_local(Symbol s) { local_.insert(s.id()); }
  bool local(Dim d) const {
    return d.mentions([&](Symbol s) { return local_.contains(s.id()); });
  }

  void match_inputs(const Side& side) const {
    for (std::size_t k = 0; k < inputs(); ++k) {
      side.match(side.param(k), operand(c_, k), nth("operand", k));
    }
  }
  /// `lead`: the leading size of stacked outputs. `bound`: what the node binds for flat ones.
  void match_body(const Side& body, Dim lead, std::span<const Symbol> bound) {
    for (std::uint32_t i = 0; i < body.graph().node_count(); ++i) {
      for (Symbol s : body.graph().node(i).bound()) add_local(s);
    }
    for (std::size_t k = 0; k < n_carry_; ++k) {
      body.match(body.result(k), operand(c_, n_inv_ + k), nth("carry", k));
      body.match(body.result(k), c_.node.result_types()[k], nth("carry", k));
    }
    std::vector<std::pair<Dim, Symbol>> flat;  // a leading size inside, its flat length
    for (std::size_t k = 0; k < append_.size(); ++k) {
      const Type y = body.result(n_carry_ + k), out = c_.node.result_types()[n_carry_ + k];
      if (append_[k].flat)
        match_flat(body, k, y, out, bound, flat);
      else
        match_stacked(body, k, y, out, lead);
    }
    c_.check(flat.size() == bound.size(), "a size is bound for each flat length and no other");
  }

  std::vector<std::pair<Dim, Dim>> cut;  ///< a ragged dim of the body, the flat size of its xs

 private:
  void match_stacked(const Side& body, std::size_t k, Type y, Type out, Dim lead) {
    for (Dim d : y.shape()) {
      if (local(d)) {
        body.fail(nth("output", k) + ": size " + d.to_string() +
                  " differs between iterations, so the output cannot be stacked");
      }
    }
    if (out.rank() < 1 || equal(out.dim(0), lead) == Truth::no)
      body.mismatch(y, out, nth("output", k));
    body.match(y, 0, out, 1, nth("output", k));
  }
  void match_flat(const Side& body, std::size_t k, Type y, Type out, std::span<const Symbol> bound,
                  std::vector<std::pair<Dim, Symbol>>& flat) {
    const std::string what = nth("output", k);
    if (y.rank() < 1 || out.rank() < 1 || !local(y.dim(0))) {
      body.fail(what + ": what is appended has a leading size that differs between iterations");
    }
    for (Dim d : y.shape().subspan(1)) {
      if (local(d)) body.fail(what + ": only the leading size may differ between iterations");
    }
    body.match(y, 1, out, 1, what);
    if (const auto& length = append_[k].length) {
      if (equal(out.dim(0), *length) == Truth::no) body.mismatch(y, out, what);
      for (const auto& [inside, outside] : cut) {
        if (inside == y.dim(0) && equal(outside, *length) == Truth::no) {
          body.fail(what + ": its flat length is not that of the xs cut by the same size");
        }
      }
      return;
    }
    // Outputs cut by one size share one length, bound in order of first use.
    auto known = std::ranges::find(flat, y.dim(0), &std::pair<Dim, Symbol>::first);
    if (known == flat.end()) {
      c_.check(flat.size() < bound.size(), "a flat length is not bound");
      flat.emplace_back(y.dim(0), bound[flat.size()]);
      known = flat.end() - 1;
    }
    if (out.dim(0) != Dim(known->second)) body.mismatch(y, out, what);
  }

  const CheckedNode& c_;
  const std::vector<Append>& append_;
  std::size_t n_inv_ = 0, n_carry_ = 0;
  std::unordered_set<std::uint32_t> local_;
};

void verify_while(const CheckedNode& c) {
  const auto& a = attrs_of<WhileAttrs>(c);
  check_regions(c);
  LoopCheck loop(c, a.n_inv, a.n_carry, a.append);
  c.check(loop.inputs() == c.node.operands().size(), "another number of operands");
  c.check(a.max_trips >= 0, "max_trips is negative");
  const auto n_carry = static_cast<std::size_t>(a.n_carry);
  c.check(c.node.result_count() == n_carry + a.append.size() + 1, "another number of results");
  c.check(c.node.result_types().back() == Type::scalar(DType::i64), "the trip count is an i64");
  c.check(!c.node.bound().empty(), "the trip count is not bound");

  const Side cond(c, 0), body(c, 1);
  cond.check_counts(loop.inputs(), 1);
  cond.no_result_dims();
  if (cond.result(0) != Type::scalar(DType::boolean)) cond.fail("does not return one bool");
  body.check_counts(loop.inputs(), n_carry + a.append.size());
  body.no_result_dims();
  loop.match_inputs(cond);
  loop.match_inputs(body);
  loop.match_body(body, Dim(c.node.bound()[0]), c.node.bound().subspan(1));
}

void verify_scan(const CheckedNode& c) {
  const auto& a = attrs_of<ScanAttrs>(c);
  check_regions(c);
  LoopCheck loop(c, a.n_inv, a.n_carry, a.append);
  const std::size_t first_x = loop.inputs(), n_x = c.node.operands().size() - first_x;
  const auto n_carry = static_cast<std::size_t>(a.n_carry);
  c.check(a.xrag.size() == n_x, "xrag says one thing per xs");
  c.check(c.node.result_count() == n_carry + a.append.size(), "another number of results");
  c.check(less_equal(0, a.length) != Truth::no, "the length is negative");

  const Side body(c, 0, true);
  body.check_counts(c.node.operands().size(), n_carry + a.append.size());
  body.no_result_dims();
  const auto dims = body.graph().dims();
  std::unordered_set<std::size_t> ragged;
  for (const Ragged& r : a.ragged) {
    c.check(r.dim >= 0 && static_cast<std::size_t>(r.dim) < dims.size(),
            "a ragged size is not an entry dim of the body");
    c.check(r.xs >= 0 && static_cast<std::size_t>(r.xs) < n_x, "the lengths are not among the xs");
    const auto xs = static_cast<std::size_t>(r.xs), dim = static_cast<std::size_t>(r.dim);
    c.check(ragged.insert(dim).second, "a ragged size has two lists of lengths");
    c.check(!body.takes(dim), "a ragged size is given by the caller too");
    c.check(!a.xrag[xs] && body.param(first_x + xs) == Type::scalar(DType::i64),
            "lengths are an i64 per iteration");
    loop.add_local(dims[dim]);
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    c.check(body.takes(i) || ragged.contains(i), "a size of the body is neither given nor ragged");
  }
  loop.match_inputs(body);
  for (std::size_t k = 0; k < n_x; ++k) {
    const Type x = operand(c, first_x + k), in = body.param(first_x + k);
    const std::string what = nth("xs", k);
    if (!a.xrag[k]) {
      if (x.rank() < 1 || equal(x.dim(0), a.length) == Truth::no) body.mismatch(in, x, what);
      body.match(in, 0, x, 1, what);
      continue;
    }
    if (in.rank() < 1 || x.rank() < 1) body.mismatch(in, x, what);
    const Dim cut = in.dim(0);
    if (!cut.as_symbol() || !loop.local(cut)) body.fail(what + ": it is cut by no ragged size");
    body.match(in, 1, x, 1, what);
    for (const auto& [inside, outside] : loop.cut) {
      if (inside == cut && equal(outside, x.dim(0)) == Truth::no) {
        body.fail(what + ": another xs cut by the same size has another flat length");
      }
    }
    loop.cut.emplace_back(cut, x.dim(0));
  }
  loop.match_body(body, a.length, c.node.bound());
}

// ---- call ----

/// Types of a node's operands or results, from `from` on; those that carry tangents only, if so.
std::vector<Type> select(std::span<const Type> types, std::size_t from, bool tangents) {
  std::vector<Type> r;
  for (Type t : types.subspan(from)) {
    if (!tangents || is_differentiable(t.dtype())) r.push_back(t);
  }
  return r;
}

/// Derivative graphs: `have` of the region against `want`, which is known in the caller.
void match_all(const Side& side, bool params, std::size_t from, std::span<const Type> want) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    const Type have = params ? side.param(from + k) : side.result(from + k);
    side.match(have, want[k], nth(params ? "operand" : "result", from + k), true);
  }
}

void verify_call(const CheckedNode& c) {
  const auto& a = attrs_of<CallAttrs>(c);
  check_regions(c);
  const std::size_t n_in = c.node.operands().size(), n_out = c.node.result_count();
  std::vector<Type> in;
  for (ValueId v : c.node.operands()) in.push_back(c.graph.type(v));
  const auto out = c.node.result_types();
  const bool linear = a.kind == CallKind::linear;
  c.check(a.n_residuals >= 0 && static_cast<std::uint64_t>(a.n_residuals) <= n_in &&
              (linear || a.n_residuals == 0),
          "another number of residuals");
  const auto n_res = static_cast<std::size_t>(a.n_residuals);

  Side callee(c, 0);
  callee.check_counts(n_in, n_out);
  callee.bind_results();
  for (std::size_t k = 0; k < n_in; ++k) callee.match(callee.param(k), in[k], nth("operand", k));
  for (std::size_t k = 0; k < n_out; ++k) callee.match(callee.result(k), out[k], nth("result", k));

  const auto dx = select(in, n_res, true), dy = select(out, 0, true);
  if (a.kind == CallKind::custom_jvp) {
    const Side jvp(c, 1, true);
    jvp.check_counts(n_in + dx.size(), n_out + dy.size());
    match_all(jvp, true, 0, in);
    match_all(jvp, true, n_in, dx);
    match_all(jvp, false, 0, out);
    match_all(jvp, false, n_out, dy);
  } else if (a.kind == CallKind::custom_vjp) {
    const Side fwd(c, 1, true), bwd(c, 2, true);
    const std::size_t returned = fwd.graph().results().size();
    if (returned < n_out) fwd.fail("returns fewer values than the callee");
    fwd.check_counts(n_in, returned);
    match_all(fwd, true, 0, in);
    match_all(fwd, false, 0, out);
    // Residuals pass from one graph to the other; their sizes may be computed in the first.
    const std::size_t residuals = returned - n_out;
    bwd.check_counts(residuals + dy.size(), dx.size());
    for (std::size_t k = 0; k < residuals; ++k) {
      bwd.match_kind(bwd.param(k), fwd.result(n_out + k), nth("residual", k));
    }
    match_all(bwd, true, residuals, dy);
    match_all(bwd, false, 0, dx);
  } else if (linear) {
    c.check(dx.size() == n_in - n_res && dy.size() == n_out, "a linear call maps tangents only");
    const Side bwd(c, 1, true);
    bwd.check_counts(n_res + dy.size(), dx.size());
    match_all(bwd, true, 0, std::span(in).first(n_res));
    match_all(bwd, true, n_res, dy);
    match_all(bwd, false, 0, dx);
  }
}

// ---- manual_computation ----

void verify_manual(const CheckedNode& c) {
  const auto& a = attrs_of<ManualAttrs>(c);
  check_regions(c);
  const std::size_t n_in = c.node.operands().size(), n_out = c.node.result_count();
  c.check(a.in.size() == n_in && a.out.size() == n_out, "one sharding per operand and per result");
  const auto well = [&](const std::string& wrong) {
    if (!wrong.empty()) c.fail(wrong);
  };
  well(manual_axes_problem(a.mesh, a.axes));
  const Side body(c, 0);
  body.check_counts(n_in, n_out);
  body.no_result_dims();
  auto match = [&](Type local, Type whole, const ShardSpec& spec, const std::string& what) {
    well(spec_problem(a.mesh, a.axes, spec, whole.rank()));
    std::vector<Dim> shape(local.shape().begin(), local.shape().end());
    if (local.rank() != whole.rank()) body.mismatch(local, whole, what);
    for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = shape[i] * spec.parts(a.mesh, i);
    body.match(local.with_shape(shape), whole, what);
  };
  for (std::size_t k = 0; k < n_in; ++k) {
    match(body.param(k), operand(c, k), a.in[k], nth("operand", k));
  }
  for (std::size_t k = 0; k < n_out; ++k) {
    match(body.result(k), c.node.result_types()[k], a.out[k], nth("result", k));
  }
}

}  // namespace

void verify_regions(const CheckedNode& c) {
  switch (c.node.region_kind()) {
    case RegionKind::none:
      return;
    case RegionKind::branch:
      return verify_if(c);
    case RegionKind::loop:
      return verify_while(c);
    case RegionKind::scan:
      return verify_scan(c);
    case RegionKind::call:
      return verify_call(c);
    case RegionKind::manual:
      return verify_manual(c);
  }
}

}  // namespace tlaloc::ir
