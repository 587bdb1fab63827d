// Products, convolutions and triangular systems. Precisions and algorithms are hints: what is
// computed here is computed in the declared type.
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/stablehlo/raise.h"
#include "tlaloc/stablehlo/scanner.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Vals;
using ops::AxisList;

AxisList field(const Site& s, const Attribute& a, std::string_view name) {
  const Attribute* f = a.find(name);
  return f ? s.integers(*f) : AxisList{};
}
/// The two lists of `[0] x [1]`; none where the attribute is missing.
std::pair<AxisList, AxisList> both(const Site& s, std::string_view name) {
  const Attribute* a = s.op().find(name);
  if (!a) return {};
  if (a->kind != Attribute::Kind::list || a->items.size() != 2) {
    s.fail(std::string(name) + " is no pair of lists, [0] x [1]");
  }
  return {s.integers(a->items[0]), s.integers(a->items[1])};
}

/// Whether each number of `narrow` is one of `wide`; integers modulo 2^n, as sums and products of
/// integers are.
bool holds(DType wide, DType narrow) {
  if (wide == narrow || narrow == DType::boolean) return true;
  if (is_integer(wide)) return is_integer(narrow);
  if (!is_float(wide)) return false;
  const auto digits = [](DType t) {
    return t == DType::f64 ? 53 : t == DType::f32 ? 24 : t == DType::f16 ? 11 : 8;
  };
  if (is_integer(narrow)) return bit_width(narrow) <= digits(wide);
  return wide == DType::f64 || (wide == DType::f32 && narrow != DType::f64);
}
/// What `f` gives of the operands in the result's type. Where that is a narrower float, in the
/// operands' type, rounded once.
template <class F>
Vals product(const Site& s, F f) {
  const DType a = s.in(0).dtype(), b = s.in(1).dtype(), result = s.result_dtype();
  DType computed = result;
  if (!holds(result, a) || !holds(result, b)) {
    computed = holds(a, b) ? a : b;
    if (!is_float(computed) || !holds(computed, a) || !holds(computed, b) ||
        !holds(computed, result) || !is_float(result)) {
      s.unsupported("a product of " + std::string(name(a)) + " and " + std::string(name(b)) +
                        " has no type of its own that " + std::string(name(result)) +
                        " is a rounding of",
                    "convert the operands");
    }
  }
  return {
      ops::convert(f(ops::convert(s.in(0), computed), ops::convert(s.in(1), computed)), result)};
}

Vals dot_general(const Site& s) {
  s.expect_operands(2);
  ops::DotDims d;
  if (const Attribute* a = s.op().find("dot_dimension_numbers")) {
    s.expect_fields(*a, {"lhs_batching_dimensions", "rhs_batching_dimensions",
                         "lhs_contracting_dimensions", "rhs_contracting_dimensions"});
    d = {.lhs_batch = field(s, *a, "lhs_batching_dimensions"),
         .rhs_batch = field(s, *a, "rhs_batching_dimensions"),
         .lhs_contract = field(s, *a, "lhs_contracting_dimensions"),
         .rhs_contract = field(s, *a, "rhs_contracting_dimensions")};
  } else {
    std::tie(d.lhs_batch, d.rhs_batch) = both(s, "batching_dims");
    std::tie(d.lhs_contract, d.rhs_contract) = both(s, "contracting_dims");
  }
  return product(s, [&](ir::Val x, ir::Val y) { return ops::dot_general(x, y, std::move(d)); });
}
Vals dot(const Site& s) {
  s.expect_operands(2);
  if (s.in(0).rank() == 0 || s.in(1).rank() == 0) s.fail("it takes vectors and matrices");
  return product(s, [](ir::Val x, ir::Val y) {
    return ops::dot_general(x, y, {.lhs_contract = {x.rank() - 1}, .rhs_contract = {0}});
  });
}

/// "[b, 0, 1, f]": what each axis is. Letters are in the order of `names`.
struct Axes {
  std::int64_t first = -1, second = -1;
  AxisList spatial;
};
Axes read_axes(const Site& s, std::string_view text, char first, char second) {
  Axes axes;
  const auto parts = split_outside(text, ',');
  if (parts.size() < 2) s.fail("its dimension numbers are too few");
  axes.spatial.assign(parts.size() - 2, -1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    std::int64_t number = 0;
    std::int64_t* slot = nullptr;
    if (parts[i].size() == 1 && parts[i][0] == first) slot = &axes.first;
    if (parts[i].size() == 1 && parts[i][0] == second) slot = &axes.second;
    if (parse_digits(parts[i], number) && number >= 0 && usize(number) < axes.spatial.size()) {
      slot = &axes.spatial[usize(number)];
    }
    if (!slot || *slot >= 0) s.fail("its dimension numbers are no list of axes");
    *slot = axis;
  }
  if (axes.first < 0 || axes.second < 0 || ops::contains(axes.spatial, -1)) {
    s.fail("its dimension numbers lack an axis");
  }
  return axes;
}
ops::ConvDims conv_dims(const Site& s) {
  const Attribute& a = s.attribute({"dimension_numbers"});
  std::vector<std::string_view> lists;
  for (std::size_t at = 0; (at = a.text.find('[', at)) != std::string_view::npos; ++at) {
    const std::size_t end = a.text.find(']', at);
    if (end == std::string_view::npos) break;
    lists.push_back(a.text.substr(at + 1, end - at - 1));
  }
  if (lists.size() != 3) s.fail("its dimension numbers are no [b, 0, f]x[0, i, o]->[b, 0, f]");
  const Axes lhs = read_axes(s, lists[0], 'b', 'f'), rhs = read_axes(s, lists[1], 'o', 'i'),
             out = read_axes(s, lists[2], 'b', 'f');
  return {.lhs_batch = lhs.first,
          .lhs_feature = lhs.second,
          .lhs_spatial = lhs.spatial,
          .rhs_in = rhs.second,
          .rhs_out = rhs.first,
          .rhs_spatial = rhs.spatial,
          .out_batch = out.first,
          .out_feature = out.second,
          .out_spatial = out.spatial};
}

/// Pads are pairs, one after the other.
void set_padding(const Site& s, const AxisList& pairs, std::size_t spatial, ops::ConvAttrs& a) {
  if (pairs.empty()) {
    a.low.assign(spatial, 0);
    a.high.assign(spatial, 0);
    return;
  }
  if (pairs.size() != 2 * spatial) s.fail("its padding is no pair per spatial axis");
  for (std::size_t i = 0; i < spatial; ++i) {
    a.low.emplace_back(pairs[2 * i]);
    a.high.emplace_back(pairs[2 * i + 1]);
  }
}

Vals convolution(const Site& s) {
  s.expect_operands(2);
  ops::ConvAttrs a;
  a.dims = conv_dims(s);
  const std::size_t n = a.dims.lhs_spatial.size();
  if (a.dims.rhs_spatial.size() != n || a.dims.out_spatial.size() != n) {
    s.fail("its dimension numbers differ in rank");
  }
  const Attribute* window = s.op().find("window");
  if (window) s.expect_fields(*window, {"stride", "pad", "lhs_dilate", "rhs_dilate", "reverse"});
  auto list = [&](std::string_view pretty, std::string_view generic,
                  std::int64_t otherwise) -> AxisList {
    const Attribute* l = window ? window->find(pretty) : s.op().find(generic);
    AxisList r = l ? s.integers(*l) : AxisList(n, otherwise);
    if (r.size() != n) s.fail(std::string(pretty) + " is no number per spatial axis");
    return r;
  };
  a.strides = list("stride", "window_strides", 1);
  a.lhs_dilation = list("lhs_dilate", "lhs_dilation", 1);
  a.rhs_dilation = list("rhs_dilate", "rhs_dilation", 1);
  for (std::int64_t r : list("reverse", "window_reversal", 0)) {
    if (r != 0 && r != 1) s.fail("its reversals are not true or false");
    a.reversed.push_back(r == 1);
  }
  const Attribute* padding = window ? window->find("pad") : s.op().find("padding");
  set_padding(s, padding ? s.integers(*padding) : AxisList{}, n, a);
  a.feature_groups = s.integer_or({"feature_group_count"}, 1);
  a.batch_groups = s.integer_or({"batch_group_count"}, 1);
  return product(s, [&](ir::Val x, ir::Val y) { return ops::convolution(x, y, std::move(a)); });
}

Vals cholesky(const Site& s) {
  s.expect_operands(1);
  const ir::Val a = s.in(0);
  if (s.flag_or({"lower"}, false)) return {ops::cholesky(a)};
  if (a.rank() < 2) s.fail("it takes matrices");
  // Of the upper triangle: the factor of the transpose, transposed.
  AxisList swap = ops::axis_range(0, a.rank());
  std::swap(swap[swap.size() - 1], swap[swap.size() - 2]);
  return {ops::transpose(ops::cholesky(ops::transpose(a, swap)), swap)};
}
Vals triangular_solve(const Site& s) {
  s.expect_operands(2);
  const std::string_view t = s.word({"transpose_a"}, "NO_TRANSPOSE");
  // Of real numbers the adjoint is the transpose.
  if (t != "NO_TRANSPOSE" && t != "TRANSPOSE" && t != "ADJOINT")
    s.fail("its transpose_a is unknown");
  return {ops::triangular_solve(s.in(0), s.in(1),
                                {.left = s.flag_or({"left_side"}, false),
                                 .lower = s.flag_or({"lower"}, false),
                                 .unit = s.flag_or({"unit_diagonal"}, false),
                                 .transpose = t != "NO_TRANSPOSE"})};
}

}  // namespace

void add_linalg(RaiseTable& t) {
  t["stablehlo.dot_general"] = dot_general;
  t["stablehlo.dot"] = dot;
  t["stablehlo.convolution"] = convolution;
  t["stablehlo.cholesky"] = cholesky;
  t["stablehlo.triangular_solve"] = triangular_solve;
}

}  // namespace tlaloc::stablehlo::raising
