#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {
namespace {

/// Calls f with a pointer type of the element's size: moving elements needs no more than that.
template <class F>
void by_size(DType type, const F& f) {
  switch (byte_size(type)) {
    case 1: f(TypeTag<std::uint8_t>{}); break;
    case 2: f(TypeTag<std::uint16_t>{}); break;
    case 4: f(TypeTag<std::uint32_t>{}); break;
    default: f(TypeTag<std::uint64_t>{}); break;
  }
}

}  // namespace

Extents row_major_strides(std::span<const std::int64_t> extents) {
  Extents strides(extents.size());
  std::int64_t step = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = step;
    step *= extents[i];
  }
  return strides;
}

void gather_strided(const HostArray& in, std::int64_t offset, std::span<const std::int64_t> step,
                    HostArray& out) {
  by_size(out.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(in.data());
    T* y = static_cast<T*>(out.mutable_data());
    for_each_offset(out.extents(), offset, step,
                    [&](std::int64_t i, std::int64_t at) { y[i] = x[at]; });
  });
}

void scatter_strided(const HostArray& in, std::int64_t offset, std::span<const std::int64_t> step,
                     HostArray& out) {
  by_size(out.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(in.data());
    T* y = static_cast<T*>(out.mutable_data());
    for_each_offset(in.extents(), offset, step,
                    [&](std::int64_t i, std::int64_t at) { y[at] = x[i]; });
  });
}

}  // namespace tlaloc::ops
