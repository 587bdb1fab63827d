// Windows at positions that are values: dynamic slices, gather, scatter.
#include <string>

#include "tlaloc/ops/control.h"
#include "tlaloc/ops/indexing.h"
#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/scalar_graph.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {

ops::IndexDims index_dims(const Site& s, std::string_view name) {
  const Attribute& a = s.attribute({name});
  const bool gather = a.find("offset_dims") || a.find("start_index_map") ||
                      a.find("collapsed_slice_dims") || name == "dimension_numbers";
  auto list = [&](std::string_view of_gather, std::string_view of_scatter) -> ops::AxisList {
    const Attribute* f = a.find(gather ? of_gather : of_scatter);
    return f ? s.integers(*f) : ops::AxisList{};
  };
  ops::IndexDims d;
  d.window_axes = list("offset_dims", "update_window_dims");
  d.collapsed_axes = list("collapsed_slice_dims", "inserted_window_dims");
  d.operand_batch = list("operand_batching_dims", "input_batching_dims");
  d.indices_batch = list("start_indices_batching_dims", "scatter_indices_batching_dims");
  d.index_map = list("start_index_map", "scatter_dims_to_operand_dims");
  if (const Attribute* v = a.find("index_vector_dim")) {
    if (v->kind != Attribute::Kind::integer) s.fail("index_vector_dim is no integer");
    d.vector_axis = v->integer;
  }
  if (gather) {
    s.expect_fields(a, {"offset_dims", "collapsed_slice_dims", "operand_batching_dims",
                        "start_indices_batching_dims", "start_index_map", "index_vector_dim"});
  } else {
    s.expect_fields(
        a, {"update_window_dims", "inserted_window_dims", "input_batching_dims",
            "scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"});
  }
  return d;
}

namespace {

using ir::Dim;
using ir::Val;
using ir::Vals;
using ops::OutOfBounds;

/// Positions without a conversion that keeps their value: any integer is a position.
Val position(Val x) {
  ir::Builder& b = ir::Builder::of(x);
  if (b.op_of(x) != &ops::rows::Convert || x.dtype() != DType::i64) return x;
  const Val narrow = b.operand_of(x, 0);
  const bool kept = is_integer(narrow.dtype()) && narrow.dtype() != DType::u64;
  return kept ? narrow : x;
}
Vals positions(std::span<const Val> starts) {
  Vals r;
  for (Val s : starts) r.push_back(position(s));
  return r;
}

Vals dynamic_slice(const Site& s) {
  if (s.count() == 0) s.fail("expected operands");
  const ops::AxisList sizes = s.integers({"sizes", "slice_sizes"});
  return {ops::dynamic_slice(s.in(0), positions(s.in().subspan(1)),
                             std::vector<Dim>(sizes.begin(), sizes.end()))};
}
Vals dynamic_update_slice(const Site& s) {
  if (s.count() < 2) s.fail("expected operands");
  return {ops::dynamic_update_slice(s.in(0), s.in(1), positions(s.in().subspan(2)))};
}
Vals gather(const Site& s) {
  s.expect_operands(2);
  const ops::AxisList sizes = s.integers({"slice_sizes"});
  return {ops::gather(s.in(0), position(s.in(1)),
                      {.dims = index_dims(s, "dimension_numbers"),
                       .sizes = {sizes.begin(), sizes.end()},
                       .mode = OutOfBounds::clip,
                       .fill = {},
                       .sorted = s.flag_or({"indices_are_sorted"}, false)})};
}

/// What a scatter's region does with one array: f(old, update).
struct Combination {
  std::optional<ops::Update> update;
  bool on_bools = false;  ///< written as logic
};
Combination find_update(const ir::Graph& g, DType t) {
  if (g.results().size() != 1) return {};
  const ir::ValueId r = g.results()[0];
  if (g.is_param(r)) {
    if (r == 1) return {ops::Update::set};
    return {};
  }
  if (g.node_count() != 1) return {};
  const ir::Node n = g.node(0);
  if (n.operands().size() != 2 || n.operand(0) + n.operand(1) != 1) return {};
  const bool boolean = t == DType::boolean;
  struct Known {
    const ir::OpDef& op;
    ops::Update update;
    bool of_bools;
  };
  const Known known[] = {
      {ops::rows::Add, ops::Update::add, false}, {ops::rows::Mul, ops::Update::mul, false},
      {ops::rows::Min, ops::Update::min, false}, {ops::rows::Max, ops::Update::max, false},
      {ops::rows::And, ops::Update::min, true},  {ops::rows::Or, ops::Update::max, true}};
  for (const Known& k : known) {
    if (&n.op() == &k.op && (!k.of_bools || boolean)) return {k.update, k.of_bools};
  }
  return {};
}

/// Checks the numbers of axes, not the sizes: what is emitted checks these.
class AxisCheck final : public ir::InferContext {
 public:
  AxisCheck() { op = &ops::rows::Scatter; }
  void require_equal(Dim, Dim, const std::string&) override {}
  void require_less_equal(Dim, Dim, const std::string&) override {}
};
void check_axes(const Vals& xs, Val indices, const Vals& updates, const ops::IndexDims& dims) {
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const ir::Type in[] = {xs[k].type(), indices.type(), updates[k].type()};
    AxisCheck check;
    check.in = in;
    const int rank = ops::windowed_rank(dims, in[0], in[1]);
    ops::check_index_dims(check, dims, in[0], in[1], rank);
    if (in[2].rank() != rank) {
      check.fail("TL-RANK-001", "the updates need " + std::to_string(rank) + " axes");
    }
  }
}

/// Any region where no element is updated twice: the old ones are read, computed with all at once,
/// and set.
Vals combined_once(const Vals& xs, Val indices, const Vals& updates, const ops::IndexDims& dims,
                   const ir::Graph& region, bool sorted) {
  Vals old;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    const Val x = xs[k], update = updates[k];
    old.push_back(ops::gather(x, indices,
                              {.dims = dims,
                               .sizes = ops::window_sizes(dims, x.type(), update.type()),
                               .mode = OutOfBounds::fill,
                               .fill = 0.0,
                               .sorted = sorted}));
  }
  Vals args = old;
  args.insert(args.end(), updates.begin(), updates.end());
  const Vals next = ops::emit_scalar_graph(region, args);
  Vals r;
  for (std::size_t k = 0; k < xs.size(); ++k) {
    r.push_back(ops::scatter(xs[k], indices, next[k],
                             {.dims = dims,
                              .update = ops::Update::set,
                              .mode = OutOfBounds::fill,
                              .sorted = sorted,
                              .unique = true}));
  }
  return r;
}

/// Any region, an index after the other: a later one sees what an earlier one made.
Vals one_by_one(const Vals& xs, Val indices, const Vals& updates, const ops::IndexDims& dims,
                const ir::Graph& region) {
  // Index vectors, and windows, as rows.
  const int rank = indices.rank();
  if (dims.vector_axis == rank) {
    std::vector<Dim> shape(indices.shape().begin(), indices.shape().end());
    shape.emplace_back(1);
    indices = ops::reshape(indices, shape);
  }
  ops::AxisList order = ops::index_axes(dims, rank);
  Dim count = 1;
  for (std::int64_t axis : order) count *= indices.dim(static_cast<int>(axis));
  order.push_back(dims.vector_axis);
  const Dim components = indices.dim(static_cast<int>(dims.vector_axis));
  Vals rows{ops::reshape(ops::transpose(indices, order), std::vector<Dim>{count, components})};
  for (Val u : updates) {
    ops::AxisList first;
    std::vector<Dim> shape{count};
    for (std::int64_t i = 0; i < u.rank(); ++i) {
      if (!ops::contains(dims.window_axes, i)) first.push_back(i);
    }
    for (std::int64_t i : dims.window_axes) {
      first.push_back(i);
      shape.push_back(u.dim(static_cast<int>(i)));
    }
    rows.push_back(ops::reshape(ops::transpose(u, first), shape));
  }
  ops::IndexDims single = dims;
  single.window_axes = ops::axis_range(0, static_cast<std::int64_t>(dims.window_axes.size()));
  single.vector_axis = 0;
  const auto n = static_cast<std::ptrdiff_t>(xs.size());
  return ops::scan(xs, rows,
                   [&](const Vals& v) {
                     return combined_once({v.begin(), v.begin() + n}, v[xs.size()],
                                          {v.begin() + n + 1, v.end()}, single, region, false);
                   })
      .carries;
}

Vals scatter(const Site& s) {
  s.expect_regions(1);
  if (s.count() < 3 || s.count() % 2 == 0) s.fail("it takes arrays, indices and as many updates");
  const std::size_t n = s.count() / 2;
  ops::IndexDims dims = index_dims(s, "scatter_dimension_numbers");
  std::vector<DType> scalars;
  for (std::size_t k = 0; k < s.count(); ++k) {
    if (k != n) scalars.push_back(s.in(k).dtype());
  }
  const ir::GraphRef region = s.importer().scalar_graph(s, s.op().regions[0], scalars);
  const std::vector<ir::Type> given = region->result_types();
  bool same = given.size() == n;
  for (std::size_t k = 0; same && k < n; ++k) same = given[k] == ir::Type::scalar(scalars[k]);
  if (!same) s.fail("its region must give a number for each array");
  const bool sorted = s.flag_or({"indices_are_sorted"}, false),
             unique = s.flag_or({"unique_indices"}, false);
  if (n == 1) {
    if (const Combination c = find_update(*region, s.in(0).dtype()); c.update) {
      return {ops::scatter(s.in(0), position(s.in(1)), s.in(2),
                           {.dims = std::move(dims),
                            .update = *c.update,
                            .mode = OutOfBounds::fill,
                            .sorted = sorted,
                            .unique = unique})};
    }
  }
  const auto at = [&](std::size_t first, std::size_t count) {
    const auto in = s.in().subspan(first, count);
    return Vals(in.begin(), in.end());
  };
  const Vals xs = at(0, n), updates = at(n + 1, n);
  check_axes(xs, s.in(n), updates, dims);
  if (unique) return combined_once(xs, s.in(n), updates, dims, *region, sorted);
  if (!dims.operand_batch.empty()) {
    s.unsupported(
        "its region is none of set, add, multiply, minimum, maximum, and it has batch axes",
        "promise unique_indices if no element is updated twice");
  }
  return one_by_one(xs, s.in(n), updates, dims, *region);
}

}  // namespace

void add_index(RaiseTable& t) {
  t["stablehlo.dynamic_slice"] = dynamic_slice;
  t["stablehlo.dynamic_update_slice"] = dynamic_update_slice;
  t["stablehlo.gather"] = gather;
  t["stablehlo.scatter"] = scatter;
}

}  // namespace tlaloc::stablehlo::raising
