// For tests: programs that read and write single elements.
#pragma once

#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {

inline Vals index_starts(Val x, Val i) {
  Vals starts(usize(x.rank()), scalar_int(0, i.dtype()));
  starts[0] = i;
  return starts;
}
/// x[i]: element i (a scalar integer, clamped) of axis 0, which vanishes.
inline Val dynamic_index(Val x, Val i) {
  std::vector<Dim> sizes(x.shape().begin(), x.shape().end());
  sizes[0] = 1;
  return reshape(dynamic_slice(x, index_starts(x, i), sizes), x.shape().subspan(1));
}
/// x with x[i] = v; v has the shape of x without axis 0.
inline Val dynamic_update_index(Val x, Val v, Val i) {
  return dynamic_update_slice(x, reshape(v, prepended(1, x.shape().subspan(1))),
                              index_starts(x, i));
}

}  // namespace tlaloc::ops
