// Cases of windows, gather and scatter, joining and padding.
#include <array>

#include "tests/conformance/cases.h"
#include "tlaloc/ops/val_index.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Dim;
using ir::Vals;
using ops::OutOfBounds;
using ops::Update;
using List = std::vector<std::int64_t>;

std::vector<Dim> dims(const List& values) { return {values.begin(), values.end()}; }

void slices(Cases& cases, const Row&) {
  struct Example {
    Extents shape;
    List start, limit, strides;
  };
  const Example examples[] = {
      {{7}, {0}, {7}, {2}},
      {{7}, {3}, {3}, {1}},
      {{0}, {0}, {0}, {3}},
      {{1031}, {5}, {1000}, {7}},
      {{3, 5}, {1, 0}, {2, 5}, {1, 1}},
      {{3, 5}, {0, 1}, {3, 5}, {2, 3}},
      {{2, 3, 5}, {1, 1, 1}, {2, 3, 4}, {1, 2, 1}},
      {{2, 0, 3}, {0, 0, 1}, {2, 0, 3}, {1, 1, 1}},
      {{1, 2, 3, 1, 2, 3}, {0, 0, 1, 0, 1, 0}, {1, 2, 3, 1, 2, 3}, {1, 1, 1, 1, 1, 2}},
  };
  for (DType t : dtypes_by_size()) {
    for (const Example& e : examples) {
      cases.add(shape_label(t, e.shape) + list_label(e.start) + list_label(e.limit) +
                    list_label(e.strides),
                {cases.array(t, e.shape)}, [&](const Vals& p, Sizes&) -> Vals {
                  return {ops::slice(p[0], dims(e.start), dims(e.limit), dims(e.strides))};
                });
    }
  }
}

struct Window {
  Extents shape;
  std::int64_t batch_axes;
  List sizes;  // behind the batch axes
};
const Window kWindows[] = {
    {{}, 0, {}},         {{7}, 0, {3}},       {{7}, 0, {0}},
    {{1031}, 0, {1000}}, {{3, 5}, 0, {2, 4}}, {{3, 5}, 1, {2}},
    {{0, 5}, 1, {2}},    {{2, 3, 5}, 2, {1}}, {{2, 3, 1, 2, 2, 3}, 1, {2, 1, 1, 2, 2}}};
Extents whole_window(const Window& w) {
  Extents e(w.shape.begin(), w.shape.begin() + w.batch_axes);
  e.insert(e.end(), w.sizes.begin(), w.sizes.end());
  return e;
}
/// Starts from well below to well above what fits.
void add_starts(Cases& cases, const Window& w, DType index, std::vector<HostArray>& inputs) {
  const Extents batch(w.shape.begin(), w.shape.begin() + w.batch_axes);
  for (std::size_t k = 0; k < w.sizes.size(); ++k) {
    HostArray start = HostArray::uninitialized(index, batch);
    dispatch(index, [&]<class T>(TypeTag<T>) {
      if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
        for (T& x : start.as_mutable<T>()) {
          x = static_cast<T>(cases.integer(std::is_signed_v<T> ? -3 : 0, w.shape.back() + 2));
        }
      }
    });
    inputs.push_back(std::move(start));
  }
}
void dynamic_slices(Cases& cases, const Row&) {
  for (DType t : dtypes_by_size()) {
    for (const Window& w : kWindows) {
      if (w.sizes.empty()) continue;  // the builder drops the slice of everything
      for (DType index : {DType::i64, DType::i32, DType::u16}) {
        std::vector<HostArray> inputs{cases.array(t, w.shape)};
        add_starts(cases, w, index, inputs);
        cases.add(shape_label(t, w.shape) + list_label(w.sizes) + std::string(name(index)),
                  std::move(inputs), [&](const Vals& p, Sizes&) -> Vals {
                    return {ops::dynamic_slice(p[0], std::span(p).subspan(1), dims(w.sizes),
                                               w.batch_axes)};
                  });
      }
    }
  }
}
void dynamic_update_slices(Cases& cases, const Row&) {
  for (DType t : dtypes_by_size()) {
    for (const Window& w : kWindows) {
      if (w.sizes.empty()) continue;
      std::vector<HostArray> inputs{cases.array(t, w.shape), cases.array(t, whole_window(w))};
      add_starts(cases, w, DType::i32, inputs);
      cases.add(
          shape_label(t, w.shape) + list_label(w.sizes), std::move(inputs),
          [&](const Vals& p, Sizes&) -> Vals {
            return {ops::dynamic_update_slice(p[0], p[1], std::span(p).subspan(2), w.batch_axes)};
          });
    }
  }
}

// ---- gather and scatter ----

struct Take {
  Extents shape, indices;
  int axis;
};
const Take kTakes[] = {{{7}, {}, 0},        {{7}, {20}, 0},      {{3, 5}, {4}, 1},
                       {{3, 5}, {2, 3}, 0}, {{3, 0}, {2}, 0},    {{2, 3, 5}, {0}, 1},
                       {{33, 4}, {65}, 0},  {{2, 3, 2}, {4}, 2}, {{1, 2, 3, 2}, {2, 2}, 2}};
Extents taken_shape(const Take& t) {
  Extents e(t.shape.begin(), t.shape.begin() + t.axis);
  e.insert(e.end(), t.indices.begin(), t.indices.end());
  e.insert(e.end(), t.shape.begin() + t.axis + 1, t.shape.end());
  return e;
}
HostArray indices(Cases& cases, const Extents& extents, std::int64_t size, bool within) {
  HostArray a = HostArray::uninitialized(DType::i32, extents);
  const std::int64_t past = within ? 0 : 2;
  for (std::int32_t& i : a.as_mutable<std::int32_t>()) {
    i = static_cast<std::int32_t>(cases.integer(-past, size - 1 + past));
  }
  return a;
}
/// Windows of 2 by 2 (two index components, transposed), and an axis shared with the indices.
const ops::IndexDims kWindowDims{.window_axes = {0, 2}, .index_map = {1, 0}, .vector_axis = 0};
const ops::IndexDims kSharedDims{.collapsed_axes = {0},
                                 .operand_batch = {1},
                                 .indices_batch = {0},
                                 .index_map = {0},
                                 .vector_axis = 2};

constexpr std::array kModes{OutOfBounds::clip, OutOfBounds::fill, OutOfBounds::promise};
std::string mode_label(OutOfBounds m) {
  return std::string(ops::enum_names(m)[static_cast<std::size_t>(m)]) + "/";
}

void gathers(Cases& cases, const Row&) {
  for (DType t : dtypes_by_size()) {
    for (OutOfBounds mode : kModes) {
      const bool within = mode == OutOfBounds::promise;
      for (const Take& e : kTakes) {
        cases.add(
            mode_label(mode) + shape_label(t, e.shape) + list_label(e.indices),
            {cases.array(t, e.shape),
             indices(cases, e.indices, e.shape[static_cast<std::size_t>(e.axis)], within)},
            [&](const Vals& p, Sizes&) -> Vals { return {ops::take(p[0], p[1], e.axis, mode)}; });
      }
      cases.add(
          mode_label(mode) + "windows/" + std::string(name(t)),
          {cases.array(t, {3, 4}), indices(cases, {2, 5}, 2, within)},
          [&](const Vals& p, Sizes&) -> Vals {
            return {ops::gather(p[0], p[1], {.dims = kWindowDims, .sizes = {2, 2}, .mode = mode})};
          });
      cases.add(
          mode_label(mode) + "shared/" + std::string(name(t)),
          {cases.array(t, {3, 4}), indices(cases, {4, 5}, 3, within)},
          [&](const Vals& p, Sizes&) -> Vals {
            return {ops::gather(p[0], p[1], {.dims = kSharedDims, .sizes = {1, 1}, .mode = mode})};
          });
    }
  }
}

void scatters(Cases& cases, const Row&) {
  for (DType t : {DType::f32, DType::f64, DType::bf16, DType::i32, DType::u8}) {
    for (Update update : {Update::set, Update::add, Update::mul, Update::min, Update::max}) {
      for (OutOfBounds mode : kModes) {
        const bool within = mode == OutOfBounds::promise;
        const std::string label =
            std::string(ops::enum_names(update)[static_cast<std::size_t>(update)]) + "/" +
            mode_label(mode);
        for (const Take& e : kTakes) {
          cases.add(label + shape_label(t, e.shape) + list_label(e.indices),
                    {cases.array(t, e.shape),
                     indices(cases, e.indices, e.shape[static_cast<std::size_t>(e.axis)], within),
                     cases.array(t, taken_shape(e))},
                    [&](const Vals& p, Sizes&) -> Vals {
                      return {ops::scatter_at(p[0], p[1], p[2], e.axis, update, mode)};
                    });
        }
        cases.add(
            label + "windows/" + std::string(name(t)),
            {cases.array(t, {3, 4}), indices(cases, {2, 5}, 2, within), cases.array(t, {2, 5, 2})},
            [&](const Vals& p, Sizes&) -> Vals {
              return {ops::scatter(p[0], p[1], p[2],
                                   {.dims = kWindowDims, .update = update, .mode = mode})};
            });
        cases.add(
            label + "shared/" + std::string(name(t)),
            {cases.array(t, {3, 4}), indices(cases, {4, 5}, 3, within), cases.array(t, {4, 5})},
            [&](const Vals& p, Sizes&) -> Vals {
              return {ops::scatter(p[0], p[1], p[2],
                                   {.dims = kSharedDims, .update = update, .mode = mode})};
            });
      }
    }
  }
}

// ---- joining and padding ----

void pads(Cases& cases, const Row&) {
  struct Example {
    Extents shape;
    List low, high, interior;
  };
  const Example examples[] = {
      {{7}, {2}, {3}, {0}},
      {{7}, {0}, {0}, {2}},
      {{7}, {-2}, {-1}, {1}},
      {{7}, {-9}, {4}, {0}},
      {{0}, {2}, {1}, {3}},
      {{1}, {0}, {0}, {5}},
      {{3, 5}, {1, -1}, {-1, 2}, {2, 0}},
      {{0, 3}, {1, 0}, {0, 0}, {1, 1}},
      {{2, 1, 3, 1, 2, 2}, {0, 1, 0, 0, 0, 1}, {0, 0, -1, 2, 0, 0}, {1, 1, 1, 1, 0, 0}},
  };
  for (DType t : dtypes_by_size()) {
    for (const Example& e : examples) {
      cases.add(
          shape_label(t, e.shape) + list_label(e.low) + list_label(e.high) + list_label(e.interior),
          {cases.array(t, e.shape), cases.array(t, {})}, [&](const Vals& p, Sizes&) -> Vals {
            return {ops::pad(p[0], p[1], dims(e.low), dims(e.high), dims(e.interior))};
          });
    }
  }
}
void concatenations(Cases& cases, const Row&) {
  struct Example {
    std::vector<Extents> parts;
    int axis;
  };
  const Example examples[] = {
      {{{3}, {4}}, 0},
      {{{0}, {5}, {1}}, 0},
      {{{2, 3}, {1, 3}, {2, 3}}, 0},
      {{{2, 3}, {2, 0}, {2, 5}}, 1},
      {{{0, 3}, {0, 4}}, 1},
      {{{2, 3, 4}, {2, 5, 4}}, 1},
      {{{1, 2, 1, 3, 1, 2}, {1, 2, 1, 3, 2, 2}}, 4},
  };
  for (DType t : dtypes_by_size()) {
    for (const Example& e : examples) {
      std::vector<HostArray> inputs;
      std::string label = "axis" + std::to_string(e.axis);
      for (const Extents& part : e.parts) {
        inputs.push_back(cases.array(t, part));
        label += "/" + shape_label(t, part);
      }
      cases.add(label, std::move(inputs),
                [&](const Vals& p, Sizes&) -> Vals { return {ops::concatenate(p, e.axis)}; });
    }
  }
}
void reverses(Cases& cases, const Row&) {
  for (DType t : dtypes_by_size()) {
    for (const Extents& shape : shapes(false)) {
      if (shape.empty()) continue;
      List all, last{static_cast<std::int64_t>(shape.size()) - 1};
      for (std::size_t i = 0; i < shape.size(); ++i) all.push_back(static_cast<std::int64_t>(i));
      for (const List& axes : {all, last}) {
        cases.add(shape_label(t, shape) + list_label(axes), {cases.array(t, shape)},
                  [&](const Vals& p, Sizes&) -> Vals { return {ops::reverse(p[0], axes)}; });
        if (all == last) break;
      }
    }
  }
}

namespace rows = ops::rows;
constexpr std::array kIndexing{
    Row{&rows::Slice, slices},
    Row{&rows::DynamicSlice, dynamic_slices},
    Row{&rows::DynamicUpdateSlice, dynamic_update_slices},
    Row{&rows::Gather, gathers},
    // Duplicates meet in an order: small integers make sums exact in any.
    Row{&rows::Scatter, scatters, Values::small},
    Row{&rows::Pad, pads},
    Row{&rows::Concatenate, concatenations},
    Row{&rows::Reverse, reverses},
};

}  // namespace

std::span<const Row> indexing_rows() { return kIndexing; }

}  // namespace tlaloc::runtime::conformance
