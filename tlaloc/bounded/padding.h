// Arrays that are padded at the end of their axes, and cut again, and what tells how much of them
// counts; internal to bounded.
#pragma once

#include "tlaloc/base/host_array.h"

namespace tlaloc::bounded {

/// `x` at the beginning of an array of `extents`, none of which is smaller; the rest is `padding`.
HostArray pad(const HostArray& x, const Extents& extents, double padding);
/// The beginning of `x`.
HostArray cut(const HostArray& x, const Extents& extents);

/// A scalar; no more than largest_length of its type.
HostArray valid_length(DType dtype, std::int64_t size);
/// One for each of the elements before `size`, which count, and zero for those up to `padded`.
HostArray valid_mask(DType dtype, std::int64_t size, std::int64_t padded);

}  // namespace tlaloc::bounded
