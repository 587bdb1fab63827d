#include "tlaloc/bounded/padding.h"

#include <algorithm>

#include "tlaloc/ops/convert_element.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::bounded {

HostArray pad(const HostArray& x, const Extents& extents, double padding) {
  if (x.extents() == extents) return x;
  HostArray y = HostArray::uninitialized(x.dtype(), extents);
  dispatch(x.dtype(), [&]<class T>(TypeTag<T>) {
    std::ranges::fill(y.as_mutable<T>(), ops::convert_element<T>(padding));
  });
  ops::scatter_strided(x, 0, ops::row_major_strides(extents), y);
  return y;
}

HostArray cut(const HostArray& x, const Extents& extents) {
  if (x.extents() == extents) return x;
  HostArray y = HostArray::uninitialized(x.dtype(), extents);
  ops::gather_strided(x, 0, ops::row_major_strides(x.extents()), y);
  return y;
}

HostArray valid_length(DType dtype, std::int64_t size) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    return HostArray::scalar<T>(ops::convert_element<T>(size));
  });
}

HostArray valid_mask(DType dtype, std::int64_t size, std::int64_t padded) {
  HostArray a(dtype, {padded});
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    std::ranges::fill(a.as_mutable<T>().first(static_cast<std::size_t>(size)),
                      ops::convert_element<T>(1.0));
  });
  return a;
}

}  // namespace tlaloc::bounded
