#include "tlaloc/cpu/gemm.h"

#include <algorithm>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm_integers.h"
#include "tlaloc/cpu/gemm_kernels.h"
#include "tlaloc/cpu/right_kernels.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {

double gemm_nanoseconds(DType dtype, double m, double n, double k) {
  const auto bytes = static_cast<double>(byte_size(dtype));
  // Wider elements come in shorter vectors, integers one by one; and 10 bytes of memory pass in a
  // nanosecond.
  const double rate = is_float(dtype) ? 200 / std::max(bytes, 4.0) : 1;
  return m * n * k / rate + (m * k + k * n + m * n) * bytes / 10;
}

namespace {

// A block of A (up to kBlockA bytes of [m, kGemmDepth]) stays in the second-level cache while a
// block of B passes, panel by panel; that one, kBlockB bytes, stays in the third. Sums that can't
// be added up in C (16 bits, or columns apart) lie behind a smaller block of B.
constexpr std::int64_t kBlockA = 384 * 1024, kBlockB = 2048 * 1024, kPadding = 64 * 1024;
constexpr std::int64_t kApartB = kBlockB / 4;
// Up to this many rows and columns packing A costs more than it saves.
constexpr std::int64_t kSmall = 256;
// So many rows read a panel of B often enough to pack that: its lines lie a row of B apart, which
// the first-level cache has few places for. Of 64 rows it takes a tenth of the time, of 256 it
// saves 4 %.
constexpr std::int64_t kManyRows = 128;
// Rows up to which reading B is most of the work.
constexpr std::int64_t kThin = 64;
// Rows of a part with a block of B of its own.
constexpr std::int64_t kApartRows = 192;
// Rows of a part with a block of B in common: B passes through the second-level cache for each.
constexpr std::int64_t kTogetherRows = 96;
constexpr double kPackNanoseconds = 0.5;  // an element
// What is contiguous across panels is read along, so many rows or columns at once.
constexpr std::int64_t kAtOnce = 8;
// What few rows are added up in.
constexpr std::int64_t kTileBytes = 64 * 1024;

constexpr std::int64_t down(std::int64_t n, std::int64_t step) { return n / step * step; }
constexpr std::int64_t up(std::int64_t n, std::int64_t step) {
  return (n + step - 1) / step * step;
}

/// Rows of the next tile: the last two share theirs where the last would have too few sums to hide
/// the latency of a multiply-add.
constexpr std::int64_t next_tile(std::int64_t left, std::int64_t most) {
  constexpr std::int64_t kEnough = 4;
  return left > most && left < most + kEnough ? (left + 1) / 2 : std::min(left, most);
}

/// Of a whole product.
double nanoseconds(const Gemm& g) {
  return gemm_nanoseconds(g.dtype, static_cast<double>(g.m), static_cast<double>(g.n),
                          static_cast<double>(g.k));
}

/// From panel to panel; not a power of two, which would put all of them into the same few lines of
/// the caches.
template <class T>
std::int64_t panel_elements(std::int64_t columns, std::int64_t depth) {
  return columns * depth + static_cast<std::int64_t>(64 / sizeof(T));
}

/// One product of T sums, from and to elements of S.
template <class S, class T>
class Product {
 public:
  Product(const Gemm& g, std::byte* scratch)
      : g_(g),
        kernels_(gemm_kernels<T>()),
        pack_(packer(kernels_)),
        block_a_(reinterpret_cast<T*>(scratch)),
        block_b_(reinterpret_cast<T*>(scratch + kBlockA)),
        tile_(reinterpret_cast<T*>(scratch + kBlockA + kBlockB + kPadding)) {
    if (g.packed_b && packing_of(dtype_of<T>) != g.packed_b.packing) {
      right_ = &right_kernels(g.packed_b.packing);
    }
  }

  void run() {
    orient();
    apart_ = !std::is_same_v<S, T> || g_.c.column != 1;
    const bool is_small = !apart_ && !g_.packed_b && g_.m <= kSmall && g_.n <= kSmall &&
                          kernels_.direct[0][0] != nullptr;
    if (g_.shared && nanoseconds(g_) > alone_nanoseconds()) {
      if (!is_small && !apart_ && g_.m > kThin) return together();
      // What parts pack for themselves is little of what they do.
      const std::int64_t rows = quarter(g_.m, 2 * kernels_.rows, kApartRows, kernels_.rows);
      const std::int64_t columns = quarter(g_.n, 2 * kernels_.columns, kSmall, kernels_.columns);
      if (apart_) return by_parts(rows, columns);
      if (g_.m > kThin) return by_parts(rows, g_.n);
      // B lies in memory by rows: only long pieces of them are read at full speed.
      const bool along = g_.b.column == 1 && g_.m <= GemmKernels<T>::kFewRows;
      return by_parts(g_.m, quarter(g_.n, (along ? 8 : 2) * kSmall, 8 * kSmall, kernels_.columns));
    }
    if (is_small) return small();
    const std::int64_t capacity = kBlockA / static_cast<std::int64_t>(sizeof(T));
    rows_ = down(capacity / kGemmDepth, kernels_.rows);
    // With few rows, reading B is what takes time: it is packed or expanded right before it is
    // used.
    const bool thin = g_.m <= kThin && (g_.packed_b ? right_ != nullptr : g_.b.column != 1);
    const std::int64_t block = (apart_ ? kApartB : kBlockB) / (sizeof(T) * kGemmDepth);
    std::int64_t columns = thin ? 4 * kernels_.columns : down(block, kernels_.columns);
    keeps_a_ = g_.m <= capacity / g_.k;
    streams_ = g_.packed_b && keeps_a_ && g_.m <= (right_ ? right_->rows : kernels_.rows);
    if (streams_) columns = apart_ ? down(block, kernels_.columns) : g_.n;
    if (apart_) rows_ = std::min(rows_, down((kBlockB - kApartB) / (sizeof(T) * columns), 1));
    tile_rows_ = kernels_.rows;
    if (std::is_same_v<S, T> && !g_.packed_b) {
      constexpr std::int64_t kFew = GemmKernels<T>::kFewRows;
      strips_ = g_.b.column == 1 && g_.m <= kFew;
      dots_ = !strips_ && g_.b.row == 1 && g_.m <= kFew && g_.n >= kernels_.columns / 2;
      if (strips_) columns = kTileBytes / (static_cast<std::int64_t>(sizeof(T)) * g_.m);
      if (dots_) columns = kernels_.columns / 2;
      if (strips_ || dots_) tile_rows_ = kFew;
    }
    if (keeps_a_) pack_rows();
    for (std::int64_t j = 0; j < g_.n; j += columns) {
      block_of_columns(j, std::min(columns, g_.n - j));
    }
  }

 private:
  static typename GemmKernels<T>::Pack packer(const GemmKernels<T>& k) {
    if constexpr (std::is_same_v<S, T>) return k.pack;
    if constexpr (std::is_same_v<S, Half>) return k.pack_f16;
    if constexpr (std::is_same_v<S, BFloat16>) return k.pack_bf16;
  }
  static const S* at(const Matrix& m, std::int64_t i, std::int64_t j) {
    return static_cast<const S*>(m.data) + i * m.row + j * m.column;
  }
  S* result(std::int64_t i, std::int64_t j) { return const_cast<S*>(at(g_.c, i, j)); }

  /// Kernels run along columns of C that are neighbours: the transposed product has the same sums.
  void orient() {
    if (g_.packed_b) return;
    const bool along_rows = g_.c.row == 1 || g_.m == 1, along_columns = g_.c.column == 1;
    const bool wide = g_.n > 1 || g_.m == 1;
    if (along_columns && wide) return;
    if (g_.n > 1 && !along_rows) return;
    std::swap(g_.m, g_.n);
    std::swap(g_.a, g_.b);
    g_.a = g_.a.transposed();
    g_.b = g_.b.transposed();
    g_.c = g_.c.transposed();
  }

  // ---- by the gang ----

  /// A quarter of it, within these bounds.
  static std::int64_t quarter(std::int64_t n, std::int64_t least, std::int64_t most,
                              std::int64_t unit) {
    return up(std::clamp((n - 1) / 4 + 1, least, most), unit);
  }

  /// Parts of C that are products of their own.
  void by_parts(std::int64_t rows, std::int64_t columns) {
    const std::int64_t across = (g_.n - 1) / columns + 1;
    parallel(((g_.m - 1) / rows + 1) * across, [&](std::int64_t part) {
      const std::int64_t i = part / across * rows, j = part % across * columns;
      Gemm g = g_;
      g.shared = false;
      g.m = std::min(rows, g.m - i);
      g.n = std::min(columns, g.n - j);
      g.a.data = at(g.a, i, 0);
      g.c.data = at(g.c, i, j);
      if (g.packed_b) {
        g.packed_b.data += j / kernels_.columns * panel_bytes(g.packed_b.packing, g.k);
      } else {
        g.b.data = at(g.b, 0, j);
      }
      const Scratch scratch(gemm_scratch_bytes(g.dtype));
      Product(g, scratch.get()).run();
    });
  }

  /// Block by block of B, which all pack together; then each packs some rows of A.
  void together() {
    const std::int64_t rows = quarter(g_.m, 2 * kernels_.rows, kTogetherRows, kernels_.rows);
    const std::int64_t columns = down(kBlockB / (sizeof(T) * kGemmDepth), kernels_.columns);
    tile_rows_ = kernels_.rows;
    for (std::int64_t j = 0; j < g_.n; j += columns) {
      const std::int64_t some = std::min(columns, g_.n - j);
      for (std::int64_t k = 0; k < g_.k; k += kGemmDepth) {
        const Right b = block_of_b(j, some, k);
        const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
        parallel(Ranges{g_.m, rows}, [&](std::int64_t begin, std::int64_t end) {
          const std::int64_t packed = (end - begin) * depth;
          const Scratch scratch(sizeof(T) * usize(packed + kernels_.rows * kernels_.columns));
          T* const a = reinterpret_cast<T*>(scratch.get());
          pack_rows(begin, end - begin, k, a);
          if constexpr (std::is_same_v<S, T>) {
            tiles(a, end - begin, depth, b, some, {result(begin, j), g_.c.row},
                  k > 0 || g_.accumulate, a + packed);
          }
        });
      }
    }
  }

  // ---- alone ----

  /// A as it lies; for few rows B too, if its rows are contiguous.
  void small() {
    if constexpr (std::is_same_v<S, T>) {
      const std::int64_t width = kernels_.columns;
      for (std::int64_t k = 0; k < g_.k; k += kGemmDepth) {
        const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
        for (std::int64_t j = 0; j < g_.n; j += width) {
          const std::int64_t columns = std::min(width, g_.n - j);
          const T* b = at(g_.b, k, j);
          std::int64_t row = g_.b.row;
          if (g_.b.column != 1 || g_.m >= kManyRows) {
            pack_columns(k, depth, j, 0, columns);
            b = block_b_;
            row = width;
          }
          const auto& tiles = kernels_.direct[columns > width / 2];
          for (std::int64_t i = 0, rows = 0; i < g_.m; i += rows) {
            rows = next_tile(g_.m - i, kernels_.rows);
            tiles[rows - 1](depth, at(g_.a, i, k), g_.a.row, g_.a.column, b, row, result(i, j),
                            g_.c.row, columns, k > 0 || g_.accumulate);
          }
        }
      }
    }
  }

  /// All of A, by blocks of rows as they meet B.
  void pack_rows() {
    for (std::int64_t k = 0; k < g_.k; k += kGemmDepth) {
      const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
      for (std::int64_t i = 0; i < g_.m; i += rows_) {
        pack_rows(i, std::min(rows_, g_.m - i), k, block_a_ + k * g_.m + i * depth);
      }
    }
  }
  /// Tiles of these rows, for one block of k.
  void pack_rows(std::int64_t first, std::int64_t count, std::int64_t k, T* out) {
    const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
    const std::int64_t step = g_.a.row == 1 ? kAtOnce : depth;
    for (std::int64_t q = 0; q < depth; q += step) {
      const std::int64_t some = std::min(step, depth - q);
      for (std::int64_t i = 0, rows = 0; i < count; i += rows) {
        rows = next_tile(count - i, tile_rows_);
        pack_(at(g_.a, first + i, k + q), g_.a.row, g_.a.column, rows, some, rows,
              out + i * depth + q * rows);
      }
    }
  }

  void pack_columns(std::int64_t k, std::int64_t depth, std::int64_t first, std::int64_t begin,
                    std::int64_t end) {
    const std::int64_t width = kernels_.columns;
    const std::int64_t step = g_.b.column == 1 ? kAtOnce : depth;
    for (std::int64_t q = 0; q < depth; q += step) {
      const std::int64_t some = std::min(step, depth - q);
      for (std::int64_t j = begin; j < end; j += width) {
        pack_(at(g_.b, k + q, first + j), g_.b.column, g_.b.row, std::min(width, end - j), some,
              width, block_b_ + j / width * panel_elements<T>(width, depth) + q * width);
      }
    }
  }
  void expand_columns(std::int64_t k, std::int64_t depth, std::int64_t first, std::int64_t begin,
                      std::int64_t end) {
    if constexpr (std::is_same_v<T, float>) {
      const std::int64_t width = kernels_.columns;
      for (std::int64_t j = begin; j < end; j += width) {
        right_->expand(packed_panels(first + j, k).data, depth,
                       block_b_ + j / width * panel_elements<T>(width, depth));
      }
    }
  }
  /// Panels of B, `stride` bytes apart.
  struct Right {
    const std::byte* data;
    std::int64_t stride;
  };
  /// From column j and row k on, which start a panel and a block.
  Right packed_panels(std::int64_t j, std::int64_t k) const {
    const std::int64_t width = kernels_.columns, panel = panel_bytes(g_.packed_b.packing, g_.k);
    const std::byte* const data = g_.packed_b.data + j / width * panel;
    return {data + packed_offset(g_.packed_b.packing, k), panel};
  }
  Right block_of_b(std::int64_t j, std::int64_t columns, std::int64_t k) {
    const std::int64_t width = kernels_.columns, depth = std::min(kGemmDepth, g_.k - k);
    if (g_.packed_b && !right_) return packed_panels(j, k);
    const auto pack = [&](std::int64_t begin, std::int64_t end) {
      right_ ? expand_columns(k, depth, j, begin, end) : pack_columns(k, depth, j, begin, end);
    };
    if (g_.shared) {
      parallel(share(columns, kPackNanoseconds * static_cast<double>(depth), width), pack);
    } else {
      pack(0, columns);
    }
    return {reinterpret_cast<const std::byte*>(block_b_),
            panel_elements<T>(width, depth) * static_cast<std::int64_t>(sizeof(T))};
  }

  void block_of_columns(std::int64_t j, std::int64_t count) {
    const std::int64_t rows = apart_ ? rows_ : g_.m;
    for (std::int64_t i = 0; i < g_.m; i += rows) {
      const std::int64_t some = std::min(rows, g_.m - i);
      if (apart_) {
        sums_ = reinterpret_cast<T*>(reinterpret_cast<std::byte*>(block_b_) + kApartB + kPadding);
        sums_row_ = up(count, kernels_.columns);
      } else if constexpr (std::is_same_v<S, T>) {
        sums_ = result(i, j);
        sums_row_ = g_.c.row;
      }
      if (apart_ && g_.accumulate) {
        each(i, some, j, count, [](S& c, T& sum) { sum = static_cast<T>(c); });
      }
      if (streams_) {
        stream(i, some, j, count);
      } else {
        for (std::int64_t k = 0; k < g_.k; k += kGemmDepth) {
          strips_ || dots_ ? few_rows(j, count, k) : block(i, some, j, count, k);
        }
      }
      if (apart_) each(i, some, j, count, [](S& c, T& sum) { c = static_cast<S>(sum); });
    }
  }

  /// All rows, with B where it lies.
  void few_rows(std::int64_t j, std::int64_t columns, std::int64_t k) {
    const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
    const T* a = block_a_ + (keeps_a_ ? k * g_.m : 0);
    if (!keeps_a_) pack_rows(0, g_.m, k, block_a_);
    // Columns come in vectors: the last ones again with some before them.
    const std::int64_t row = strips_ ? columns : kernels_.columns / 2, skip = row - columns;
    if constexpr (std::is_same_v<S, T>) {
      const T* right = at(g_.b, k, j - skip);
      if (strips_) {
        kernels_.strips[g_.m - 1](depth, row, a, right, g_.b.row, tile_);
      } else {
        kernels_.dots[g_.m - 1](depth, a, right, g_.b.column, tile_);
      }
    }
    const bool add = k > 0 || g_.accumulate;
    for (std::int64_t r = 0; r < g_.m; ++r) {
      T* to = sums_ + r * sums_row_;
      const T* from = tile_ + r * row + skip;
      for (std::int64_t q = 0; q < columns; ++q) to[q] = add ? to[q] + from[q] : from[q];
    }
  }

  void block(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns,
             std::int64_t k) {
    const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
    const Right b = block_of_b(j, columns, k);
    for (std::int64_t r = 0; r < rows; r += rows_) {
      const std::int64_t some = std::min(rows_, rows - r);
      const T* a = block_a_;
      if (keeps_a_) {
        a += k * g_.m + (i + r) * depth;
      } else {
        pack_rows(i + r, some, k, block_a_);
      }
      tiles(a, some, depth, b, columns, {sums_ + r * sums_row_, sums_row_}, k > 0 || g_.accumulate,
            tile_);
    }
  }

  struct Sums {
    T* data;
    std::int64_t row;
  };
  /// `spare`: room for a tile.
  void tiles(const T* a, std::int64_t rows, std::int64_t depth, const Right& b,
             std::int64_t columns, const Sums& c, bool add, T* spare) {
    const std::int64_t width = kernels_.columns;
    const bool thin = rows <= kernels_.rows;
    for (std::int64_t j = 0; j < columns;) {
      std::int64_t taken = width;
      for (std::int64_t i = 0, some = 0; i < rows; i += some) {
        some = next_tile(rows - i, kernels_.rows);
        const T* left = a + i * depth;
        const Right right{b.data + j / width * b.stride, b.stride};
        const Sums to{c.data + i * c.row + j, c.row};
        if (const auto& wide = kernels_.tiles.wide[some - 1];
            thin && j + wide.panels * width <= columns) {
          taken = wide.panels * width;
          wide.run(depth, left, right.data, right.stride, to.data, to.row, width, add);
        } else {
          narrow(kernels_.tiles, left, some, depth, right, columns - j, to, add, spare);
        }
      }
      j += taken;
    }
  }
  /// A tile with one panel, of which so many columns are there.
  void narrow(const TileKernels<T>& kernels, const T* a, std::int64_t rows, std::int64_t depth,
              const Right& b, std::int64_t columns, const Sums& c, bool add, T* spare) {
    const std::int64_t width = kernels_.columns;
    const auto run = kernels.narrow[rows - 1].run;
    if (columns >= width || apart_) return run(depth, a, b.data, 0, c.data, c.row, 0, add);
    run(depth, a, b.data, 0, spare, width, 0, false);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t q = 0; q < columns; ++q) {
        T& sum = c.data[r * c.row + q];
        sum = add ? sum + spare[r * width + q] : spare[r * width + q];
      }
    }
  }

  /// Few rows, and B packed: its panels pass once, as several streams that are far from each other
  /// and read in the order of their addresses, which is what memory is fastest at.
  void stream(std::int64_t first, std::int64_t rows, std::int64_t j, std::int64_t columns) {
    const TileKernels<T>& kernels = stream_kernels();
    const std::int64_t width = kernels_.columns;
    const auto& wide = kernels.wide[rows - 1];
    const std::int64_t each = columns / width / wide.panels;
    auto blocks = [&](const auto& run) {
      for (std::int64_t k = 0; k < g_.k; k += kGemmDepth) {
        const std::int64_t depth = std::min(kGemmDepth, g_.k - k);
        run(k, depth, block_a_ + k * g_.m + first * depth, k > 0 || g_.accumulate);
      }
    };
    for (std::int64_t p = 0; p < each; ++p) {
      blocks([&](std::int64_t k, std::int64_t depth, const T* a, bool add) {
        const Right b = packed_panels(j + p * width, k);
        wide.run(depth, a, b.data, each * b.stride, sums_ + p * width, sums_row_, each * width,
                 add);
      });
    }
    for (std::int64_t q = each * wide.panels * width; q < columns; q += width) {
      blocks([&](std::int64_t k, std::int64_t depth, const T* a, bool add) {
        narrow(kernels, a, rows, depth, packed_panels(j + q, k), columns - q,
               {sums_ + q, sums_row_}, add, tile_);
      });
    }
  }
  const TileKernels<T>& stream_kernels() const {
    if constexpr (std::is_same_v<T, float>) {
      if (right_) return right_->tiles;
    }
    return kernels_.tiles;
  }

  /// For sums that lie apart, with their places in C.
  template <class F>
  void each(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t columns, const F& f) {
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t q = 0; q < columns; ++q) f(*result(i + r, j + q), sums_[r * sums_row_ + q]);
    }
  }

  Gemm g_;
  const GemmKernels<T>& kernels_;
  typename GemmKernels<T>::Pack pack_;
  const RightKernels* right_ = nullptr;  ///< of a packed B whose elements are not of T
  T *block_a_, *block_b_, *tile_;
  bool apart_ = false;  ///< sums lie apart from C
  std::int64_t tile_rows_ = 0;
  bool dots_ = false;      ///< so it is too, with columns that are contiguous
  bool strips_ = false;    ///< B is read where it lies
  bool keeps_a_ = false;   ///< all of A fits its block
  bool streams_ = false;   ///< packed panels of B pass once
  std::int64_t rows_ = 0;  ///< of a block of A
  T* sums_ = nullptr;
  std::int64_t sums_row_ = 0;
};

/// The sums over no k.
template <class S>
void clear(const Gemm& g) {
  if (g.accumulate) return;
  S* c = static_cast<S*>(const_cast<void*>(g.c.data));
  for (std::int64_t i = 0; i < g.m; ++i) {
    for (std::int64_t j = 0; j < g.n; ++j) c[i * g.c.row + j * g.c.column] = S(0);
  }
}

}  // namespace

std::size_t gemm_scratch_bytes(DType dtype) {
  return is_float(dtype) ? usize(kBlockA + kBlockB + kPadding + kTileBytes) : 0;
}

void gemm(const Gemm& g, std::byte* scratch) {
  if (g.m == 0 || g.n == 0) return;
  dispatch(g.dtype, [&]<class S>(TypeTag<S>) {
    if constexpr (std::is_same_v<S, bool>) {
      throw InternalError("a product of matrices of bool");
    } else if (g.k == 0) {
      clear<S>(g);
    } else if constexpr (std::is_integral_v<S>) {
      const double row = g.shared ? nanoseconds(g) / static_cast<double>(g.m) : 0;
      parallel(share(g.m, row), [&](std::int64_t begin, std::int64_t end) {
        Gemm part = g;
        part.m = end - begin;
        part.a.data = static_cast<const S*>(g.a.data) + begin * g.a.row;
        part.c.data = static_cast<const S*>(g.c.data) + begin * g.c.row;
        integer_gemm<S>(part);
      });
    } else {
      Product<S, ComputeType<S>>(g, scratch).run();
    }
  });
}

}  // namespace tlaloc::cpu
