// Operands in a canonical layout and in the type they are computed in, for reference evaluation.
#pragma once

#include <vector>

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {

/// The elements with the axes in `order`, row-major, converted to C.
template <class C, class T>
std::vector<C> packed(const HostArray& x, const AxisList& order) {
  const Extents strides = row_major_strides(x.extents());
  Extents extents, step;
  for (std::int64_t axis : order) {
    extents.push_back(x.extents()[static_cast<std::size_t>(axis)]);
    step.push_back(strides[static_cast<std::size_t>(axis)]);
  }
  std::vector<C> r(static_cast<std::size_t>(x.size()));
  const T* in = static_cast<const T*>(x.data());
  for_each_offset(extents, 0, step, [&](std::int64_t i, std::int64_t at) {
    r[static_cast<std::size_t>(i)] = static_cast<C>(static_cast<ComputeType<T>>(in[at]));
  });
  return r;
}
/// Product of the extents of some axes; TL-SIZE-001 where it overflows.
inline std::int64_t product_of(const Extents& extents, const AxisList& axes) {
  Extents some;
  for (std::int64_t a : axes) some.push_back(extents[usize(a)]);
  return element_count(some);
}
inline AxisList joined(std::initializer_list<AxisList> parts) {
  AxisList r;
  for (const AxisList& p : parts) r.insert(r.end(), p.begin(), p.end());
  return r;
}

}  // namespace tlaloc::ops
