#include "tests/ops/case.h"

#include <algorithm>
#include <cstring>

#include "tlaloc/ops/quant_testing.h"

namespace tlaloc::testing {

Cases all_cases() {
  Cases r;
  for (auto family : {elementwise_cases, shape_cases, reduction_cases, order_cases, window_cases,
                      index_cases, linalg_cases, system_cases}) {
    family(r);
  }
  return r;
}

HostArray arr(Extents extents, std::vector<double> values) {
  return HostArray::from(std::span<const double>(values), std::move(extents));
}
HostArray vec(std::vector<double> values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return arr({n}, std::move(values));
}
HostArray noise(Extents extents, std::uint64_t seed) {
  HostArray r(DType::f64, std::move(extents));
  const auto n = static_cast<std::size_t>(r.size());
  // A shuffled grid, so that no two values tie; both signs alike.
  const std::size_t half = std::max<std::size_t>(60, (n + 1) / 2);
  std::vector<double> grid;
  for (std::size_t i = 0; i < half; ++i) {
    grid.push_back(0.1 + 1.9 * static_cast<double>(i) / static_cast<double>(half - 1));
    grid.push_back(-grid.back() - 0.011);
  }
  Noise random(seed);
  for (std::size_t i = grid.size(); i > 1; --i) {
    std::swap(grid[i - 1], grid[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  }
  std::copy_n(grid.begin(), n, r.as_mutable<double>().begin());
  return r;
}
HostArray ints(Extents extents, std::vector<std::int64_t> values) {
  return HostArray::from(std::span<const std::int64_t>(values), std::move(extents));
}
HostArray bools(Extents extents, std::vector<bool> values) {
  HostArray r(DType::boolean, std::move(extents));
  std::ranges::copy(values, r.as_mutable<bool>().begin());
  return r;
}
HostArray blocks(const ir::Encoding& e, Extents extents, std::uint64_t seed) {
  extents.back() = extents.back() / e.block_elements * e.block_bytes;
  HostArray a = HostArray::uninitialized(DType::u8, extents);
  Noise random(seed);
  auto bytes = a.as_mutable<std::uint8_t>();
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random.below(256));
  for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(e.block_bytes)) {
    const double scale = random.uniform(0.5, 1.5), least = random.uniform(0.5, 1.5);
    ops::testing::set_scales(e, &bytes[at], static_cast<float>(scale), static_cast<float>(least));
  }
  return a;
}

}  // namespace tlaloc::testing
