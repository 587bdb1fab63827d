// Sorting. -0 equals +0, and NaN is greater than everything.
#include "tlaloc/ops/sort.h"
#include "tlaloc/stablehlo/emitter.h"

namespace tlaloc::stablehlo::lowering {
namespace {

/// a comes before b.
Value before(Emitter& e, const Value& a, const Value& b) {
  const Value less = e.compare("LT", a, b);
  if (!is_float(a.type.dtype)) return less;
  return e.binary("or", less, e.binary("and", e.compare("EQ", a, a), e.compare("NE", b, b)));
}

Region standard_order(Emitter& e, std::span<const Value> operands, std::size_t keys,
                      bool descending) {
  Region r;
  for (const Value& v : operands) {
    r.params.push_back({v.type.dtype, {}});
    r.params.push_back({v.type.dtype, {}});
  }
  r.body = [&e, keys, descending](const Values& v) -> Values {
    std::optional<Value> result;
    for (std::size_t k = keys; k-- > 0;) {
      const Value &a = v[2 * k + (descending ? 1 : 0)], &b = v[2 * k + (descending ? 0 : 1)];
      const Value less = before(e, a, b);
      // Where this key is equal the next ones decide.
      result = result ? e.select(e.binary("or", less, before(e, b, a)), less, *result) : less;
    }
    return {*result};
  };
  return r;
}

Values sorted(Emitter& e, std::span<const Value> in, std::int64_t axis, const Region& order) {
  std::vector<TensorType> out;
  for (const Value& v : in) out.push_back(v.type);
  return e.op("stablehlo.sort", in, out,
              "dimension = " + std::to_string(axis) + " : i64, is_stable = true",
              std::span(&order, 1));
}

}  // namespace

Values Sort(Emitter& e, const Op& op) {
  const auto& a = op.as<ops::SortAttrs>();
  return sorted(e, op.in, a.axis,
                a.comparator ? e.scalar_region(*a.comparator->graph)
                             : standard_order(e, op.in, usize(a.num_keys), a.descending));
}

Values TopK(Emitter& e, const Op& op) {
  const Value& x = op.in[0];
  const auto axis = static_cast<std::int64_t>(x.type.rank()) - 1;
  const Value in[] = {x, e.iota(x.type.with(op.out[1].dtype), axis)};
  Values out = sorted(e, in, axis, standard_order(e, in, 1, true));
  const Extents zeros(x.type.rank(), 0), ones(x.type.rank(), 1);
  for (std::size_t k = 0; k < 2; ++k) out[k] = e.slice(out[k], zeros, op.out[k].extents, ones);
  return out;
}

}  // namespace tlaloc::stablehlo::lowering
