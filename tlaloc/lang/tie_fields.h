// Structured bindings for aggregates of up to 32 fields, as a tuple of references. Generated shape:
// C++20 cannot bind a number of names that is a parameter.
#pragma once

#include <cstddef>
#include <tuple>

namespace tlaloc::detail {

inline constexpr std::size_t kMaxFields = 32;

// clang-format off
template <std::size_t N, class T>
constexpr auto tie_fields(T& x) {
  if constexpr (N == 0) return std::tuple<>{};
  else if constexpr (N == 1) { auto& [a0] = x; return std::tie(a0); }
  else if constexpr (N == 2) { auto& [a0, a1] = x; return std::tie(a0, a1); }
  else if constexpr (N == 3) { auto& [a0, a1, a2] = x; return std::tie(a0, a1, a2); }
  else if constexpr (N == 4) { auto& [a0, a1, a2, a3] = x; return std::tie(a0, a1, a2, a3); }
  else if constexpr (N == 5) { auto& [a0, a1, a2, a3, a4] = x; return std::tie(a0, a1, a2, a3,
      a4); }
  else if constexpr (N == 6) { auto& [a0, a1, a2, a3, a4, a5] = x; return std::tie(a0, a1, a2,
      a3, a4, a5); }
  else if constexpr (N == 7) { auto& [a0, a1, a2, a3, a4, a5, a6] = x; return std::tie(a0, a1,
      a2, a3, a4, a5, a6); }
  else if constexpr (N == 8) { auto& [a0, a1, a2, a3, a4, a5, a6, a7] = x; return std::tie(a0,
      a1, a2, a3, a4, a5, a6, a7); }
  else if constexpr (N == 9) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8] = x; return
      std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8); }
  else if constexpr (N == 10) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9] = x; return
      std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9); }
  else if constexpr (N == 11) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = x; return
      std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10); }
  else if constexpr (N == 12) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11] = x;
      return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11); }
  else if constexpr (N == 13) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12] =
      x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12); }
  else if constexpr (N == 14) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13); }
  else if constexpr (N == 15) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13,
      a14); }
  else if constexpr (N == 16) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15); }
  else if constexpr (N == 17) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11,
      a12, a13, a14, a15, a16); }
  else if constexpr (N == 18) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10,
      a11, a12, a13, a14, a15, a16, a17); }
  else if constexpr (N == 19) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9,
      a10, a11, a12, a13, a14, a15, a16, a17, a18); }
  else if constexpr (N == 20) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8,
      a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19); }
  else if constexpr (N == 21) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7,
      a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20); }
  else if constexpr (N == 22) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21] = x; return std::tie(a0, a1, a2, a3, a4, a5, a6,
      a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21); }
  else if constexpr (N == 23) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22] = x; return std::tie(a0, a1, a2, a3, a4, a5,
      a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22); }
  else if constexpr (N == 24) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23] = x; return std::tie(a0, a1, a2, a3,
      a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23);
      }
  else if constexpr (N == 25) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24] = x; return std::tie(a0, a1, a2,
      a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21, a22,
      a23, a24); }
  else if constexpr (N == 26) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25] = x; return std::tie(a0, a1,
      a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20, a21,
      a22, a23, a24, a25); }
  else if constexpr (N == 27) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26] = x; return std::tie(a0,
      a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
      a21, a22, a23, a24, a25, a26); }
  else if constexpr (N == 28) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27] = x; return
      std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
      a19, a20, a21, a22, a23, a24, a25, a26, a27); }
  else if constexpr (N == 29) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28] = x; return
      std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
      a19, a20, a21, a22, a23, a24, a25, a26, a27, a28); }
  else if constexpr (N == 30) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29] = x;
      return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,
      a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29); }
  else if constexpr (N == 31) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30] = x;
      return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16,
      a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30); }
  else if constexpr (N == 32) { auto& [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12,
      a13, a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31]
      = x; return std::tie(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15,
      a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31); }
}
// clang-format on

}  // namespace tlaloc::detail
