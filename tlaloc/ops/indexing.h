// What gather and scatter share: shapes by dimension numbers, and the walk over windows.
#pragma once

#include "tlaloc/ops/index_value.h"
#include "tlaloc/ops/op.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::ops {

/// Checks `dims` for an operand, indices and a windowed array of rank `windowed_rank`. The window
/// has one size per operand axis. Fails with the op's name.
void check_index_dims(InferContext& c, const IndexDims& dims, Type operand, Type indices,
                      int windowed_rank);
/// Rank of the windowed array.
int windowed_rank(const IndexDims& dims, Type operand, Type indices);
/// The axes of the indices without the index vector, in order: what the windowed array's other axes
/// are.
AxisList index_axes(const IndexDims& dims, int indices_rank);
/// Operand axes that have an axis in the windowed array, in order.
AxisList window_operand_axes(const IndexDims& dims, int operand_rank);

/// Window sizes, one per operand axis, of a scatter.
std::vector<Dim> window_sizes(const IndexDims& dims, Type operand, Type updates);
/// The tangent of a scatter-mul whose elements may be updated more than once; see scatter_mul.cc.
Val scatter_mul_jvp(Val x, Val indices, Val updates, const ScatterAttrs& a, Val dx, Val du);

/// Dimension numbers after a lane axis came in front of the operand and windowed array only, of the
/// indices and windowed array only, or of all three.
IndexDims with_operand_lanes(IndexDims dims);
IndexDims with_index_lanes(IndexDims dims);
IndexDims with_all_lanes(IndexDims dims);

/// The windows of one application: offsets into operand and windowed array, by index vector.
class WindowWalk {
 public:
  /// `sizes`: one per operand axis.
  WindowWalk(const IndexDims& dims, const Extents& operand, const HostArray& indices,
             const Extents& windowed, const Extents& sizes, OutOfBounds mode);

  /// Calls visit(operand offset, windowed offset, fits) in row-major order of the indices. With
  /// mode fill a window that does not fit has an offset of 0 and fits = false.
  template <class F>
  void each(const F& visit) const {
    for_each_position([&](std::int64_t at, std::int64_t in_windowed, const Extents& index) {
      std::int64_t offset = 0;
      for (std::size_t k = 0; k < dims_.operand_batch.size(); ++k) {
        offset += operand_step_[at_axis(dims_.operand_batch[k])] * index[batch_position_[k]];
      }
      bool fits = true;
      for (std::size_t k = 0; k < dims_.index_map.size(); ++k) {
        const std::size_t axis = at_axis(dims_.index_map[k]);
        const std::int64_t last = operand_[axis] - sizes_[axis];
        const std::int64_t i =
            index_value(indices_, at + static_cast<std::int64_t>(k) * vector_step_);
        const std::int64_t inside = clamped_index(i, last);
        if (mode_ == OutOfBounds::fill && inside != i) fits = false;
        offset += operand_step_[axis] * inside;
      }
      visit(fits ? offset : 0, in_windowed, fits);
    });
  }
  /// Calls visit(operand offset, windowed offset) for the elements of one window.
  template <class F>
  void elements(std::int64_t operand, std::int64_t windowed, const F& visit) const {
    Extents index(window_.size(), 0);
    std::int64_t count = 1;
    for (std::int64_t e : window_) count *= e;
    for (std::int64_t i = 0; i < count; ++i) {
      visit(operand, windowed);
      for (std::size_t axis = window_.size(); axis-- > 0;) {
        operand += window_operand_step_[axis];
        windowed += window_step_[axis];
        if (++index[axis] < window_[axis]) break;
        operand -= window_operand_step_[axis] * window_[axis];
        windowed -= window_step_[axis] * window_[axis];
        index[axis] = 0;
      }
    }
  }

 private:
  static std::size_t at_axis(std::int64_t axis) { return static_cast<std::size_t>(axis); }
  void for_each_position(
      const std::function<void(std::int64_t, std::int64_t, const Extents&)>& visit) const;

  const IndexDims& dims_;
  const HostArray& indices_;
  Extents operand_, operand_step_, sizes_;
  OutOfBounds mode_;
  Extents position_extents_, position_step_, position_windowed_step_;
  std::vector<std::size_t> batch_position_;  // of each batch axis among the position axes
  std::int64_t vector_step_ = 0;
  Extents window_, window_operand_step_, window_step_;
};

}  // namespace tlaloc::ops
