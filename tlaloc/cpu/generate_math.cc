#include "tlaloc/cpu/generate_math.h"

#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/math_functions-inl.h"
#include "tlaloc/cpu/math_writer.h"

namespace tlaloc::cpu {
namespace {

using Write = IrValue (*)(IrWriter& w, std::span<const IrValue> in, int lanes,
                          const ScalarCall& scalar);
template <class T, ops::OpId kOp>
IrValue write(IrWriter& w, std::span<const IrValue> in, int lanes, const ScalarCall& scalar) {
  return HWY_NAMESPACE::math<kOp>(MathWriter<T>(w, lanes), in[0], in[takes_two(kOp)], scalar);
}
template <class T>
constexpr auto kWrite = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<Write, sizeof...(I)>{write<T, kMathOps[I]>...};
}(std::make_index_sequence<kMathOps.size()>());

}  // namespace

bool has_math(const ir::OpDef& op, DType t) {
  return (t == DType::f32 || t == DType::f64) && math_index(op).has_value();
}

IrValue write_math(IrWriter& w, const ir::OpDef& op, std::span<const IrValue> in, DType t,
                   int lanes, const ScalarCall& scalar) {
  internal_check(has_math(op, t), "there is no vector function of that name");
  const std::size_t at = *math_index(op);
  return (t == DType::f64 ? kWrite<double> : kWrite<float>)[at](w, in, lanes, scalar);
}

}  // namespace tlaloc::cpu
