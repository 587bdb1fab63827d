// Products of matrices of integers, which wrap; internal to gemm.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tlaloc/cpu/gemm.h"

namespace tlaloc::cpu {

template <class S>
void integer_gemm(const Gemm& g) {
  // Unsigned, and no narrower than int: nothing overflows on the way.
  using U = std::conditional_t<sizeof(S) < 4, std::uint32_t, std::make_unsigned_t<S>>;
  constexpr std::int64_t kBlock = 256;
  const S* a = static_cast<const S*>(g.a.data);
  const S* b = static_cast<const S*>(g.b.data);
  S* c = static_cast<S*>(const_cast<void*>(g.c.data));
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; j += kBlock) {
      const std::int64_t columns = std::min(kBlock, g.n - j);
      U sums[kBlock] = {};
      for (std::int64_t k = 0; k < g.k; ++k) {
        const U left = static_cast<U>(a[i * g.a.row + k * g.a.column]);
        const S* right = b + k * g.b.row + j * g.b.column;
        for (std::int64_t q = 0; q < columns; ++q) {
          sums[q] += left * static_cast<U>(right[q * g.b.column]);
        }
      }
      for (std::int64_t q = 0; q < columns; ++q) {
        S& to = c[i * g.c.row + (j + q) * g.c.column];
        to = static_cast<S>(sums[q] + (g.accumulate ? static_cast<U>(to) : U(0)));
      }
    }
  }
}

}  // namespace tlaloc::cpu
