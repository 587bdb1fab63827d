#include "tlaloc/cpu/integer_product.h"

#include <algorithm>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/integer_kernels.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {
namespace {

constexpr std::int64_t kBlock = 32;
// Rows that are rounded at once: with 1.4 bytes an element they stay in the second-level cache
// while the panels pass.
constexpr std::int64_t kRowsAtOnce = 240;
// Of one thread: rounding an element; a multiply-add; a byte of weights from memory.
constexpr double kRoundNanoseconds = 0.2, kProductNanoseconds = 0.008, kByteNanoseconds = 0.04;

/// Rows of x as the kernels take them, which is the same for all packings.
class Rows {
 public:
  Rows(const IntegerProduct& p, std::int64_t first, std::int64_t count)
      : p_(p),
        first_(first),
        count_(count),
        blocks_(p.k / kBlock),
        memory_(4 * usize(checked_mul(count, blocks_ * IntegerKernels::kWords))) {
    round(*integer_kernels(p.sides[0].right.packing));
  }

  const IntegerProduct& product() const { return p_; }
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  std::int64_t blocks() const { return blocks_; }
  std::int32_t* tile(std::int64_t row) const {
    return reinterpret_cast<std::int32_t*>(memory_.get()) + row * blocks_ * IntegerKernels::kWords;
  }

 private:
  void round(const IntegerKernels& kernels) {
    parallel(share(count_, kRoundNanoseconds * static_cast<double>(p_.k)),
             [&](std::int64_t begin, std::int64_t end) {
               for (std::int64_t i = begin; i < end; ++i) {
                 const std::int64_t top = i / kernels.rows * kernels.rows;
                 kernels.round(p_.x + (first_ + i) * p_.k, blocks_, i - top,
                               std::min(kernels.rows, count_ - top), tile(top));
               }
             });
  }

  const IntegerProduct& p_;
  std::int64_t first_, count_, blocks_;
  Scratch memory_;
};

/// Their products with one right side.
class Multiplication {
 public:
  Multiplication(const Rows& rows, const IntegerProduct::Side& side)
      : rows_(rows),
        side_(side),
        kernels_(*integer_kernels(side.right.packing)),
        count_(rows.count()),
        panel_bytes_(panel_bytes(side.right.packing, rows.product().k)) {}

  void run() const {
    const std::int64_t width = kernels_.columns;
    const double column = static_cast<double>(rows_.product().k) *
                          (kByteNanoseconds + kProductNanoseconds * static_cast<double>(count_));
    parallel(share(side_.n, column, width), [&](std::int64_t begin, std::int64_t end) {
      if (count_ <= kernels_.rows) return stream(begin, end);
      for (std::int64_t j = begin; j < end; j += width) {
        for (std::int64_t i = 0; i < count_; i += kernels_.rows) {
          narrow(i, std::min(kernels_.rows, count_ - i), j, end);
        }
      }
    });
  }

 private:
  const std::byte* panel(std::int64_t column) const {
    return side_.right.data + column / kernels_.columns * panel_bytes_;
  }
  float* result(std::int64_t row, std::int64_t column) const {
    return side_.y + (rows_.first() + row) * side_.y_row + column;
  }

  /// Rows of one tile with one panel, of which columns up to `end` are there.
  void narrow(std::int64_t i, std::int64_t rows, std::int64_t j, std::int64_t end) const {
    const auto run = kernels_.narrow[rows - 1].run;
    const std::int64_t width = kernels_.columns;
    if (end - j >= width)
      return run(rows_.blocks(), rows_.tile(i), panel(j), 0, result(i, j), side_.y_row, 0);
    constexpr std::int64_t kMostColumns = 64;
    float some[IntegerKernels::kMaxRows * kMostColumns];
    run(rows_.blocks(), rows_.tile(i), panel(j), 0, some, width, 0);
    for (std::int64_t r = 0; r < rows; ++r) {
      std::copy_n(some + r * width, end - j, result(i + r, j));
    }
  }
  /// Several panels at once, far from each other, each in the order of its addresses.
  void stream(std::int64_t begin, std::int64_t end) const {
    const auto& wide = kernels_.wide[count_ - 1];
    const std::int64_t width = kernels_.columns, each = (end - begin) / width / wide.panels;
    const std::int64_t stride = each * panel_bytes_;
    for (std::int64_t q = 0; q < each; ++q) {
      const std::int64_t j = begin + q * width;
      wide.run(rows_.blocks(), rows_.tile(0), panel(j), stride, result(0, j), side_.y_row,
               each * width);
    }
    for (std::int64_t j = begin + each * wide.panels * width; j < end; j += width) {
      narrow(0, count_, j, end);
    }
  }

  const Rows& rows_;
  const IntegerProduct::Side& side_;
  const IntegerKernels& kernels_;
  std::int64_t count_, panel_bytes_;
};

}  // namespace

bool multiplies_by_integers(Packing packing) { return integer_kernels(packing) != nullptr; }

void multiply_by_integers(const IntegerProduct& p) {
  for (std::int64_t i = 0; i < p.m; i += kRowsAtOnce) {
    const Rows rows(p, i, std::min(kRowsAtOnce, p.m - i));
    for (const IntegerProduct::Side& side : p.sides) Multiplication(rows, side).run();
  }
}

}  // namespace tlaloc::cpu
