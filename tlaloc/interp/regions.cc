// The ops with regions, but for those over meshes.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tlaloc/interp/machine.h"
#include "tlaloc/interp/recorder.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::interp {
namespace {

/// Moves count elements from position `first` on.
Arrays move_range(Arrays& from, std::size_t first, std::size_t count) {
  const auto begin = from.begin() + static_cast<std::ptrdiff_t>(first);
  return {std::make_move_iterator(begin),
          std::make_move_iterator(begin + static_cast<std::ptrdiff_t>(count))};
}

/// What loops share: operands by kind, histories of the outputs.
struct Loop {
  Frame& frame;
  const ir::Node& node;
  std::size_t n_inv, n_carry;
  const std::vector<ir::Append>& append;
  Stats* stats;
  Arrays inv, carries, xs;
  std::vector<Recorder> ys;

  Loop(Frame& f, const ir::Node& n, std::int64_t inv_count, std::int64_t carry_count,
       const std::vector<ir::Append>& append_, Stats* stats_)
      : frame(f),
        node(n),
        n_inv(usize(inv_count)),
        n_carry(usize(carry_count)),
        append(append_),
        stats(stats_) {
    inv = move_range(f.in, 0, n_inv);
    carries = move_range(f.in, n_inv, n_carry);
    xs = move_range(f.in, n_inv + n_carry, f.in.size() - n_inv - n_carry);
    f.in.clear();
  }
  const TypeInfo& type(std::size_t result) const { return frame.plan().type(node.result(result)); }
  /// `rows`: how many of each stacked output to expect.
  void start_recording(std::int64_t rows, bool reverse) {
    for (std::size_t k = 0; k < append.size(); ++k) {
      const TypeInfo& t = type(n_carry + k);
      Recorder::Layout layout{t.dtype, {}, append[k].flat, reverse, append[k].flat ? 0 : rows};
      for (ir::Dim d : t.type.shape().subspan(1)) layout.rest.push_back(frame.size(d));
      if (append[k].length) layout.rows = frame.size(*append[k].length);
      ys.emplace_back(std::move(layout));
    }
  }
  /// The body's arguments. The carries move, so that the body may be their last owner.
  Arrays body_args() {
    Arrays args = inv;
    std::ranges::move(carries, std::back_inserter(args));
    return args;
  }
  void finish_body(Arrays out) {
    if (out.size() != n_carry + ys.size()) {
      throw InternalError(std::string(node.op().name) + ": the body's results don't fit");
    }
    carries = move_range(out, 0, n_carry);
    for (std::size_t k = 0; k < ys.size(); ++k) {
      ys[k].add(out[n_carry + k]);
      if (stats) stats->recorded += out[n_carry + k].size();
    }
    if (stats) ++stats->bodies;
  }
  /// Carries, then outputs; binds the flat lengths that were not known before.
  Arrays finish() {
    Arrays out = std::move(carries);
    std::vector<std::pair<ir::Symbol, std::int64_t>> flat;
    for (std::size_t k = 0; k < ys.size(); ++k) {
      if (append[k].flat && !append[k].length) {
        const auto s = type(n_carry + k).type.dim(0).as_symbol();
        internal_check(s.has_value(), "an appended output has no symbol for its length");
        for (const auto& [known, rows] : flat) {
          internal_check(known != *s || rows == ys[k].rows(), "outputs of one flat length differ");
        }
        flat.emplace_back(*s, ys[k].rows());
        frame.bind(*s, ys[k].rows());
      }
      out.push_back(ys[k].finish());
    }
    return out;
  }
};

/// Rows [from, to) of x; `keep_axis` keeps them as an axis, else there is one.
HostArray rows_of(const HostArray& x, std::int64_t from, std::int64_t to, bool keep_axis) {
  Extents e(x.extents().begin() + 1, x.extents().end());
  const std::size_t row = checked_bytes(x.dtype(), e);
  if (keep_axis) e.insert(e.begin(), to - from);
  HostArray y = HostArray::uninitialized(x.dtype(), std::move(e));
  if (y.bytes()) {
    std::memcpy(y.mutable_data(), static_cast<const std::byte*>(x.data()) + usize(from) * row,
                y.bytes());
  }
  return y;
}

/// Element i of an iota that was not made.
HostArray counted(DType type, std::int64_t i) {
  return dispatch(
      type, [&]<class T>(TypeTag<T>) { return HostArray::scalar(ops::convert_element<T>(i)); });
}

/// `x` grown to `extents`. New positions hold 1, so that a lane's unread padding can't be the zero
/// that turns a later quotient into a NaN.
HostArray padded(HostArray x, const Extents& extents) {
  if (x.extents() == extents) return x;
  HostArray y = HostArray::uninitialized(x.dtype(), extents);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    std::ranges::fill(y.as_mutable<T>(), static_cast<T>(ComputeType<T>(1)));
  });
  ops::scatter_strided(x, 0, ops::row_major_strides(extents), y);
  return y;
}

/// Lane by lane a where p, else b. The lanes are the leading axes.
HostArray lane_select(const HostArray& p, HostArray a, HostArray b) {
  const std::size_t lanes = usize(p.size());
  internal_check(a.rank() >= p.rank() && a.rank() == b.rank() && a.dtype() == b.dtype() &&
                     std::equal(p.extents().begin(), p.extents().end(), a.extents().begin()) &&
                     std::equal(p.extents().begin(), p.extents().end(), b.extents().begin()),
                 "a result of a batched if lacks the lane axes");
  Extents extents = a.extents();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    extents[i] = std::max(extents[i], b.extents()[i]);
  }
  a = padded(std::move(a), extents);
  b = padded(std::move(b), extents);
  if (a.bytes() == 0) return a;
  const std::size_t lane_bytes = a.bytes() / lanes;
  auto* to = static_cast<std::byte*>(a.mutable_data());
  const auto* from = static_cast<const std::byte*>(b.data());
  const auto taken = p.as<bool>();
  for (std::size_t l = 0; l < lanes; ++l) {
    if (!taken[l]) std::memcpy(to + l * lane_bytes, from + l * lane_bytes, lane_bytes);
  }
  return a;
}

void bind_all(Frame& f, const ir::Node& n, const std::vector<std::int64_t>& sizes) {
  internal_check(sizes.size() >= n.bound().size(), "a region has too few result dims");
  for (std::size_t k = 0; k < n.bound().size(); ++k) f.bind(n.bound()[k], sizes[k]);
}

}  // namespace

void bind_region_dims(const Frame& outer, const ir::Region& region, Frame& inner) {
  const auto symbols = region.graph->dims();
  internal_check(symbols.size() == region.dims.size(), "a region's dims don't fit its graph");
  for (std::size_t i = 0; i < symbols.size(); ++i) {
    if (region.dims[i]) inner.bind(symbols[i], outer.size(*region.dims[i]));
  }
}

void Machine::fill_foreign(RegionNode r, std::size_t k, Arrays& args) {
  const auto& owner = r.node.as<ir::IfAttrs>().arg_owner;
  Frame sizes(*r.plans[k]);
  bind_region_dims(r.frame, r.node.region(k), sizes);
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (owner[i] < 0 || owner[i] == static_cast<std::int64_t>(k)) continue;
    const TypeInfo& t = r.plans[k]->type(static_cast<ir::ValueId>(i));
    Extents extents;
    sizes.extents(t, "if", extents);
    if (args[i].extents() != extents)
      args[i] = padded(HostArray(t.dtype, Extents(extents.size(), 0)), extents);
  }
}

Arrays Machine::run_region(RegionNode r, std::size_t k, Arrays& args,
                           std::vector<std::int64_t>& bound) {
  Frame inner(*r.plans[k]);
  bind_region_dims(r.frame, r.node.region(k), inner);
  Arrays out = run(inner, args);
  bound.clear();
  for (ir::Dim d : r.node.region(k).graph->result_dims()) bound.push_back(inner.size(d));
  return out;
}

Arrays Machine::eval_region(RegionNode r) {
  switch (r.node.region_kind()) {
    case ir::RegionKind::branch:
      return eval_if(r);
    case ir::RegionKind::loop:
      return eval_while(r);
    case ir::RegionKind::scan:
      return eval_scan(r);
    case ir::RegionKind::call: {
      Arrays args = std::exchange(r.frame.in, {});
      std::vector<std::int64_t> bound;
      Arrays out = run_region(r, 0, args, bound);
      bind_all(r.frame, r.node, bound);
      return out;
    }
    default:
      throw InternalError(std::string(r.node.op().name) + " has regions but no kind");
  }
}

Arrays Machine::eval_if(RegionNode r) {
  const HostArray predicate = std::move(r.frame.in[0]);
  if (predicate.rank() > 0) return eval_batched_if(r, predicate);
  Arrays args = move_range(r.frame.in, 1, r.frame.in.size() - 1);
  r.frame.in.clear();
  std::vector<std::int64_t> bound;
  Arrays out = run_region(r, predicate.as<bool>()[0] ? 0 : 1, args, bound);
  bind_all(r.frame, r.node, bound);
  return out;
}

Arrays Machine::eval_batched_if(RegionNode r, const HostArray& predicate) {
  Arrays second = move_range(r.frame.in, 1, r.frame.in.size() - 1);
  r.frame.in.clear();
  Arrays first = second;
  std::vector<std::int64_t> bound, bound_else;
  // Both branches run. What belongs to one is nothing to the other, where a dim that it mentions
  // may be known to be 0.
  fill_foreign(r, 0, first);
  fill_foreign(r, 1, second);
  ++nan_muted_;
  Arrays out = run_region(r, 0, first, bound);
  Arrays other = run_region(r, 1, second, bound_else);
  --nan_muted_;
  internal_check(bound.size() == bound_else.size() && out.size() == other.size(),
                 "the branches of an if differ");
  for (std::size_t k = 0; k < bound.size(); ++k) bound[k] = std::max(bound[k], bound_else[k]);
  bind_all(r.frame, r.node, bound);
  const auto& owner = r.node.as<ir::IfAttrs>().out_owner;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (owner[k] == 1) out[k] = std::move(other[k]);
    if (owner[k] < 0) out[k] = lane_select(predicate, std::move(out[k]), std::move(other[k]));
  }
  return out;
}

Arrays Machine::eval_while(RegionNode r) {
  const auto& a = r.node.as<ir::WhileAttrs>();
  Loop loop(r.frame, r.node, a.n_inv, a.n_carry, a.append, stats_);
  Frame cond(*r.plans[0]), body(*r.plans[1]);
  bind_region_dims(r.frame, r.node.region(0), cond);
  bind_region_dims(r.frame, r.node.region(1), body);
  loop.start_recording(0, false);
  std::int64_t trips = 0;
  for (;; ++trips) {
    poll();
    Arrays args = loop.inv;
    args.insert(args.end(), loop.carries.begin(), loop.carries.end());
    if (!run(cond, args).at(0).as<bool>()[0]) break;
    if (a.max_trips > 0 && trips >= a.max_trips) {
      throw UserError({"TL-LOOP-001",
                       "while",
                       "the condition still holds after " + std::to_string(a.max_trips) + " trips",
                       "raise max_trips",
                       {}});
    }
    args = loop.body_args();
    loop.finish_body(run(body, args));
  }
  r.frame.bind(r.node.bound()[0], trips);
  Arrays out = loop.finish();
  out.push_back(HostArray::scalar(trips));
  return out;
}

Arrays Machine::eval_scan(RegionNode r) {
  const auto& a = r.node.as<ir::ScanAttrs>();
  Loop loop(r.frame, r.node, a.n_inv, a.n_carry, a.append, stats_);
  const ir::Graph& g = *r.node.region(0).graph;
  const std::int64_t length = r.frame.size(a.length);
  auto fail = [&](const char* code, const std::string& message) {
    throw UserError({code, "scan", message, "", {}});
  };
  if (length < 0) {
    fail("TL-SIZE-001", "the length " + a.length.to_string() + " is " + std::to_string(length));
  }
  // Offsets of the pieces that each ragged dim cuts.
  std::vector<std::vector<std::int64_t>> offsets;
  for (const ir::Ragged& rag : a.ragged) {
    const HostArray& lengths = loop.xs[usize(rag.xs)];
    std::vector<std::int64_t> o{0};
    for (std::int64_t i = 0; i < lengths.size(); ++i) {
      const std::int64_t piece = lengths.element_int(i);
      if (piece < 0) fail("TL-SIZE-001", "a ragged length is " + std::to_string(piece));
      o.push_back(checked_add(o.back(), piece));
    }
    offsets.push_back(std::move(o));
  }
  std::vector<const std::vector<std::int64_t>*> cut(loop.xs.size());
  for (std::size_t k = 0; k < loop.xs.size(); ++k) {
    const TypeInfo& type = r.frame.plan().type(r.node.operand(loop.n_inv + loop.n_carry + k));
    std::int64_t expected = length;
    if (a.xrag[k]) {
      const auto param = static_cast<ir::ValueId>(loop.n_inv + loop.n_carry + k);
      const auto s = g.type(param).dim(0).as_symbol();
      for (std::size_t j = 0; j < a.ragged.size(); ++j) {
        if (s && g.dims()[usize(a.ragged[j].dim)] == *s) cut[k] = &offsets[j];
      }
      internal_check(cut[k], "ragged xs are cut by no ragged dim");
      expected = cut[k]->back();
    }
    const std::int64_t rows = r.frame.size(type.type.dim(0));
    if (rows != expected) {
      fail("TL-SHAPE-001", "xs " + std::to_string(k) + " has " + std::to_string(rows) +
                               " elements where " + std::to_string(expected) + " are scanned");
    }
  }

  Frame body(*r.plans[0]);
  bind_region_dims(r.frame, r.node.region(0), body);
  loop.start_recording(length, a.reverse);
  for (std::int64_t step = 0; step < length; ++step) {
    poll();
    const std::int64_t i = a.reverse ? length - 1 - step : step;
    for (std::size_t j = 0; j < a.ragged.size(); ++j) {
      body.bind(g.dims()[usize(a.ragged[j].dim)], offsets[j][usize(i) + 1] - offsets[j][usize(i)]);
    }
    Arrays args = loop.body_args();
    for (std::size_t k = 0; k < loop.xs.size(); ++k) {
      if (loop.xs[k].empty_handle()) {
        args.push_back(counted(body.plan().type(static_cast<ir::ValueId>(args.size())).dtype, i));
        continue;
      }
      const auto* o = cut[k];
      args.push_back(o ? rows_of(loop.xs[k], (*o)[usize(i)], (*o)[usize(i) + 1], true)
                       : rows_of(loop.xs[k], i, i + 1, false));
    }
    loop.finish_body(run(body, args));
  }
  return loop.finish();
}

}  // namespace tlaloc::interp
