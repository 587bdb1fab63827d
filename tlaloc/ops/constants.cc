#include "tlaloc/ops/constants.h"

#include <array>
#include <bit>

#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/strided.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

void Constant::infer(InferContext& c) {
  const HostArray& v = c.as<ConstantAttrs>().value.value;
  std::vector<Dim> shape(v.extents().begin(), v.extents().end());
  c.out.push_back(Type::get(v.dtype(), shape));
}
void Constant::eval(EvalContext& c) { c.out.push_back(c.as<ConstantAttrs>().value.value); }

void Iota::infer(InferContext& c) {
  const IotaAttrs& a = c.as<IotaAttrs>();
  if (a.axis < 0 || a.axis >= a.type.rank()) c.fail("TL-AXIS-001", "axis is out of range");
  if (a.type.dtype() == DType::boolean) c.fail("TL-DTYPE-004", "a bool can't count");
  c.out.push_back(a.type);
}
void Iota::eval(EvalContext& c) {
  HostArray y = c.make();
  const auto axis = usize(c.as<IotaAttrs>().axis);
  const std::int64_t inner = row_major_strides(y.extents())[axis], n = y.extents()[axis];
  dispatch(y.dtype(), [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(y.mutable_data());
    for (std::int64_t i = 0, size = y.size(); i < size; ++i) {
      out[i] = convert_element<T>(i / inner % n);
    }
  });
  c.out.push_back(std::move(y));
}

void DimValue::infer(InferContext& c) { c.out.push_back(Type::scalar(DType::i64)); }
void DimValue::eval(EvalContext& c) {
  c.out.push_back(HostArray::scalar(c.size_of(c.as<DimValueAttrs>().dim)));
}

TLALOC_ROW(Constant);
TLALOC_ROW(Iota);
TLALOC_ROW(DimValue);

Val constant(HostArray value) {
  return ir::Builder::current().emit(rows::Constant,
                                     ir::make_attr(ConstantAttrs{{std::move(value)}}), {});
}
namespace {
/// The attributes of the scalars asked for last: rules ask for 1, 2 and 0.5 all the time.
struct RecentScalar {
  std::uint64_t bits = 0;
  DType dtype = DType::boolean;
  ir::AttrRef attr;
};
/// Gone when the thread is about to end; a static object's destructor may still ask.
thread_local bool recent_scalars_gone = false;
struct RecentScalars {
  std::array<RecentScalar, 64> slots;
  ~RecentScalars() { recent_scalars_gone = true; }
};
thread_local RecentScalars recent_scalars;
}  // namespace

Val scalar(double value, DType dtype) {
  const auto make = [&] {
    const HostArray array = dispatch(dtype, [&]<class T>(TypeTag<T>) {
      return HostArray::scalar<T>(convert_element<T>(value));
    });
    return ir::make_attr(ConstantAttrs{{array}});
  };
  if (recent_scalars_gone) return ir::Builder::current().emit(rows::Constant, make(), {});
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t mixed = (bits + static_cast<std::uint64_t>(dtype)) * 0x9e3779b97f4a7c15u;
  RecentScalar& r = recent_scalars.slots[mixed >> 58];
  if (!r.attr || r.bits != bits || r.dtype != dtype) r = {bits, dtype, make()};
  return ir::Builder::current().emit(rows::Constant, r.attr, {});
}
Val scalar_int(std::int64_t value, DType dtype) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    return constant(HostArray::scalar<T>(convert_element<T>(value)));
  });
}
Val full(double value, Type type) {
  const Val s = scalar(value, type.dtype());
  return type.rank() == 0 ? s : broadcast_in_dim(s, type.shape(), {});
}
Val iota(Type type, int axis) {
  return ir::Builder::current().emit(rows::Iota, ir::make_attr(IotaAttrs{type, axis}), {});
}
Val dim_value(Dim d) {
  if (d.is_constant()) return scalar_int(d.constant(), DType::i64);
  return ir::Builder::current().emit(rows::DimValue, ir::make_attr(DimValueAttrs{d}), {});
}

std::optional<double> scalar_value(Val x) {
  ir::Builder& b = ir::Builder::of(x);
  while (b.op_of(x) == &rows::BroadcastInDim) x = b.operand_of(x, 0);
  if (b.op_of(x) != &rows::Constant) return std::nullopt;
  const HostArray& v = ir::attr_as<ConstantAttrs>(b.attr_of(x)).value.value;
  if (v.rank() != 0) return std::nullopt;
  return v.element(0);
}

Val emit_like(const ir::Call& c, std::initializer_list<Val> in) {
  return ir::Builder::current().emit(*c.op, c.attr ? c.attr->shared_from_this() : ir::AttrRef(),
                                     std::span<const Val>(in.begin(), in.size()));
}

}  // namespace tlaloc::ops
