// Strided traversal for reference evaluation.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/base/host_array.h"

namespace tlaloc::ops {

/// Calls f with a tag of an unsigned type of the element's size: moving elements needs no more.
template <class F>
void by_size(DType type, const F& f) {
  switch (byte_size(type)) {
    case 1:
      f(TypeTag<std::uint8_t>{});
      break;
    case 2:
      f(TypeTag<std::uint16_t>{});
      break;
    case 4:
      f(TypeTag<std::uint32_t>{});
      break;
    default:
      f(TypeTag<std::uint64_t>{});
      break;
  }
}

/// Elements between neighbours along each axis of a dense row-major array.
Extents row_major_strides(std::span<const std::int64_t> extents);

/// out[i…] = in[offset + sum i_k * step_k], for all indices of `out`. Any element type.
void gather_strided(const HostArray& in, std::int64_t offset, std::span<const std::int64_t> step,
                    HostArray& out);
/// out[offset + sum i_k * step_k] = in[i…], for all indices of `in`.
void scatter_strided(const HostArray& in, std::int64_t offset, std::span<const std::int64_t> step,
                     HostArray& out);

/// out[out_offset + i] = in[offset + sum i_k * step_k] for the row-major i-th index of `window`.
void copy_window(const HostArray& in, std::int64_t offset, std::span<const std::int64_t> step,
                 HostArray& out, std::int64_t out_offset, std::span<const std::int64_t> window);
/// out[offset + sum i_k * step_k] = in[in_offset + i].
void update_window(const HostArray& in, std::int64_t in_offset, HostArray& out, std::int64_t offset,
                   std::span<const std::int64_t> step, std::span<const std::int64_t> window);

/// Calls visit(linear, offset) for all indices of `extents` in row-major order, where offset moves
/// by `step` per axis.
template <class F>
void for_each_offset(std::span<const std::int64_t> extents, std::int64_t offset,
                     std::span<const std::int64_t> step, const F& visit) {
  const std::int64_t count = element_count(extents);
  if (count == 0) return;
  if (extents.empty()) {
    visit(std::int64_t{0}, offset);
    return;
  }
  const std::size_t last = extents.size() - 1;
  Extents index(extents.size(), 0);
  for (std::int64_t linear = 0; linear < count;) {
    std::int64_t at = offset;
    for (std::int64_t i = 0; i < extents[last]; ++i, at += step[last]) visit(linear++, at);
    for (std::size_t axis = last; axis-- > 0;) {
      offset += step[axis];
      if (++index[axis] < extents[axis]) break;
      offset -= step[axis] * extents[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace tlaloc::ops
