// Windows, gather, scatter, pad, concatenate, reverse.
#include "tests/ops/case.h"
#include "tlaloc/ops/index_testing.h"

namespace tlaloc::testing {
namespace {

using ops::AxisList;
using ops::GatherAttrs;
using ops::IndexDims;
using ops::OutOfBounds;
using ops::ScatterAttrs;
using ops::Update;
using Dims = std::vector<Dim>;

HostArray index(std::int64_t i) { return ints({}, {i}); }

void slices(Cases& cases) {
  cases.push_back(
      {.name = "slice",
       .args = {noise({4, 5})},
       .build = [](const Vals& p) { return Vals{ops::slice(p[0], Dims{1, 0}, Dims{3, 4})}; },
       .linear = {true},
       .symbolic = false});
  cases.push_back({.name = "slice/strided",
                   .args = {noise({4, 5})},
                   .build =
                       [](const Vals& p) {
                         return Vals{ops::slice(p[0], Dims{1, 0}, p[0].shape(), Dims{2, 3})};
                       },
                   .linear = {true}});
  cases.push_back({.name = "slice/overlapping", .args = {noise({6})}, .build = [](const Vals& p) {
                     const Dim n = p[0].dim(0);
                     return Vals{ops::slice_axis(p[0], 0, 0, n - 2) *
                                 ops::slice_axis(p[0], 0, 1, n - 1)};
                   }});
  for (std::int64_t i : {1, -3, 9}) {
    const std::string at = "/at " + std::to_string(i);
    cases.push_back({.name = "dynamic_slice" + at,
                     .args = {noise({4, 5}), index(i), index(2)},
                     .build =
                         [](const Vals& p) {
                           return Vals{ops::dynamic_slice(p[0], Vals{p[1], p[2]}, Dims{2, 3})};
                         },
                     .linear = {true, false, false},
                     .symbolic = false});
    cases.push_back({.name = "dynamic_update_slice" + at,
                     .args = {noise({4, 5}), noise({2, 3}, 2), index(i), index(1)},
                     .build =
                         [](const Vals& p) {
                           return Vals{ops::dynamic_update_slice(p[0], p[1], Vals{p[2], p[3]})};
                         },
                     .linear = {true, true, false, false}});
    cases.push_back({.name = "dynamic_index" + at,
                     .args = {noise({4, 5}), index(i), index(1)},
                     .build = [](const Vals& p) {
                       return Vals{ops::dynamic_index(p[0], p[1]) * ops::dynamic_index(p[0], p[2])};
                     }});
  }
  cases.push_back({.name = "dynamic_update_index",
                   .args = {noise({4, 2}), noise({2}, 2), index(1)},
                   .build = [](const Vals& p) {
                     const Val y = ops::dynamic_update_index(p[0], p[1], p[2]);
                     return Vals{y * y};
                   }});
  cases.push_back({.name = "dynamic_slice/batch axes",
                   .args = {noise({3, 4, 2}), ints({3}, {1, 0, 7}), ints({3}, {0, 1, -1})},
                   .build =
                       [](const Vals& p) {
                         return Vals{ops::dynamic_slice(p[0], Vals{p[1], p[2]}, Dims{2, 1}, 1)};
                       },
                   .linear = {true, false, false},
                   .symbolic = false});
  cases.push_back(
      {.name = "dynamic_update_slice/batch axes",
       .args = {noise({3, 4}), noise({3, 2}, 2), ints({3}, {1, 0, 7})},
       .build =
           [](const Vals& p) { return Vals{ops::dynamic_update_slice(p[0], p[1], Vals{p[2]}, 1)}; },
       .linear = {true, true, false}});
}

struct Indexing {
  const char* name;
  IndexDims dims;
  Extents operand, windowed;
  Dims sizes;
  HostArray indices, unique;  ///< with repetitions and some out of bounds; without either
};
std::vector<Indexing> indexings() {
  return {{"rows",
           {.window_axes = {1}, .collapsed_axes = {0}, .index_map = {0}, .vector_axis = 1},
           {4, 3},
           {5, 3},
           {1, 3},
           ints({5}, {1, 3, 1, 7, -2}),
           ints({5}, {2, 0, 3, 1, 9})},
          {"windows",
           {.window_axes = {0, 2}, .index_map = {1, 0}, .vector_axis = 0},
           {3, 4},
           {2, 3, 2},
           {2, 2},
           ints({2, 3}, {1, 9, 0, 0, 1, -2}),
           ints({2, 3}, {0, 2, 9, 0, 1, 9})},
          {"batch axes",
           {.collapsed_axes = {0},
            .operand_batch = {1},
            .indices_batch = {0},
            .index_map = {0},
            .vector_axis = 2},
           {3, 2},
           {2, 4},
           {1, 1},
           ints({2, 4}, {0, 2, 0, 5, 1, 1, -1, 1}),
           ints({2, 4}, {0, 2, 1, 5, 1, 0, 2, 9})}};
}

void gathers(Cases& cases) {
  for (OutOfBounds mode : {OutOfBounds::clip, OutOfBounds::fill, OutOfBounds::promise}) {
    const std::string suffix = "/" + std::string(enum_names(mode)[static_cast<std::size_t>(mode)]);
    for (const Indexing& e : indexings()) {
      const GatherAttrs a{.dims = e.dims, .sizes = e.sizes, .mode = mode, .fill = 0.0};
      cases.push_back({.name = std::string("gather ") + e.name + suffix,
                       .args = {noise(e.operand), e.indices},
                       .build = [a](const Vals& p) { return Vals{ops::gather(p[0], p[1], a)}; },
                       .linear = {true, false},
                       .symbolic = false});
    }
    for (int axis : {0, 1}) {
      cases.push_back({.name = "take " + std::to_string(axis) + suffix,
                       .args = {noise({4, 5}), ints({2, 2}, {1, 3, 3, 2})},
                       .build = [=](const Vals& p) {
                         const Val y = ops::take(p[0], p[1], axis, mode);
                         return Vals{y * y};
                       }});
    }
  }
}

void scatters(Cases& cases) {
  for (Update update : {Update::set, Update::add, Update::mul, Update::min, Update::max}) {
    for (OutOfBounds mode : {OutOfBounds::clip, OutOfBounds::fill}) {
      for (bool unique : {false, true}) {
        // Clipping would make two of the unique indices equal.
        if (unique && mode == OutOfBounds::clip) continue;
        const std::string suffix =
            std::string(" ") + std::string(enum_names(update)[static_cast<std::size_t>(update)]) +
            "/" + std::string(enum_names(mode)[static_cast<std::size_t>(mode)]) +
            (unique ? " unique" : "");
        for (const Indexing& e : indexings()) {
          // Windows overlap, so they are not unique; and their lanes would not be either.
          if (unique && std::string(e.name) == "windows") continue;
          const ScatterAttrs a{.dims = e.dims, .update = update, .mode = mode, .unique = unique};
          const bool both = update == Update::set || update == Update::add;
          std::vector<bool> linear;
          if (both || update == Update::mul) linear = {true, false, both};
          // Indices are no lanes here: moved on they would repeat.
          cases.push_back(
              {.name = std::string("scatter ") + e.name + suffix,
               .args = {noise(e.operand), unique ? e.unique : e.indices, noise(e.windowed, 2)},
               .build = [a](const Vals& p) { return Vals{ops::scatter(p[0], p[1], p[2], a)}; },
               .linear = linear,
               .narrow = false});
        }
      }
      cases.push_back({.name = std::string("scatter_at ") +
                               std::string(enum_names(update)[static_cast<std::size_t>(update)]) +
                               "/" + std::string(enum_names(mode)[static_cast<std::size_t>(mode)]),
                       .args = {noise({4, 5}), ints({3}, {1, 3, 1}), noise({3, 5}, 2)},
                       .build = [=](const Vals& p) {
                         return Vals{
                             ops::scatter_at(p[0] * p[0], p[1], p[2] * p[2], 0, update, mode)};
                       }});
    }
  }
  // Two zeros on one element: its derivatives by the factors are products of the others.
  cases.push_back(
      {.name = "scatter_at mul/zeros",
       .args = {vec({0.5, 2, -1}), ints({5}, {0, 0, 2, 0, 2}), vec({0, 3, 0, 0, 2})},
       .build =
           [](const Vals& p) { return Vals{ops::scatter_at(p[0], p[1], p[2], 0, Update::mul)}; },
       .narrow = false});
}

void joinings(Cases& cases) {
  cases.push_back({.name = "pad",
                   .args = {noise({3, 4}), noise({}, 2)},
                   .build =
                       [](const Vals& p) {
                         return Vals{ops::pad(p[0], p[1], Dims{1, -1}, Dims{-1, 2}, Dims{2, 1})};
                       },
                   .linear = {true, true}});
  cases.push_back(
      {.name = "pad/around", .args = {noise({3}), noise({}, 2)}, .build = [](const Vals& p) {
         return Vals{ops::pad(p[0] * p[0], p[1] * p[1], Dims{1}, Dims{2}, Dims{0})};
       }});
  cases.push_back(
      {.name = "concatenate",
       .args = {noise({2, 3}), noise({2, 4}, 2)},
       .build = [](const Vals& p) { return Vals{ops::concatenate(Vals{p[0], p[1], p[0]}, 1)}; },
       .linear = {true, true}});
  cases.push_back({.name = "reverse",
                   .args = {noise({2, 3})},
                   .build = [](const Vals& p) { return Vals{ops::reverse(p[0], AxisList{0, 1})}; },
                   .linear = {true}});
}

}  // namespace

void index_cases(Cases& cases) {
  slices(cases);
  gathers(cases);
  scatters(cases);
  joinings(cases);
}

}  // namespace tlaloc::testing
