#include "tests/transform/complex_interp.h"

#include <algorithm>
#include <cstring>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/region_ops.h"

namespace tlaloc::testing {
namespace {

using ir::Graph;
using ir::Node;
using ir::Region;
using ir::RegionKind;

ComplexArrays evaluate(const Graph& g, ComplexArrays args, Sizes& sizes);

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }
ComplexArrays slice_of(const ComplexArrays& xs, std::size_t from, std::size_t count) {
  return {xs.begin() + static_cast<std::ptrdiff_t>(from),
          xs.begin() + static_cast<std::ptrdiff_t>(from + count)};
}
bool truth(const ComplexArray& x) { return x.re.as<bool>()[0]; }

/// Applies f to the real parts, and to the imaginary parts if one is not zero.
template <class F>
ComplexArray by_parts(const ComplexArrays& xs, const F& f) {
  std::vector<HostArray> re, im;
  bool moves = false;
  for (const ComplexArray& x : xs) {
    re.push_back(x.re);
    moves = moves || !x.im.empty_handle();
  }
  ComplexArray r{f(re), {}};
  if (!moves) return r;
  for (const ComplexArray& x : xs) im.push_back(imaginary(x));
  r.im = f(im);
  return r;
}

/// Rows [from, to); without the axis when `drop_axis`.
ComplexArray rows(const ComplexArray& x, std::int64_t from, std::int64_t to, bool drop_axis) {
  return by_parts({x}, [&](const std::vector<HostArray>& a) {
    Extents e(a[0].extents().begin() + 1, a[0].extents().end());
    const std::size_t row = checked_bytes(a[0].dtype(), e);
    if (!drop_axis) e.insert(e.begin(), to - from);
    HostArray r(a[0].dtype(), e);
    if (r.bytes()) {
      std::memcpy(r.mutable_data(), static_cast<const std::byte*>(a[0].data()) + index(from) * row,
                  r.bytes());
    }
    return r;
  });
}
/// What a loop recorded as one array of these extents: row-major, so stacking and appending copy
/// alike.
ComplexArray joined(const ComplexArrays& parts, DType dtype, const Extents& extents) {
  if (parts.empty()) return {HostArray(dtype, extents), {}};
  return by_parts(parts, [&](const std::vector<HostArray>& as) {
    HostArray r(dtype, extents);
    auto* to = static_cast<std::byte*>(r.mutable_data());
    for (const HostArray& a : as) {
      if (a.bytes()) std::memcpy(to, a.data(), a.bytes());
      to += a.bytes();
    }
    internal_check(to == static_cast<std::byte*>(r.mutable_data()) + r.bytes(),
                   "what a loop recorded does not fit its type");
    return r;
  });
}

/// p ? a : b per lane; the shorter one is padded.
ComplexArray select_lanes(const HostArray& p, const ComplexArray& a, const ComplexArray& b) {
  return by_parts({a, b}, [&](const std::vector<HostArray>& xs) {
    Extents e = xs[0].extents();
    for (std::size_t k = 0; k < e.size(); ++k) e[k] = std::max(e[k], xs[1].extents()[k]);
    HostArray r(xs[0].dtype(), e);
    const std::size_t element = byte_size(r.dtype());
    auto* to = static_cast<std::byte*>(r.mutable_data());
    const std::int64_t lanes = p.size(), per_lane = lanes ? r.size() / lanes : 0;
    Extents at(e.size());
    for (std::int64_t i = 0; i < r.size(); ++i) {
      const HostArray& from = xs[p.as<bool>()[index(i / per_lane)] ? 0 : 1];
      std::int64_t rest = i, offset = 0, step = 1;
      bool inside = true;
      for (std::size_t k = e.size(); k-- > 0;) {
        const std::int64_t q = rest % e[k];
        rest /= e[k];
        inside = inside && q < from.extents()[k];
        offset += q * step;
        step *= from.extents()[k];
      }
      if (!inside) continue;
      std::memcpy(to + index(i) * element,
                  static_cast<const std::byte*>(from.data()) + index(offset) * element, element);
    }
    return r;
  });
}

Sizes entry_sizes(const Region& r, const Sizes& outer) {
  Sizes s;
  for (std::size_t k = 0; k < r.dims.size(); ++k) {
    if (r.dims[k]) s[r.graph->dims()[k].id()] = size_of(*r.dims[k], outer);
  }
  return s;
}
/// Runs a region; `bound` gets its result dims.
ComplexArrays run_region(const Region& r, ComplexArrays args, const Sizes& outer,
                         std::vector<std::int64_t>& bound) {
  Sizes sizes = entry_sizes(r, outer);
  ComplexArrays out = evaluate(*r.graph, std::move(args), sizes);
  for (ir::Dim d : r.graph->result_dims()) bound.push_back(size_of(d, sizes));
  return out;
}
void set_sizes(const Node& n, const std::vector<std::int64_t>& bound, Sizes& sizes) {
  for (std::size_t k = 0; k < n.bound().size(); ++k) sizes[n.bound()[k].id()] = bound.at(k);
}

ComplexArrays eval_if(const Node& n, const ComplexArrays& in, Sizes& sizes) {
  const HostArray& p = in[0].re;
  const ComplexArrays args = slice_of(in, 1, in.size() - 1);
  std::vector<std::int64_t> bound, bound_else;
  if (p.rank() == 0) {
    ComplexArrays out = run_region(n.region(truth(in[0]) ? 0 : 1), args, sizes, bound);
    set_sizes(n, bound, sizes);
    return out;
  }
  ComplexArrays out = run_region(n.region(0), args, sizes, bound);
  const ComplexArrays other = run_region(n.region(1), args, sizes, bound_else);
  for (std::size_t k = 0; k < bound.size(); ++k) bound[k] = std::max(bound[k], bound_else[k]);
  set_sizes(n, bound, sizes);
  const auto& owner = n.as<ir::IfAttrs>().out_owner;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (owner[k] == 1) out[k] = other[k];
    if (owner[k] < 0) out[k] = select_lanes(p, out[k], other[k]);
  }
  return out;
}

/// The histories of a loop's outputs, as results in the caller's sizes.
ComplexArrays histories(const Node& n, std::vector<ComplexArrays>& ys, bool reverse,
                        const std::vector<ir::Append>& append, std::size_t nc, Sizes& sizes) {
  ComplexArrays out;
  for (std::size_t k = 0; k < ys.size(); ++k) {
    if (reverse) std::ranges::reverse(ys[k]);
    const ir::Type t = n.result_types()[nc + k];
    if (append[k].flat && !append[k].length) {
      std::int64_t rows = 0;
      for (const ComplexArray& y : ys[k]) rows += y.re.extents()[0];
      sizes[t.dim(0).as_symbol()->id()] = rows;
    }
    Extents e;
    for (ir::Dim d : t.shape()) e.push_back(size_of(d, sizes));
    out.push_back(joined(ys[k], t.dtype(), e));
  }
  return out;
}

ComplexArrays eval_while(const Node& n, const ComplexArrays& in, Sizes& sizes) {
  const auto& a = n.as<ir::WhileAttrs>();
  const ComplexArrays inv = slice_of(in, 0, index(a.n_inv));
  ComplexArrays carries = slice_of(in, index(a.n_inv), index(a.n_carry));
  std::vector<ComplexArrays> ys(a.append.size());
  std::int64_t trips = 0;
  for (;; ++trips) {
    ComplexArrays args = inv;
    args.insert(args.end(), carries.begin(), carries.end());
    std::vector<std::int64_t> none;
    if (!truth(run_region(n.region(0), args, sizes, none)[0])) break;
    internal_check(trips < 100000, "a loop does not end");
    const ComplexArrays out = run_region(n.region(1), args, sizes, none);
    carries = slice_of(out, 0, carries.size());
    for (std::size_t k = 0; k < ys.size(); ++k) ys[k].push_back(out[carries.size() + k]);
  }
  sizes[n.bound()[0].id()] = trips;
  for (auto& y : histories(n, ys, false, a.append, index(a.n_carry), sizes)) carries.push_back(y);
  carries.push_back({HostArray::scalar(trips), {}});
  return carries;
}

ComplexArrays eval_scan(const Node& n, const ComplexArrays& in, Sizes& sizes) {
  const auto& a = n.as<ir::ScanAttrs>();
  const Graph& body = *n.region(0).graph;
  const std::size_t first_x = index(a.n_inv + a.n_carry);
  const ComplexArrays inv = slice_of(in, 0, index(a.n_inv)),
                      xs = slice_of(in, first_x, in.size() - first_x);
  ComplexArrays carries = slice_of(in, index(a.n_inv), index(a.n_carry));
  std::vector<ComplexArrays> ys(a.append.size());
  const std::int64_t length = size_of(a.length, sizes);
  /// Where piece i of the ragged dim named by xs k starts.
  auto offset = [&](const ir::Ragged& r, std::int64_t i) {
    std::int64_t sum = 0;
    for (std::int64_t j = 0; j < i; ++j) sum += xs[index(r.xs)].re.element_int(j);
    return sum;
  };
  for (std::int64_t step = 0; step < length; ++step) {
    const std::int64_t i = a.reverse ? length - 1 - step : step;
    Sizes inner = entry_sizes(n.region(0), sizes);
    for (const ir::Ragged& r : a.ragged) {
      inner[body.dims()[index(r.dim)].id()] = xs[index(r.xs)].re.element_int(i);
    }
    ComplexArrays args = inv;
    args.insert(args.end(), carries.begin(), carries.end());
    for (std::size_t k = 0; k < xs.size(); ++k) {
      if (!a.xrag[k]) {
        args.push_back(rows(xs[k], i, i + 1, true));
        continue;
      }
      const auto cut = body.type(static_cast<ir::ValueId>(first_x + k)).dim(0).as_symbol();
      for (const ir::Ragged& r : a.ragged) {
        if (body.dims()[index(r.dim)] != *cut) continue;
        args.push_back(rows(xs[k], offset(r, i), offset(r, i + 1), false));
      }
    }
    const ComplexArrays out = evaluate(body, std::move(args), inner);
    carries = slice_of(out, 0, carries.size());
    for (std::size_t k = 0; k < ys.size(); ++k) ys[k].push_back(out[carries.size() + k]);
  }
  for (auto& y : histories(n, ys, a.reverse, a.append, index(a.n_carry), sizes)) {
    carries.push_back(y);
  }
  return carries;
}

ComplexArrays eval_node(const Node& n, ComplexArrays in, Sizes& sizes) {
  switch (n.region_kind()) {
    case RegionKind::branch:
      return eval_if(n, in, sizes);
    case RegionKind::loop:
      return eval_while(n, in, sizes);
    case RegionKind::scan:
      return eval_scan(n, in, sizes);
    case RegionKind::call: {
      std::vector<std::int64_t> bound;
      ComplexArrays out = run_region(n.region(0), std::move(in), sizes, bound);
      set_sizes(n, bound, sizes);
      return out;
    }
    case RegionKind::manual:
      throw InternalError("programs over meshes run in tests/transform/manual_test.cc");
    case RegionKind::none:
      break;
  }
  for (std::size_t k = 0; k < n.bound().size(); ++k) {
    sizes[n.bound()[k].id()] = in[k].re.element_int(0);
  }
  return eval_complex_primitive(n, std::move(in), sizes);
}

ComplexArrays evaluate(const Graph& g, ComplexArrays args, Sizes& sizes) {
  internal_check(args.size() == g.param_count(), "a graph got a wrong number of arguments");
  ComplexArrays env = std::move(args);
  env.resize(g.value_count());
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    const Node n = g.node(i);
    ComplexArrays in;
    for (ir::ValueId v : n.operands()) in.push_back(env[v]);
    ComplexArrays out = eval_node(n, std::move(in), sizes);
    internal_check(out.size() == n.result_count(), "a node gave a wrong number of results");
    for (std::size_t k = 0; k < out.size(); ++k) env[n.result(k)] = std::move(out[k]);
  }
  ComplexArrays results;
  for (ir::ValueId v : g.results()) results.push_back(env[v]);
  return results;
}

}  // namespace

ComplexArrays run_complex(const Graph& g, ComplexArrays args) {
  Sizes sizes;
  for (std::size_t k = 0; k < args.size(); ++k) {
    const ir::Type t = g.type(static_cast<ir::ValueId>(k));
    for (int i = 0; i < t.rank(); ++i) {
      if (const auto s = t.dim(i).as_symbol()) sizes[s->id()] = args[k].re.extents()[index(i)];
    }
  }
  return evaluate(g, std::move(args), sizes);
}

}  // namespace tlaloc::testing
