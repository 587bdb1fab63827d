#include "tlaloc/lang/core_batch_norm.h"

#include <array>
#include <numeric>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/nn.h"

namespace tlaloc::core {

using ir::Val;

BatchStatistics batch_statistics(const Ref& x, AxesSpec axes, Where where) {
  const std::vector<AxisLabel> labels = labels_of(axes);
  const auto out = apply_all(
      {"batch_norm", where}, std::array{x}, {labels, labels}, [&](std::span<const Val> in) {
        std::vector<std::int64_t> over(static_cast<std::size_t>(in[0].rank() - 1));
        std::iota(over.begin(), over.end(), 0);
        return ir::Vals{ops::mean(in[0], over), ops::variance(in[0], over, 0)};
      });
  return {out[0], out[1]};
}

Ref batch_norm(const Ref& x, const BatchStatistics& statistics, const Ref& scale, const Ref& bias,
               double epsilon, AxesSpec axes, Where where) {
  const OpCall call{"batch_norm", where};
  return with_place(where, [&] {
    std::vector<Ref> operands{x};
    for (const Ref& v : {statistics.mean, statistics.variance, scale, bias}) {
      if (!v) continue;
      require_same(call, "TL-SHAPE-001", x, rank(x) - 1, v, 0);
      operands.push_back(v);
    }
    return apply(call, operands, axes, [&](std::span<const Val> in) {
      const auto shape = in[0].shape();
      const auto wide = [&](Val v) { return ops::broadcast_to(v, shape); };
      std::size_t next = 3;
      const Val centered = ops::sub(in[0], wide(in[1]));
      const Val shifted = ops::add(in[2], ops::scalar(epsilon, in[2].dtype()));
      Val y = ops::mul(centered, wide(ops::rsqrt(shifted)));
      if (scale) y = ops::mul(y, wide(in[next++]));
      return bias ? ops::add(y, wide(in[next])) : y;
    });
  });
}

}  // namespace tlaloc::core
