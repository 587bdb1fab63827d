#include "tlaloc/cxx/identities.h"

#include <limits>

#include "tlaloc/cxx/types.h"

namespace tlaloc::cxx {

HostArray identity(DType dtype, ir::Identity which) {
  return dispatch(dtype, [&]<class T>(TypeTag<T>) {
    using Limits = std::numeric_limits<T>;
    const bool real = std::is_floating_point_v<T>;
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      refuse_dtype(dtype);
      return HostArray();
    } else {
      switch (which) {
        case ir::Identity::one:
          return HostArray::scalar(static_cast<T>(1));
        case ir::Identity::lowest:
          return HostArray::scalar(real ? static_cast<T>(-Limits::infinity()) : Limits::lowest());
        case ir::Identity::highest:
          return HostArray::scalar(real ? Limits::infinity() : Limits::max());
        case ir::Identity::all_ones:
          return HostArray::scalar(static_cast<T>(-1));
        default:
          return HostArray::scalar(T{});
      }
    }
  });
}

}  // namespace tlaloc::cxx
