// Cases of random bits, effects, foreign calls, collectives and quantized weights.
#include <array>
#include <cstring>

#include "tests/conformance/cases.h"
#include "tlaloc/ops/effects.h"
#include "tlaloc/ops/quant_testing.h"
#include "tlaloc/ops/val_quant.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::runtime::conformance {
namespace {

using ir::Vals;

void random_bits(Cases& cases, const Row&) {
  for (const Extents& e : shapes(false)) {
    std::vector<HostArray> words;
    for (int i = 0; i < 4; ++i) words.push_back(cases.array(DType::u32, e));
    cases.add(shape_label(DType::u32, e), words, [](const Vals& p, Sizes&) -> Vals {
      const auto [a, b] = ops::threefry2x32(p[0], p[1], p[2], p[3]);
      return {a, b};
    });
  }
}

/// What is printed is dropped; what is checked is that the rest of the program is as without it.
void prints(Cases& cases, const Row&) {
  const ops::PrintHook before = ops::set_print_hook([](std::string_view) {});
  for (DType t : dtypes()) {
    for (const Extents& e : shapes(true)) {
      cases.add(shape_label(t, e), {cases.array(t, e)}, [](const Vals& p, Sizes&) -> Vals {
        ops::debug_print("{}", p);
        return {p[0]};
      });
    }
  }
  ops::set_print_hook(before);
}

void foreign_calls(Cases& cases, const Row&) {
  ops::register_custom_call("conformance.copy",
                            [](std::span<const HostArray> in, const std::string&) {
                              return std::vector<HostArray>(in.begin(), in.end());
                            });
  for (DType t : dtypes()) {
    for (const Extents& e : shapes(true)) {
      cases.add(shape_label(t, e), {cases.array(t, e), cases.array(DType::i32, {2})},
                [](const Vals& p, Sizes&) -> Vals {
                  return ops::custom_call("conformance.copy", "", p, {p[0].type(), p[1].type()});
                });
    }
  }
}

/// On one device: more need a back end of their own tests.
void collectives(Cases& cases, const Row& row) {
  const ops::MeshAxis alone{"alone", 1};
  for (DType t : dtypes()) {
    if (t == DType::boolean) continue;
    for (const Extents& e : shapes(true)) {
      auto add = [&](const std::string& label, const std::function<ops::Val(ops::Val)>& op) {
        cases.add(label + "/" + shape_label(t, e), {cases.array(t, e)},
                  [&](const Vals& p, Sizes&) -> Vals { return {op(p[0])}; });
      };
      if (row.op == &ops::rows::AllReduce) {
        for (auto c : {ops::Collective::sum, ops::Collective::max, ops::Collective::min}) {
          add(std::string(enum_names(c)[static_cast<std::size_t>(c)]),
              [=](ops::Val x) { return ops::all_reduce(x, c, alone); });
        }
      } else if (!e.empty()) {
        const int axis = static_cast<int>(e.size()) - 1;
        const bool gathers = row.op == &ops::rows::AllGather;
        add("axis " + std::to_string(axis), [=](ops::Val x) {
          return gathers ? ops::all_gather(x, axis, alone) : ops::reduce_scatter(x, axis, alone);
        });
      }
    }
  }
}

/// On a mesh of one device, in all its terms: tests of back ends have more.
void layouts(Cases& cases, const Row&) {
  for (DType t : dtypes()) {
    for (const Extents& e : shapes(true)) {
      ir::Sharding s{{"alone", {{"x", 1}}, {}}, {}, {}};
      for (std::size_t k = 0; k < e.size(); ++k) {
        s.dims.push_back({.axes = {}, .open = k % 2 == 1, .priority = {}});
      }
      if (!s.dims.empty()) s.dims[0].axes = {{"x"}};
      cases.add(shape_label(t, e), {cases.array(t, e)},
                [=](const Vals& p, Sizes&) -> Vals { return {ops::sharding_constraint(p[0], s)}; });
    }
  }
}

/// Random blocks, with scales and minima of 1, 2 or 4, so that products of small integers are
/// exact.
HostArray blocks(Cases& cases, const ir::Encoding& e, std::int64_t rows, std::int64_t length) {
  const std::int64_t width = length / e.block_elements * e.block_bytes;
  HostArray a = cases.array(DType::u8, {rows, width}, Values::any);
  auto bytes = a.as_mutable<std::uint8_t>();
  // Those of parts have further scales, which are integers already.
  auto power = [&] {
    return e.block_elements > 32 ? 1.0F : static_cast<float>(1 << cases.integer(0, 2));
  };
  for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(e.block_bytes)) {
    const float scale = power(), least = power();
    ops::testing::set_scales(e, &bytes[at], scale, least);
  }
  return a;
}

/// Quarters, of which one in each block of 32 is 127: rounded to q8_32 they are integers, halves
/// away from zero, so that sums of products are exact.
HostArray activations(Cases& cases, DType t, const Extents& extents) {
  HostArray a = cases.array(t, extents, Values::small);
  dispatch(t, [&]<class T>(TypeTag<T>) {
    if constexpr (std::is_same_v<ComputeType<T>, float>) {
      std::int64_t i = 0;
      for (T& x : a.as_mutable<T>()) {
        const auto quarters = static_cast<float>(cases.integer(-120, 120));
        x = T(i++ % 32 == 5 ? 127 : quarters / 4);
      }
    }
  });
  return a;
}

void quantized(Cases& cases, const Row& row) {
  for (const char* name : ops::testing::kEncodings) {
    const ir::Encoding* e = ir::find_encoding(name);
    for (const auto& [rows, least] : {std::pair{3, 64}, {1, 32}, {7, 96}, {0, 32}}) {
      const std::int64_t length = ops::testing::whole_blocks(*e, least);
      const HostArray w = blocks(cases, *e, rows, length);
      const std::string label =
          std::string(name) + "[" + std::to_string(rows) + ", " + std::to_string(length) + "]";
      if (row.op == &ops::rows::Dequantize) {
        cases.add(label, {w}, [](const Vals& p, Sizes&) -> Vals { return {ops::dequantize(p[0])}; },
                  {e});
      } else if (row.op == &ops::rows::QuantGather) {
        if (rows == 0) continue;
        cases.add(label, {w, cases.array(DType::i32, {2, 3})},
                  [](const Vals& p, Sizes&) -> Vals { return {ops::quant_gather(p[0], p[1])}; },
                  {e});
      } else {
        for (DType t : {DType::f32, DType::bf16, DType::f64}) {
          for (bool transposed : {false, true}) {
            for (auto act : {ops::Activation::f32, ops::Activation::q8_32}) {
              const bool rounds = act == ops::Activation::q8_32;
              if (rounds && (transposed || t == DType::f64)) continue;
              cases.add(label + " " + std::string(tlaloc::name(t)) +
                            (transposed ? " transposed" : "") + (rounds ? " q8_32" : ""),
                        {rounds ? activations(cases, t, {2, length})
                                : cases.array(t, {2, transposed ? rows : length}),
                         w},
                        [=](const Vals& p, Sizes&) -> Vals {
                          return {ops::quant_matmul(p[0], p[1], transposed, act)};
                        },
                        {nullptr, e});
            }
          }
        }
      }
    }
  }
}

namespace rows = ops::rows;
constexpr std::array kSystem{
    Row{&rows::Threefry2x32, random_bits},
    Row{&rows::DebugPrint, prints},
    Row{&rows::CustomCall, foreign_calls},
    Row{&rows::AllReduce, collectives},
    Row{&rows::ShardingConstraint, layouts},
    Row{&rows::AllGather, collectives},
    Row{&rows::ReduceScatter, collectives},
    Row{&rows::Dequantize, quantized},
    Row{&rows::QuantMatmul, quantized, Values::small},
    Row{&rows::QuantGather, quantized, Values::any},
};

}  // namespace

std::span<const Row> system_rows() { return kSystem; }

}  // namespace tlaloc::runtime::conformance
