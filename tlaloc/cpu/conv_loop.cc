// convolution as one loop, for which code can be written.
#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/conv.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;

/// An axis of the index space: its size, and what one step is in lhs, rhs, the mask and the result.
struct Axis {
  Dim size, a, b, mask, c;
};

HostArray zero(DType t) { return HostArray(t, {}); }

/// What a window meets: lhs, dilated and with its padding, and which of that are elements.
struct Padded {
  Value lhs;
  std::optional<Value> mask;  ///< over the spatial axes; none where all are elements
};
Padded pad(Emitter& e, const Value& lhs, const ops::ConvAttrs& attrs) {
  const auto& spatial = attrs.dims.lhs_spatial;
  std::vector<Dim> shape(lhs.type.shape().begin(), lhs.type.shape().end()), area;
  Affine inside{0, {}}, inside_area{0, {}};
  std::vector<Dim> low(shape.size(), 0), step(shape.size(), 1);
  std::vector<Dim> sizes;
  bool same = true;
  for (std::size_t i = 0; i < spatial.size(); ++i) {
    Dim& n = shape[usize(spatial[i])];
    sizes.push_back(n);
    const Dim before = max(attrs.low[i], 0), behind = max(attrs.high[i], 0);
    const Dim dilation = attrs.lhs_dilation[i];
    same = same && before == Dim(0) && behind == Dim(0) && dilation == Dim(1);
    low[usize(spatial[i])] = before;
    step[usize(spatial[i])] = dilation;
    if (dilation != Dim(1)) n = max((n - 1) * dilation + 1, 0);
    n += before + behind;
    area.push_back(n);
  }
  if (same) return {lhs, std::nullopt};
  auto place = [](const std::vector<Dim>& of, const std::vector<Dim>& at,
                  const std::vector<Dim>& by) {
    const std::vector<Dim> dense = dense_strides(of);
    Affine r{0, {}};
    for (std::size_t i = 0; i < of.size(); ++i) {
      r.offset += at[i] * dense[i];
      r.strides.push_back(by[i] * dense[i]);
    }
    return r;
  };
  const DType t = lhs.type.dtype();
  const Type type = Type::get(t, shape), mask_type = Type::get(DType::boolean, area);
  const StorageId storage = e.storage(type), mask = e.storage(mask_type);
  const char* name = "convolution";
  e.compute({type, literal(zero(t))}, {storage, {0, dense_strides(shape)}}, name);
  e.compute(lhs, {storage, place(shape, low, step)}, name);
  std::vector<Dim> area_low, area_step;
  for (std::int64_t axis : spatial) {
    area_low.push_back(low[usize(axis)]);
    area_step.push_back(step[usize(axis)]);
  }
  e.compute({mask_type, literal(HostArray::scalar(false))}, {mask, {0, dense_strides(area)}}, name);
  e.compute({Type::get(DType::boolean, sizes), literal(HostArray::scalar(true))},
            {mask, place(area, area_low, area_step)}, name);
  return {dense_value(type, storage), dense_value(mask_type, mask)};
}

}  // namespace

void emit_convolution_as_loop(Emitter& e, const Value& lhs, const Value& rhs,
                              const ops::ConvAttrs& attrs, const Target& target, Type type) {
  const auto [a, mask] = pad(e, e.lying(lhs, "convolution"), attrs);
  const Value b = e.lying(rhs, "convolution");
  const Affine &at_a = a.expr->at, &at_b = b.expr->at, &at_c = target.at;
  const ops::ConvDims& d = attrs.dims;
  auto size = [](Type t, std::int64_t axis) { return t.dim(static_cast<int>(axis)); };
  auto stride = [](const Affine& at, std::int64_t axis) { return at.strides[usize(axis)]; };

  const Dim features = size(b.type, d.rhs_in), batch = size(type, d.out_batch);
  const Dim groups = attrs.feature_groups * attrs.batch_groups;  // one of them is 1
  const Dim columns = floordiv(size(type, d.out_feature), groups);
  const Dim a_batch = stride(at_a, d.lhs_batch), a_feature = stride(at_a, d.lhs_feature);
  const Dim b_out = stride(at_b, d.rhs_out), c_feature = stride(at_c, d.out_feature);
  const Dim a_group = attrs.batch_groups == Dim(1) ? features * a_feature : batch * a_batch;
  std::vector<Axis> kept{{batch, a_batch, 0, 0, stride(at_c, d.out_batch)},
                         {groups, a_group, columns * b_out, 0, columns * c_feature}};
  std::vector<Axis> contracted;
  Dim a_offset = at_a.offset, b_offset = at_b.offset, mask_offset = 0;
  const Axis column{columns, 0, b_out, 0, c_feature};
  // Vectors run along the result's features where those are neighbours, else along its last axis.
  const bool last = attrs.strides.empty() || (c_feature == Dim(1) && b_out == Dim(1));
  if (!last) kept.push_back(column);
  for (std::size_t i = 0; i < attrs.strides.size(); ++i) {
    const Dim as = stride(at_a, d.lhs_spatial[i]), bs = stride(at_b, d.rhs_spatial[i]);
    const Dim ms = mask ? mask->expr->at.strides[i] : Dim(0);
    const Dim kernel = size(b.type, d.rhs_spatial[i]), crop = max(Dim(0) - attrs.low[i], 0);
    const Dim by = attrs.strides[i], dilation = attrs.rhs_dilation[i];
    a_offset += crop * as;
    mask_offset += crop * ms;
    if (attrs.reversed[i]) b_offset += (kernel - 1) * bs;
    kept.push_back(
        {size(type, d.out_spatial[i]), by * as, 0, by * ms, stride(at_c, d.out_spatial[i])});
    contracted.push_back(
        {kernel, dilation * as, attrs.reversed[i] ? Dim(0) - bs : bs, dilation * ms, 0});
  }
  contracted.push_back({features, a_feature, stride(at_b, d.rhs_in), 0, 0});
  if (last) kept.push_back(column);

  std::vector<Dim> space, to;
  Affine from_a{a_offset, {}}, from_b{b_offset, {}}, from_mask{mask_offset, {}};
  auto add = [&](const Axis& axis) {
    space.push_back(axis.size);
    from_a.strides.push_back(axis.a);
    from_b.strides.push_back(axis.b);
    from_mask.strides.push_back(axis.mask);
  };
  for (const Axis& axis : kept) to.push_back(axis.c);
  std::vector<std::int64_t> folded;
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) add(kept[i]);
  for (const Axis& axis : contracted) {
    folded.push_back(static_cast<std::int64_t>(space.size()));
    add(axis);
  }
  add(kept.back());

  const DType t = type.dtype();
  const ExprRef x = read(t, a.expr->storage, from_a), y = read(t, b.expr->storage, from_b);
  ExprRef product = apply(ops::rows::Mul, nullptr, t, {x, y});
  // What lies in the padding is not multiplied: infinity times 0 would be NaN.
  if (mask) {
    product =
        apply(ops::rows::Select, nullptr, t,
              {read(DType::boolean, mask->expr->storage, from_mask), product, literal(zero(t))});
  }
  e.fold({Type::get(t, space), product}, *find_fold(ops::rows::ReduceSum, t), folded,
         {target.storage, {at_c.offset, to}}, "convolution");
}

}  // namespace tlaloc::cpu
