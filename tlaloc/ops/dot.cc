#include "tlaloc/ops/dot.h"

#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/packing.h"

namespace tlaloc::ops {
namespace {

AxisList free_axes(int rank, const AxisList& batch, const AxisList& contract) {
  AxisList r;
  for (std::int64_t i = 0; i < rank; ++i) {
    if (!contains(batch, i) && !contains(contract, i)) r.push_back(i);
  }
  return r;
}
/// sums[j] = sum over k of left[k] * right[k, j], k in order.
template <class C>
void row_times_matrix(const C* left, const C* right, std::int64_t depth, std::int64_t columns,
                      C* sums) {
  auto add_product = [](C sum, C a, C b) { return Add::eval(sum, Mul::eval(a, b)); };
  // A block of sums stays in registers: 16 of f32 fill four of SSE. A loop of constant length is
  // what compilers vectorize without being asked for more.
  constexpr std::int64_t kBlock = 16;
  std::int64_t j = 0;
  for (; j + kBlock <= columns; j += kBlock) {
    C block[kBlock] = {};
    for (std::int64_t k = 0; k < depth; ++k) {
      const C* row = right + k * columns + j;
      for (std::int64_t i = 0; i < kBlock; ++i) block[i] = add_product(block[i], left[k], row[i]);
    }
    std::copy_n(block, kBlock, sums + j);
  }
  for (; j < columns; ++j) {
    C sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum = add_product(sum, left[k], right[k * columns + j]);
    sums[j] = sum;
  }
}

}  // namespace

void DotGeneral::infer(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes two operands");
  const DotDims& d = c.as<DotDims>();
  const Type a = c.in[0], b = c.in[1];
  if (a.encoding() || b.encoding()) c.fail(kDTypeError, "does not accept quantized values");
  if (a.dtype() != b.dtype()) c.fail("TL-DTYPE-001", "dtypes differ", "convert one operand");
  if (a.dtype() == DType::boolean || is_complex(a.dtype())) {
    c.fail(kDTypeError, "does not accept this element type", "convert the operands first");
  }
  if (!are_axes(joined({d.lhs_batch, d.lhs_contract}), a.rank()) ||
      !are_axes(joined({d.rhs_batch, d.rhs_contract}), b.rank())) {
    c.fail("TL-AXIS-001", "batch and contracted axes must be distinct and within the rank");
  }
  if (d.lhs_batch.size() != d.rhs_batch.size() || d.lhs_contract.size() != d.rhs_contract.size()) {
    c.fail("TL-AXIS-001", "both operands need as many batch, and as many contracted axes");
  }
  std::vector<Dim> shape;
  auto pair = [&](std::int64_t i, std::int64_t k, const char* what) {
    c.require_equal(a.dim(static_cast<int>(i)), b.dim(static_cast<int>(k)),
                    std::string(what) + " axes " + std::to_string(i) + " and " + std::to_string(k));
  };
  for (std::size_t i = 0; i < d.lhs_batch.size(); ++i) {
    pair(d.lhs_batch[i], d.rhs_batch[i], "batch");
    shape.push_back(a.dim(static_cast<int>(d.lhs_batch[i])));
  }
  for (std::size_t i = 0; i < d.lhs_contract.size(); ++i) {
    pair(d.lhs_contract[i], d.rhs_contract[i], "contracted");
  }
  for (std::int64_t i : free_axes(a.rank(), d.lhs_batch, d.lhs_contract)) {
    shape.push_back(a.dim(static_cast<int>(i)));
  }
  for (std::int64_t i : free_axes(b.rank(), d.rhs_batch, d.rhs_contract)) {
    shape.push_back(b.dim(static_cast<int>(i)));
  }
  c.out.push_back(Type::get(a.dtype(), shape));
}

void DotGeneral::eval(EvalContext& c) {
  const DotDims& d = c.as<DotDims>();
  const HostArray &a = c.in[0], &b = c.in[1];
  HostArray y = c.make();
  if (y.size() == 0) {  // some axis may be huge all the same
    c.out.push_back(std::move(y));
    return;
  }
  const AxisList a_free = free_axes(a.rank(), d.lhs_batch, d.lhs_contract);
  const AxisList b_free = free_axes(b.rank(), d.rhs_batch, d.rhs_contract);
  const std::int64_t batch = product_of(a.extents(), d.lhs_batch);
  const std::int64_t rows = product_of(a.extents(), a_free);
  const std::int64_t columns = product_of(b.extents(), b_free);
  const std::int64_t depth = product_of(a.extents(), d.lhs_contract);
  dispatch(a.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    if constexpr (Number<C>) {
      const auto x = packed<C, T>(a, joined({d.lhs_batch, a_free, d.lhs_contract}));
      const auto z = packed<C, T>(b, joined({d.rhs_batch, d.rhs_contract, b_free}));
      T* out = static_cast<T*>(y.mutable_data());
      std::vector<C> sums(usize(columns));
      for (std::int64_t row = 0; row < batch * rows; ++row) {
        row_times_matrix(x.data() + row * depth, z.data() + row / rows * depth * columns, depth,
                         columns, sums.data());
        for (std::int64_t j = 0; j < columns; ++j) *out++ = static_cast<T>(sums[usize(j)]);
      }
    }
  });
  c.out.push_back(std::move(y));
}

void DotGeneral::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  Val a, b;
  if (dx[0]) a = emit_like(c, {dx[0], c.in[1]});
  if (dx[1]) b = emit_like(c, {c.in[0], dx[1]});
  dy[0] = Binary::add_tangents(a, b);
}

void DotGeneral::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  require_linear(c, c.in[0] || c.in[1], "a product of two linear values");
  // Contracts the cotangent with the known operand over the known one's free axes. What comes out
  // are batch axes, the linear operand's free axes and its contracted axes, these in the order of
  // their partners in the known operand; the other way round if the known operand comes first.
  const DotDims& d = c.as<DotDims>();
  const bool left = !c.in[0];
  const Type linear = c.in_types[left ? 0 : 1], known = c.in_types[left ? 1 : 0];
  const AxisList &batch = left ? d.lhs_batch : d.rhs_batch,
                 &contract = left ? d.lhs_contract : d.rhs_contract,
                 &known_batch = left ? d.rhs_batch : d.lhs_batch,
                 &known_contract = left ? d.rhs_contract : d.lhs_contract;
  const AxisList free = free_axes(linear.rank(), batch, contract);
  const AxisList known_free = free_axes(known.rank(), known_batch, known_contract);
  const auto nb = static_cast<std::int64_t>(batch.size());
  const auto n_free = static_cast<std::int64_t>(free.size());
  const auto n_known = static_cast<std::int64_t>(known_free.size());
  AxisList by_known = known_contract;
  std::ranges::sort(by_known);
  AxisList contracted;
  for (std::int64_t axis : by_known) {
    contracted.push_back(
        contract[usize(std::ranges::find(known_contract, axis) - known_contract.begin())]);
  }
  const Val other = c.in[left ? 1 : 0];
  DotDims dims{.lhs_batch = axis_range(0, nb),
               .rhs_batch = known_batch,
               .lhs_contract = axis_range(left ? nb + n_free : nb, n_known),
               .rhs_contract = known_free};
  // The gradient of the right factor of x w is x^T ct, in the layout of w.
  const AxisList swapped = joined({batch, contracted, free});
  if (swapped == axis_range(0, linear.rank())) {
    std::swap(dims.lhs_batch, dims.rhs_batch);
    std::swap(dims.lhs_contract, dims.rhs_contract);
    sink.add(left ? 0 : 1, dot_general(other, ct[0], std::move(dims)));
    return;
  }
  sink.add(left ? 0 : 1, ops::transpose(dot_general(ct[0], other, std::move(dims)),
                                        inverse_permutation(joined({batch, free, contracted}))));
}

void DotGeneral::batch(const Call& c, BatchContext& ctx) {
  DotDims d = c.as<DotDims>();
  // A sum over an axis whose size differs between lanes differs even where the values are shared.
  auto mapped = [&](int k, const AxisList& contracted) {
    bool r = ctx.batched(k);
    for (std::int64_t axis : contracted) {
      r = r || ctx.lengths(c.in_types[static_cast<std::size_t>(k)].dim(static_cast<int>(axis)));
    }
    return r;
  };
  const bool right = mapped(1, d.rhs_contract), left = mapped(0, d.lhs_contract) || !right;
  Val a = left ? ctx.lifted(0) : c.in[0], b = right ? ctx.lifted(1) : c.in[1];
  const auto nb = static_cast<std::int64_t>(d.lhs_batch.size());
  const std::int64_t n_left =
      c.in_types[0].rank() - nb - static_cast<std::int64_t>(d.lhs_contract.size());
  if (left) {
    d.lhs_batch = shifted_axes(d.lhs_batch);
    d.lhs_contract = shifted_axes(d.lhs_contract);
    for (std::int64_t axis : d.lhs_contract) {
      a = ctx.mask_ragged(a, static_cast<int>(axis), ir::Identity::zero);
    }
  }
  if (right) {
    d.rhs_batch = shifted_axes(d.rhs_batch);
    d.rhs_contract = shifted_axes(d.rhs_contract);
    for (std::int64_t axis : d.rhs_contract) {
      b = ctx.mask_ragged(b, static_cast<int>(axis), ir::Identity::zero);
    }
  }
  if (left && right) {
    d.lhs_batch.insert(d.lhs_batch.begin(), 0);
    d.rhs_batch.insert(d.rhs_batch.begin(), 0);
    ctx.set(0, dot_general(a, b, std::move(d)));
    return;
  }
  // The lane axis is the first free axis of its operand: it comes out behind the batch axes, and
  // behind lhs's free axes if it is rhs's.
  const Val y = dot_general(a, b, std::move(d));
  AxisList order = axis_range(0, y.rank());
  const std::int64_t at = left ? nb : nb + n_left;
  order.erase(order.begin() + at);
  order.insert(order.begin(), at);
  ctx.set(0, ops::transpose(y, order));
}

TLALOC_ROW(DotGeneral);

Val dot_general(Val lhs, Val rhs, DotDims dims) {
  return ir::Builder::current().emit(rows::DotGeneral, ir::make_attr(std::move(dims)), {lhs, rhs});
}
Val matmul(Val a, Val b) {
  const std::int64_t nb = std::max(0, std::min(a.rank(), b.rank()) - 2);
  return dot_general(a, b,
                     {.lhs_batch = axis_range(0, nb),
                      .rhs_batch = axis_range(0, nb),
                      .lhs_contract = {a.rank() - 1},
                      .rhs_contract = {std::max(0, b.rank() - 2)}});
}

}  // namespace tlaloc::ops
