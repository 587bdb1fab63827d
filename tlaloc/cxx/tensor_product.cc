// Products and convolutions in tensor mode. The order in which terms are summed stays the same, so
// the bits do too.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cxx/tensor_lowering.h"
#include "tlaloc/ops/conv.h"
#include "tlaloc/ops/dot.h"

namespace tlaloc::cxx {
namespace {

using ir::Dim;
using ir::Type;
using ops::AxisList;
namespace rows = ops::rows;

std::string list_text(std::span<const std::int64_t> values) {
  std::string s;
  for (std::int64_t v : values) s += (s.empty() ? "" : ", ") + std::to_string(v);
  return s;
}
bool counts_up(const AxisList& axes) { return std::ranges::is_sorted(axes); }
bool identity(const AxisList& axes) {
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != static_cast<std::int64_t>(i)) return false;
  }
  return true;
}
ExprRef transposed(const ExprRef& x, const AxisList& order) {
  return identity(order) ? x : call("tl::transpose<" + list_text(order) + ">", {x});
}

/// A matrix with the contracted axis where tl::matmul wants it.
ExprRef as_matrix(const ExprRef& x, std::int64_t contracted, std::int64_t wanted) {
  if (contracted == wanted) return x;
  // Its transpose's transpose is the matrix itself.
  if (x->kind == Expr::Kind::call && x->text == "tl::transpose<1, 0>") return x->args[0];
  return call("tl::transpose<1, 0>", {x});
}

/// `order`: of the result's axes; null: as the op gives them.
ExprRef einsum(const ops::DotDims& d, const ExprRef& a, int a_rank, const ExprRef& b, int b_rank,
               const AxisList* order) {
  std::string left(usize(a_rank), ' '), right(usize(b_rank), ' ');
  char next = 'a';
  std::string result;
  for (std::size_t k = 0; k < d.lhs_batch.size(); ++k) {
    left[usize(d.lhs_batch[k])] = right[usize(d.rhs_batch[k])] = next;
    result += next++;
  }
  for (char& label : left) {
    if (label == ' ' &&
        !ops::contains(d.lhs_contract, static_cast<std::int64_t>(&label - left.data()))) {
      label = next++;
      result += label;
    }
  }
  for (std::size_t k = 0; k < d.lhs_contract.size(); ++k) {
    left[usize(d.lhs_contract[k])] = right[usize(d.rhs_contract[k])] = next++;
  }
  for (char& label : right) {
    if (label == ' ') {
      label = next++;
      result += label;
    }
  }
  std::string ordered;
  for (std::size_t k = 0; k < result.size(); ++k) {
    ordered += order ? result[usize((*order)[k])] : result[k];
  }
  return call("tl::einsum<\"" + left + ", " + right + " -> " + ordered + "\">", {a, b});
}

void print_dot(TensorLowering& l, TensorCall& c) {
  const auto& d = c.node.as<ops::DotDims>();
  const int a_rank = c.in[0].type.rank(), b_rank = c.in[1].type.rank();
  const ExprRef a = l.full(c.in[0], c.node), b = l.full(c.in[1], c.node);
  ExprRef e;
  const auto nb = static_cast<std::int64_t>(d.lhs_batch.size());
  const bool one = d.lhs_contract.size() == 1 && identity(d.lhs_batch) && identity(d.rhs_batch);
  const std::int64_t i = one ? d.lhs_contract[0] : 0, k = one ? d.rhs_contract[0] : 0;
  // The transpose of a product is the product of the transposes in the other order.
  c.transposed = c.wanted != nullptr;
  const bool swap = c.wanted && *c.wanted == AxisList{1, 0};
  if (one && nb == 0 && a_rank == 2 && b_rank == 2 && (swap || !c.wanted)) {
    e = swap ? call("tl::matmul", {as_matrix(b, k, 1), as_matrix(a, i, 0)})
             : call("tl::matmul", {as_matrix(a, i, 1), as_matrix(b, k, 0)});
  } else if (nb == 0 && a_rank == 1 && b_rank == 1 && d.lhs_contract.empty()) {
    e = call("tl::outer", {swap ? b : a, swap ? a : b});
  } else if (one && nb == 0 && a_rank == 1 && b_rank == 1) {
    e = call("tl::inner", {a, b});
  } else if (one && nb == 0 && a_rank == 2 && b_rank == 1) {
    e = call("tl::matmul", {as_matrix(a, i, 1), b});
  } else if (one && nb == 0 && a_rank == 1 && b_rank == 2) {
    e = call("tl::matmul", {a, as_matrix(b, k, 0)});
  } else if (one && a_rank == nb + 2 && b_rank == nb + 2 && i == nb + 1 && k == nb && !c.wanted) {
    e = call("tl::matmul", {a, b});
  } else if (counts_up(d.lhs_contract)) {
    e = einsum(d, a, a_rank, b, b_rank, c.wanted);
  } else {
    // einsum contracts in the order of the left operand's axes: bring them into it.
    AxisList order, sorted = d.lhs_contract;
    std::ranges::sort(sorted);
    ops::DotDims moved = d;
    for (int axis = 0; axis < a_rank; ++axis) order.push_back(axis);
    for (std::size_t q = 0; q < sorted.size(); ++q) {
      order[usize(sorted[q])] = d.lhs_contract[q];
      moved.lhs_contract[q] = sorted[q];
    }
    e = einsum(moved, transposed(a, order), a_rank, b, b_rank, c.wanted);
  }
  c.out.push_back(l.named(c.types[0], e, c.node.origin()));
}

/// One number for all spatial axes, which is what the public API takes.
template <class T>
T common(const std::vector<T>& values, T none, const ir::Node& n, const char* what) {
  for (const T& v : values) {
    if (v != values[0]) TensorLowering::refuse(n, std::string(what) + " differ between axes");
  }
  return values.empty() ? none : values[0];
}

void print_convolution(TensorLowering& l, TensorCall& c) {
  const auto& a = c.node.as<ops::ConvAttrs>();
  const ops::ConvDims& d = a.dims;
  const std::size_t n = a.strides.size();
  if (n < 1 || n > 3) TensorLowering::refuse(c.node, "it has no or more than 3 spatial axes");
  if (a.batch_groups != Dim(1)) TensorLowering::refuse(c.node, "it groups its batch");
  if (!a.feature_groups.is_constant()) TensorLowering::refuse(c.node, "its groups are no number");
  const std::int64_t stride = common(a.strides, std::int64_t{1}, c.node, "its strides");
  const std::int64_t dilation = common(a.rhs_dilation, std::int64_t{1}, c.node, "its dilations");

  // Layouts: [n, spatial…, c], [spatial…, c, features], [n, spatial…, features].
  AxisList left{d.lhs_batch}, right = d.rhs_spatial, out(n + 2);
  left.insert(left.end(), d.lhs_spatial.begin(), d.lhs_spatial.end());
  left.push_back(d.lhs_feature);
  right.insert(right.end(), {d.rhs_in, d.rhs_out});
  out[usize(d.out_batch)] = 0;
  for (std::size_t i = 0; i < n; ++i)
    out[usize(d.out_spatial[i])] = static_cast<std::int64_t>(i) + 1;
  out[usize(d.out_feature)] = static_cast<std::int64_t>(n) + 1;

  ExprRef x = transposed(l.full(c.in[0], c.node), left);
  ExprRef kernel = transposed(l.full(c.in[1], c.node), right);
  AxisList reversed;
  for (std::size_t i = 0; i < n; ++i) {
    if (a.reversed[i]) reversed.push_back(static_cast<std::int64_t>(i));
  }
  if (!reversed.empty()) kernel = call("tl::flip<" + list_text(reversed) + ">", {kernel});

  std::vector<std::int64_t> low, high;
  for (std::size_t i = 0; i < n; ++i) {
    const Dim before = a.low[i].substitute(c.dims), after = a.high[i].substitute(c.dims);
    if (!before.is_constant() || !after.is_constant()) {
      TensorLowering::refuse(c.node, "its padding is no number");
    }
    low.push_back(before.constant());
    high.push_back(after.constant());
  }
  const bool even = low == high && low[0] >= 0 &&
                    std::ranges::all_of(low, [&](std::int64_t p) { return p == low[0]; }) &&
                    std::ranges::all_of(a.lhs_dilation, [](std::int64_t v) { return v == 1; });
  std::int64_t padding = 0;
  if (even) {
    padding = low[0];
  } else {
    // Zeros where the op skips: the same sums, as long as the kernel is finite.
    for (std::size_t i = 0; i < n; ++i) {
      std::vector<std::int64_t> args{static_cast<std::int64_t>(i) + 1, low[i], high[i]};
      if (a.lhs_dilation[i] != 1) args.push_back(a.lhs_dilation[i] - 1);
      if (low[i] != 0 || high[i] != 0 || a.lhs_dilation[i] != 1)
        x = call("tl::pad<" + list_text(args) + ">", {x});
    }
  }
  std::vector<std::int64_t> options{stride, padding, dilation, a.feature_groups.constant()};
  while (!options.empty() && options.back() == (options.size() == 2 ? 0 : 1)) options.pop_back();
  std::string function = "tl::conv" + std::to_string(n) + "d";
  if (!options.empty()) function += "<" + list_text(options) + ">";
  c.out.push_back(
      l.named(c.types[0], transposed(call(function, {x, kernel}), out), c.node.origin()));
}

constexpr TensorRow kRows[] = {
    {&rows::DotGeneral, print_dot},
    {&rows::Convolution, print_convolution},
};

}  // namespace

std::span<const TensorRow> tensor_product_rules() { return kRows; }

}  // namespace tlaloc::cxx
