// Branches and loops over functions.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/regions.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::core {
namespace {

using Extras = MergedRegions::Extras;

[[noreturn]] void fail(const OpCall& call, const char* code, std::string message,
                       std::string hint) {
  throw UserError({code, call.name, std::move(message), std::move(hint), user_place(call.where)});
}

void require_same_structure(const OpCall& call, const Leaves& a, const Leaves& b) {
  if (a.size() == b.size() && a.data().notes == b.data().notes) return;
  fail(call, "TL-TREE-002",
       "the branches return different structures: " + std::to_string(a.size()) + " and " +
           std::to_string(b.size()) + " leaves",
       "return the same structure from every branch");
}

/// The first results of a loop's body are what it carries: as many leaves, in the same structure.
void require_carry(const OpCall& call, const Leaves& carry, const Leaves& results) {
  const auto &due = carry.data().notes, &have = results.data().notes;
  if (results.size() >= carry.size() && have.size() >= due.size() &&
      std::equal(due.begin(), due.end(), have.begin())) {
    return;
  }
  fail(call, "TL-TREE-002",
       results.size() < carry.size() ? "the body returns fewer leaves than the loop carries"
                                     : "the body returns another structure than the loop carries",
       "return every carried value, in the structure that it came in");
}

std::string result_of(const Closure& c, const char* who, std::size_t k) {
  return std::string(who) + c.results.data().path(k);
}

std::vector<ir::Type> types_of(const ir::Vals& vals) {
  std::vector<ir::Type> types;
  for (ir::Val v : vals) types.push_back(v.type());
  return types;
}

}  // namespace

Leaves cond(const Ref& predicate, const Function& then, const Function& otherwise,
            const Leaves& args, Where where) {
  const OpCall call{"cond", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    if (dtype(predicate) != DType::boolean || rank(predicate) != 0) {
      fail(call, "TL-COND-001", "the predicate is " + describe(predicate) + ", not a bool scalar",
           "reduce it with all or any, or use select for a choice per element");
    }
    const Signature signature = exact_signature(args);
    const std::array closures{trace_closure(then, args, signature),
                              trace_closure(otherwise, args, signature)};
    require_same_structure(call, closures[0].results, closures[1].results);
    for (const Closure& c : closures) require_known_sizes(call, c);
    const std::vector<ir::Type> types = closures[0].graph->result_types();
    const auto as_first = [&](const ir::GraphRef& second) {
      return conformed(call, "TL-COND-002", second, types, [&](std::size_t k) {
        return result_of(closures[1], "the other branch's ", k);
      });
    };
    if (!is_traced(predicate)) {
      // Both branches were traced, so that what is accepted here is accepted by every transform.
      const ir::GraphRef second = as_first(closures[1].graph);
      const bool first = item_int(predicate, where) != 0;
      const Closure& taken = closures[first ? 0 : 1];
      return with_values(taken.results, call_closure(call, taken, first ? taken.graph : second,
                                                     args, closures[0].result_labels));
    }
    std::vector<Ref> operands = args.data().values;
    const std::vector<Ref> out =
        staged(call, operands, true, closures[0].result_labels, [&](std::span<const Ref> in) {
          const MergedRegions regions(closures, in);
          const ir::GraphRef second = as_first(regions.graph(1, Extras::last));
          return ir::emit_if(as_val(predicate), regions.operands(),
                             {region_of(regions.graph(0, Extras::last)), region_of(second)}, types)
              .out;
        });
    return with_values(closures[0].results, out);
  });
}

namespace {
/// Branches [low, high) of a switch, as nested conds.
struct SwitchRange {
  const Ref& index;
  std::span<const Function> branches;
  std::size_t low, high;
  Where where;

  Function function() { return {&SwitchRange::call, this, branches[low].type, "switch_case"}; }
  static void call(void* self, const Leaves& in, Leaves& out) {
    const auto& s = *static_cast<SwitchRange*>(self);
    if (s.high - s.low == 1) {
      s.branches[s.low].call(s.branches[s.low].self, in, out);
      return;
    }
    const std::size_t middle = s.low + (s.high - s.low) / 2;
    SwitchRange below{s.index, s.branches, s.low, middle, s.where};
    SwitchRange above{s.index, s.branches, middle, s.high, s.where};
    const Ref bound = scalar_int(dtype(s.index), static_cast<std::int64_t>(middle));
    const Ref is_below = binary(BinaryOp::lt, s.index, {}, bound, {}, {}, s.where);
    out = cond(is_below, below.function(), above.function(), in, s.where);
  }
};
}  // namespace

Leaves switch_case(const Ref& index, std::span<const Function> branches, const Leaves& args,
                   Where where) {
  const OpCall call{"switch_case", where};
  return with_place(where, [&] {
    require_values(args, call.name);
    if (!is_integer(dtype(index)) || rank(index) != 0) {
      fail(call, "TL-COND-001", "the index is " + describe(index) + ", not an integer scalar",
           "convert it to an integer scalar");
    }
    if (branches.empty()) fail(call, "TL-COND-003", "there are no branches", "give at least one");
    SwitchRange all{index, branches, 0, branches.size(), where};
    Leaves out;
    all.function().call(&all, args, out);
    return out;
  });
}

Leaves while_loop(const Function& condition, const Function& body, const Leaves& init,
                  std::int64_t max_trips, Where where) {
  const OpCall call{"while_loop", where};
  return with_place(where, [&] {
    require_values(init, call.name);
    if (max_trips < 0) fail(call, "TL-ATTR-001", "max_trips is negative", "give 0 for no limit");
    const Signature signature = exact_signature(init);
    const std::array closures{trace_closure(condition, init, signature),
                              trace_closure(body, init, signature)};
    const auto n = static_cast<std::size_t>(init.size());
    const std::vector<ir::Type> test = closures[0].graph->result_types();
    if (test.size() != 1 || test[0] != ir::Type::scalar(DType::boolean)) {
      fail(call, "TL-LOOP-002",
           "the condition returns " + (test.empty() ? "nothing" : test[0].to_string()) +
               ", not a bool scalar",
           "reduce it with all or any");
    }
    require_carry(call, init, closures[1].results);
    require_known_sizes(call, closures[1]);
    std::vector<std::vector<AxisLabel>> labels = signature.labels;
    for (std::size_t k = n; k < closures[1].result_labels.size(); ++k) {
      auto l = closures[1].result_labels[k];
      if (!l.empty()) l.insert(l.begin(), AxisLabel{});
      labels.push_back(std::move(l));
    }
    const auto& values = init.data().values;
    std::vector<Ref> out =
        staged(call, values, in_trace(values, closures), labels, [&](std::span<const Ref> in) {
          const MergedRegions regions(closures, in);
          ir::WhileParts parts;
          parts.inv = regions.extras();
          parts.init.assign(regions.operands().begin(),
                            regions.operands().begin() + static_cast<std::ptrdiff_t>(n));
          parts.cond = regions.graph(0, Extras::first);
          parts.body =
              conformed(call, "TL-LOOP-004", regions.graph(1, Extras::first), types_of(parts.init),
                        [&](std::size_t k) { return result_of(closures[1], "the body's ", k); });
          parts.max_trips = max_trips;
          ir::Vals all = ir::emit_while(std::move(parts)).out;
          all.pop_back();  // the number of trips
          return all;
        });
    return with_values(closures[1].results, std::move(out));
  });
}

namespace {

/// The leading dim that all xs share; `length` when it is given.
ir::Dim scan_length(const OpCall& call, const Leaves& xs, std::int64_t length) {
  if (xs.size() == 0 && length < 0) {
    fail(call, "TL-LOOP-003", "there are no xs and no length", "give the number of iterations");
  }
  for (int i = 0; i < xs.size(); ++i) {
    if (rank(xs[i]) == 0) {
      fail(call, "TL-RANK-001",
           xs.data().path(static_cast<std::size_t>(i)) + " is a scalar: scan runs along axis 0",
           "broadcast it, or capture it");
    }
    if (i > 0) require_same(call, "TL-SHAPE-001", xs[0], 0, xs[i], 0);
  }
  if (xs.size() == 0) return ir::Dim(length);
  const ir::Dim lead = node(xs[0]).type.dim(0);
  if (length >= 0) {
    if (ir::equal(lead, ir::Dim(length)) == ir::Truth::no) {
      fail(call, "TL-SHAPE-001",
           "the length is " + std::to_string(length) + ", xs is " + describe(xs[0]),
           "leave the length out");
    }
    if (!lead.is_constant()) {
      ir::Builder::current().require({ir::Constraint::Kind::equal, lead, ir::Dim(length),
                                      "scan: length of " + describe(xs[0]),
                                      user_place(call.where)});
    }
  }
  return lead;
}

/// A scan over xs, or where there are none perhaps over the numbers 0, 1, … as i64: `counts`.
struct ScanCall {
  const OpCall& call;
  const Function& body;
  const Leaves& init;
  const Leaves& xs;
  ir::Dim trips;
  bool reverse = false;
  bool counts = false;

  Leaves run() const;
};

Leaves ScanCall::run() const {
  const auto n = static_cast<std::size_t>(init.size());
  Signature signature = exact_signature(init);
  const Signature of_xs = exact_signature(xs);
  for (std::size_t k = 0; k < of_xs.types.size(); ++k) {
    signature.types.push_back(of_xs.types[k].without_leading());
    auto l = of_xs.labels[k];
    if (!l.empty()) l.erase(l.begin());
    signature.labels.push_back(std::move(l));
  }
  const std::vector<Ref> values = joined(init, xs.data().values).data().values;
  Leaves both = joined(init, xs.data().values);
  if (counts) {
    signature.types.push_back(ir::Type::scalar(DType::i64));
    signature.labels.emplace_back();
    both = joined(both, std::array{scalar_int(DType::i64, 0)});
  }
  const std::array closures{trace_closure(body, both, signature)};
  const Closure& c = closures[0];
  require_carry(call, init, c.results);
  require_known_sizes(call, c);
  std::vector<std::vector<AxisLabel>> labels(signature.labels.begin(),
                                             signature.labels.begin() + std::ptrdiff_t(n));
  const AxisLabel lead =
      xs.size() > 0 && !of_xs.labels[0].empty() ? of_xs.labels[0][0] : AxisLabel{};
  for (std::size_t k = n; k < c.result_labels.size(); ++k) {
    auto l = c.result_labels[k];
    const ir::Type t = c.graph->type(c.graph->results()[k]);
    if (!l.empty() || lead.name) {
      l.resize(static_cast<std::size_t>(t.rank()));
      l.insert(l.begin(), lead);
    }
    labels.push_back(std::move(l));
  }
  std::vector<Ref> out =
      staged(call, values, in_trace(values, closures), labels, [&](std::span<const Ref> in) {
        const MergedRegions regions(closures, in);
        const ir::Vals& all = regions.operands();
        ir::ScanParts parts;
        parts.inv = regions.extras();
        parts.init.assign(all.begin(), all.begin() + std::ptrdiff_t(n));
        parts.xs.assign(all.begin() + std::ptrdiff_t(n), all.begin() + std::ptrdiff_t(in.size()));
        if (counts) parts.xs.push_back(ops::iota(ir::Type::get(DType::i64, {trips}), 0));
        parts.body =
            conformed(call, "TL-LOOP-004", regions.graph(0, Extras::first), types_of(parts.init),
                      [&](std::size_t k) { return result_of(c, "the body's ", k); });
        parts.length = trips;
        parts.reverse = reverse;
        return ir::emit_scan(std::move(parts)).out;
      });
  return with_values(c.results, std::move(out));
}

}  // namespace

Leaves scan(const Function& body, const Leaves& init, const Leaves& xs, std::int64_t length,
            bool reverse, Where where) {
  const OpCall call{"scan", where};
  return with_place(where, [&] {
    require_values(init, call.name);
    require_values(xs, call.name);
    return ScanCall{call, body, init, xs, scan_length(call, xs, length), reverse}.run();
  });
}

namespace {

/// i, c… -> c… as a body of a scan that counts (c…, k -> c…, where i = low + k), or as the parts of
/// a while over (i, c…).
struct ForBody {
  const Function& body;
  const Ref& low;
  const Ref& high;
  Where where;

  Leaves rotated(const Leaves& in) const {
    Leaves out;
    // Added before it is narrowed, in the type that holds all of low, k and their sum.
    const DType type = dtype(low), wide = type == DType::u64 ? type : DType::i64;
    const Ref first = type == DType::u64 ? low : scalar_int(wide, item_int(low, where));
    Ref i = convert(in[in.size() - 1], wide, {}, where);
    if (item_int(low, where) != 0) i = binary(BinaryOp::add, i, {}, first, {}, {}, where);
    out.add(convert(i, type, {}, where));
    for (int i = 0; i < in.size() - 1; ++i) out.add(in[i]);
    return out;
  }
  void step(const Leaves& in, Leaves& out) const {
    body.call(body.self, in, out);
    if (out.size() == in.size() - 1) return;
    fail({"fori_loop", where}, "TL-TREE-002",
         "the body returns " + std::to_string(out.size()) + " leaves where the loop carries " +
             std::to_string(in.size() - 1),
         "return exactly what the loop carries");
  }
  static void scan_step(void* self, const Leaves& in, Leaves& out) {
    const auto& f = *static_cast<ForBody*>(self);
    f.step(f.rotated(in), out);
  }
  static void test(void* self, const Leaves& in, Leaves& out) {
    const auto& f = *static_cast<ForBody*>(self);
    out.add(binary(BinaryOp::lt, in[0], {}, f.high, {}, {}, f.where));
  }
  static void while_step(void* self, const Leaves& in, Leaves& out) {
    const auto& f = *static_cast<ForBody*>(self);
    Leaves carries;
    f.step(in, carries);
    out.add(binary(BinaryOp::add, in[0], {}, scalar_int(dtype(in[0]), 1), {}, {}, f.where));
    for (int i = 0; i < carries.size(); ++i) out.add(carries[i]);
  }
};

/// high - low, or 0. Exact for unsigned bounds too, whose bits `item_int` gives.
ir::Dim trips_between(const OpCall& call, const Ref& low, const Ref& high) {
  const std::int64_t a = item_int(low, call.where), b = item_int(high, call.where);
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  if (dtype(low) == DType::u64 ? x >= y : a >= b) return ir::Dim(0);
  if (y - x > static_cast<std::uint64_t>(ir::Dim::kMax)) {
    fail(call, "TL-SIZE-001", "the loop has " + std::to_string(y - x) + " trips",
         "use a while_loop, or fewer trips");
  }
  return ir::Dim(static_cast<std::int64_t>(y - x));
}

}  // namespace

Leaves fori_loop(const Ref& low, const Ref& high, const Function& body, const Leaves& init,
                 Where where) {
  const OpCall call{"fori_loop", where};
  return with_place(where, [&] {
    for (const Ref& bound : {low, high}) {
      if (is_integer(dtype(bound)) && rank(bound) == 0 && dtype(bound) == dtype(low)) continue;
      fail(call, "TL-LOOP-003",
           "the bounds are " + describe(low) + " and " + describe(high) +
               ", not integer scalars of one type",
           "convert them");
    }
    require_values(init, call.name);
    ForBody f{body, low, high, where};
    if (!is_traced(low) && !is_traced(high)) {
      const Function step{&ForBody::scan_step, &f, body.type, call.name};
      const Leaves none;
      const ScanCall scan{.call = call,
                          .body = step,
                          .init = init,
                          .xs = none,
                          .trips = trips_between(call, low, high),
                          .counts = true};
      return with_values(init, scan.run().data().values);
    }
    Leaves carries;
    carries.add(low);
    for (int i = 0; i < init.size(); ++i) carries.add(init[i]);
    const Leaves out =
        while_loop({&ForBody::test, &f, body.type, "fori_loop"},
                   {&ForBody::while_step, &f, body.type, "fori_loop"}, carries, 0, where);
    return with_values(init, {out.data().values.begin() + 1, out.data().values.end()});
  });
}

}  // namespace tlaloc::core
