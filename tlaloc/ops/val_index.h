// The vocabulary of moving elements: windows, gather, scatter, pad, concatenate. See val_ops.h.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "tlaloc/ops/axes.h"
#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

// ---- windows ----
/// Elements start, start + stride, … below limit, per axis. 0 <= start <= limit <= size.
Val slice(Val x, std::span<const Dim> start, std::span<const Dim> limit,
          std::span<const Dim> strides);
Val slice(Val x, std::span<const Dim> start, std::span<const Dim> limit);
/// The elements [start, limit) of one axis.
Val slice_axis(Val x, int axis, Dim start, Dim limit);
/// A window of `sizes` at `starts` (one integer per axis behind the first `batch_axes`, each of
/// their shape). A start is clamped so that the window fits.
Val dynamic_slice(Val x, std::span<const Val> starts, std::span<const Dim> sizes,
                  std::int64_t batch_axes = 0);
/// x with the window at `starts` replaced; the same clamping.
Val dynamic_update_slice(Val x, Val update, std::span<const Val> starts,
                         std::int64_t batch_axes = 0);

// ---- gather and scatter ----
/// What happens to a window that does not fit into the operand.
enum class OutOfBounds : std::uint8_t {
  clip,    ///< it is moved until it fits
  fill,    ///< gather: the whole window reads `fill`; scatter: the whole window is dropped
  promise  ///< the caller promises that it does not happen; evaluated as clip
};
constexpr std::array<std::string_view, 3> enum_names(OutOfBounds) {
  return {"clip", "fill", "promise"};
}

/// StableHLO's dimension numbers, shared by gather and scatter so that each is the other's
/// transpose as it stands. "Windowed" is gather's result, or scatter's updates.
struct IndexDims {
  AxisList window_axes;          ///< of windowed, increasing: offset_dims, update_window_dims
  AxisList collapsed_axes;       ///< of the operand, increasing: windows of size 1 without an axis
  AxisList operand_batch;        ///< of the operand, increasing: axes shared with the indices …
  AxisList indices_batch;        ///< … and their axes there
  AxisList index_map;            ///< component k of an index vector moves along axis index_map[k]
  std::int64_t vector_axis = 0;  ///< of the indices; their rank where the vector is implicit
  bool operator==(const IndexDims&) const = default;
  static constexpr auto fields() {
    return std::tuple(ir::field("window_axes", &IndexDims::window_axes),
                      ir::field("collapsed_axes", &IndexDims::collapsed_axes),
                      ir::field("operand_batch", &IndexDims::operand_batch),
                      ir::field("indices_batch", &IndexDims::indices_batch),
                      ir::field("index_map", &IndexDims::index_map),
                      ir::field("vector_axis", &IndexDims::vector_axis));
  }
};

struct GatherAttrs {
  IndexDims dims;
  std::vector<Dim> sizes;  ///< of the window, one per operand axis
  OutOfBounds mode = OutOfBounds::clip;
  /// For mode fill. None: NaN, the least signed or the greatest unsigned integer, true.
  std::optional<double> fill;
  bool sorted = false;  ///< a promise about the index vectors, for back ends
  static constexpr auto fields() {
    return std::tuple(ir::field("dims", &GatherAttrs::dims),
                      ir::field("sizes", &GatherAttrs::sizes),
                      ir::field("mode", &GatherAttrs::mode), ir::field("fill", &GatherAttrs::fill),
                      ir::field("sorted", &GatherAttrs::sorted));
  }
};
Val gather(Val x, Val indices, GatherAttrs attrs);

enum class Update : std::uint8_t { set, add, mul, min, max };
constexpr std::array<std::string_view, 5> enum_names(Update) {
  return {"set", "add", "mul", "min", "max"};
}
struct ScatterAttrs {
  IndexDims dims;
  Update update = Update::add;
  OutOfBounds mode = OutOfBounds::fill;
  bool sorted = false;
  bool unique = false;  ///< a promise that no element is updated twice
  static constexpr auto fields() {
    return std::tuple(
        ir::field("dims", &ScatterAttrs::dims), ir::field("update", &ScatterAttrs::update),
        ir::field("mode", &ScatterAttrs::mode), ir::field("sorted", &ScatterAttrs::sorted),
        ir::field("unique", &ScatterAttrs::unique));
  }
};
Val scatter(Val x, Val indices, Val updates, ScatterAttrs attrs);

/// x[…, indices, …] on one axis: the axis is replaced by the axes of `indices`. A negative index is
/// out of bounds.
Val take(Val x, Val indices, int axis, OutOfBounds mode = OutOfBounds::clip);
/// The inverse: x with x[…, indices, …] (op)= updates; `updates` has the shape of take's result.
Val scatter_at(Val x, Val indices, Val updates, int axis, Update update,
               OutOfBounds mode = OutOfBounds::clip);

// ---- joining and padding ----
/// Zero or more elements of `value` around and between those of x; negative low or high crops.
Val pad(Val x, Val value, std::span<const Dim> low, std::span<const Dim> high,
        std::span<const Dim> interior);
Val concatenate(std::span<const Val> parts, int axis);
Val reverse(Val x, std::span<const std::int64_t> axes);

}  // namespace tlaloc::ops
