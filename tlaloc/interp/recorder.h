// The history of one loop output: per-iteration values stacked, or concatenated along their
// leading dim.
#pragma once

#include <vector>

#include "tlaloc/base/host_array.h"

namespace tlaloc::interp {

class Recorder {
 public:
  struct Layout {
    DType dtype;
    Extents rest;  ///< the result's extents without the leading one
    bool flat = false;
    bool reverse = false;   ///< values arrive last one first
    std::int64_t rows = 0;  ///< how many to expect; more is fine
  };
  explicit Recorder(Layout layout);
  void add(const HostArray& value);
  /// Leading extent of the result so far.
  std::int64_t rows() const { return rows_; }
  /// The result, in index order.
  HostArray finish();

 private:
  void reserve(std::int64_t rows);
  Layout layout_;
  std::int64_t rows_ = 0, capacity_ = 0;
  std::size_t row_bytes_;
  HostArray buffer_;
  std::vector<std::int64_t> pieces_;  // rows of each value, where the order must be reversed
};

}  // namespace tlaloc::interp
