#include "tlaloc/ops/strided.h"

namespace tlaloc::ops {
Extents row_major_strides(std::span<const std::int64_t> extents) {
  Extents strides(extents.size(), 0);
  // Without elements nothing is read, and the product of the other extents may overflow.
  if (element_count(extents) == 0) return strides;
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

void copy_window(const HostArray& in, std::int64_t offset, std::span<const std::int64_t> step,
                 HostArray& out, std::int64_t out_offset, std::span<const std::int64_t> window) {
  by_size(out.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(in.data());
    T* y = static_cast<T*>(out.mutable_data()) + out_offset;
    for_each_offset(window, offset, step, [&](std::int64_t i, std::int64_t at) { y[i] = x[at]; });
  });
}

void update_window(const HostArray& in, std::int64_t in_offset, HostArray& out, std::int64_t offset,
                   std::span<const std::int64_t> step, std::span<const std::int64_t> window) {
  by_size(out.dtype(), [&]<class T>(TypeTag<T>) {
    const T* x = static_cast<const T*>(in.data()) + in_offset;
    T* y = static_cast<T*>(out.mutable_data());
    for_each_offset(window, offset, step, [&](std::int64_t i, std::int64_t at) { y[at] = x[i]; });
  });
}

}  // namespace tlaloc::ops
