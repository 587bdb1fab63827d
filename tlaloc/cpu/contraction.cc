#include "tlaloc/cpu/contraction.h"

#include <algorithm>
#include <cstdlib>
#include <type_traits>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {
namespace {

/// Takes out the axis that becomes the matrix's: of those that fill tiles the one whose elements
/// lie nearest to each other, else the largest.
ContractionAxis take_axis(std::vector<ContractionAxis>& axes) {
  constexpr std::int64_t kEnough = 16;
  if (axes.empty()) return {};
  auto rank = [](const ContractionAxis& x) {
    const bool fills = x.size >= kEnough;
    return std::pair(fills, fills ? -(std::abs(x.a) + std::abs(x.b) + std::abs(x.c)) : x.size);
  };
  const auto it = std::ranges::max_element(axes, {}, rank);
  const ContractionAxis r = *it;
  axes.erase(it);
  return r;
}

/// All indices of some axes, and how far from the first elements they are.
class Walk {
 public:
  explicit Walk(std::vector<ContractionAxis> axes) : axes_(std::move(axes)), index_(axes_.size()) {}
  std::int64_t a = 0, b = 0, c = 0;
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const ContractionAxis& x : axes_) n *= x.size;
    return n;
  }
  /// From the first index to this one.
  void skip_to(std::int64_t number) {
    for (std::size_t i = axes_.size(); i-- > 0; number /= axes_[i].size) {
      const ContractionAxis& x = axes_[i];
      index_[i] = number % x.size;
      a += index_[i] * x.a, b += index_[i] * x.b, c += index_[i] * x.c;
    }
  }
  /// False behind the last one, and back at the first.
  bool next() {
    for (std::size_t i = axes_.size(); i-- > 0;) {
      const ContractionAxis& x = axes_[i];
      a += x.a, b += x.b, c += x.c;
      if (++index_[i] < x.size) return true;
      a -= x.size * x.a, b -= x.size * x.b, c -= x.size * x.c;
      index_[i] = 0;
    }
    return false;
  }

 private:
  std::vector<ContractionAxis> axes_;
  std::vector<std::int64_t> index_;
};

/// Sums, and as much of C as is worked on at once, that stay in the second-level cache beside what
/// is multiplied; and so much of A and B as stays there until it is read again.
constexpr std::int64_t kSumBytes = 128 * 1024, kReadBytes = 256 * 1024;

void add_sums(const Contraction& c, const Gemm& g, const std::byte* sums, const Matrix& to) {
  dispatch(c.dtype, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_floating_point_v<T>) {
      const T* from = reinterpret_cast<const T*>(sums);
      T* out = static_cast<T*>(const_cast<void*>(to.data));
      for (std::int64_t i = 0; i < g.m; ++i) {
        for (std::int64_t j = 0; j < g.n; ++j) {
          T& x = out[i * to.row + j * to.column];
          x = c.accumulate ? x + from[i * g.n + j] : from[i * g.n + j];
        }
      }
    }
  });
}

}  // namespace

std::vector<ContractionAxis> merged(std::vector<ContractionAxis> axes) {
  std::size_t count = 0;
  for (const ContractionAxis& axis : axes) {
    if (axis.size == 1) continue;
    if (count > 0) {
      ContractionAxis& outer = axes[count - 1];
      if (outer.a == axis.size * axis.a && outer.b == axis.size * axis.b &&
          outer.c == axis.size * axis.c) {
        outer = {outer.size * axis.size, axis.a, axis.b, axis.c};
        continue;
      }
    }
    axes[count++] = axis;
  }
  axes.resize(count);
  return axes;
}

std::size_t contraction_scratch_bytes(DType dtype) { return gemm_scratch_bytes(dtype) + kSumBytes; }

void contract(Contraction c, const std::byte* a, const std::byte* b, std::byte* result,
              std::byte* scratch) {
  std::vector<ContractionAxis> loops = merged(std::move(c.batch));
  std::vector<ContractionAxis> rows = merged(std::move(c.rows));
  std::vector<ContractionAxis> columns = merged(std::move(c.columns));
  std::vector<ContractionAxis> depths = merged(std::move(c.depth));
  const ContractionAxis row = take_axis(rows), column = take_axis(columns);
  const ContractionAxis depth = take_axis(depths);
  loops.insert(loops.end(), rows.begin(), rows.end());
  loops.insert(loops.end(), columns.begin(), columns.end());

  Gemm g;
  g.dtype = c.dtype;
  g.m = row.size;
  g.n = column.size;
  g.k = depth.size;
  g.packed_b = c.packed_b;
  const std::int64_t bytes = byte_size(c.dtype);
  // Elements of C that have no neighbours among each other are added up elsewhere, if that is
  // often.
  const bool apart = !depths.empty() && row.c != 1 && column.c != 1 &&
                     (c.dtype == DType::f32 || c.dtype == DType::f64) &&
                     g.m <= kSumBytes / bytes / g.n;
  const Walk outer(std::move(loops)), inner(std::move(depths));
  // Products that read other parts of the same A and B, such as those of a kernel's elements, take
  // turns where one of them by itself reads more than stays in the cache.
  const std::int64_t each_bytes = std::max<std::int64_t>(g.m * g.n * bytes, 1);
  const bool takes_turns =
      inner.count() > kReadBytes / std::max<std::int64_t>((g.m + g.n) * g.k * bytes, 1);
  const std::int64_t at_once = takes_turns ? std::max<std::int64_t>(kSumBytes / each_bytes, 1) : 1;
  const auto some = [&](std::int64_t begin, std::int64_t end, std::byte* memory, bool shared) {
    std::byte* const sums = memory + gemm_scratch_bytes(c.dtype);
    Gemm part = g;
    part.shared = shared;
    Walk at = outer, deep = inner;
    at.skip_to(begin);
    struct Place {
      std::int64_t a, b;
      Matrix c;
      std::byte* sums;
    };
    std::vector<Place> places;
    const std::int64_t turns = (end - begin + at_once - 1) / at_once;
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      places.clear();
      const std::int64_t from = (end - begin) * turn / turns,
                         to = (end - begin) * (turn + 1) / turns;
      for (std::int64_t i = from; i < to; ++i, at.next()) {
        std::byte* const own = sums + (i - from) * each_bytes;
        places.push_back({at.a, at.b, {result + at.c * bytes, row.c, column.c}, own});
      }
      bool first = true;
      do {
        for (const Place& p : places) {
          part.a = {a + (p.a + deep.a) * bytes, row.a, depth.a};
          part.b = {b + (p.b + deep.b) * bytes, depth.b, column.b};
          part.c = apart ? Matrix{p.sums, g.n, 1} : p.c;
          part.accumulate = !first || (c.accumulate && !apart);
          gemm(part, memory);
        }
        first = false;
      } while (deep.next());
      for (const Place& p : places) {
        if (apart) add_sums(c, part, p.sums, p.c);
      }
    }
  };
  // Many products are shared out, of few each by itself.
  const double each = gemm_nanoseconds(c.dtype, g.m, g.n, g.k) * static_cast<double>(inner.count());
  const Ranges ranges = share(outer.count(), each);
  // One thread need not give up turns for parts.
  const bool alone = takes_turns && num_threads() == 1;
  if (!c.shared || alone || (ranges.count() < 4 && each > alone_nanoseconds()))
    return some(0, outer.count(), scratch, c.shared);
  if (ranges.count() == 1) return some(0, outer.count(), scratch, false);
  parallel(ranges, [&](std::int64_t begin, std::int64_t end) {
    const Scratch own(contraction_scratch_bytes(c.dtype));
    some(begin, end, own.get(), false);
  });
}

}  // namespace tlaloc::cpu
