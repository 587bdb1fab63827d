// Random bits, printing, collectives, quantized weights.
#include "tests/ops/case.h"
#include "tlaloc/ops/effects.h"
#include "tlaloc/ops/val_quant.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::testing {

void system_cases(Cases& cases) {
  using ops::Collective;
  cases.push_back({.name = "threefry2x32",
                   .args = {ints({}, {12345}), ints({3}, {0, 1, 7})},
                   .build = [](const Vals& p) {
                     const Val key = ops::convert(p[0], DType::u32);
                     const Val counter = ops::convert(p[1], DType::u32);
                     const auto [a, b] = ops::threefry2x32(key, key, counter, counter);
                     return Vals{a, b};
                   }});
  // A case is evaluated many times: nobody wants to read that.
  ops::set_print_hook([](std::string_view) {});
  cases.push_back({.name = "debug_print", .args = {noise({2})}, .build = [](const Vals& p) {
                     const Val y = p[0] * p[0];
                     ops::debug_print("{}", Vals{y});
                     return Vals{y};
                   }});
  ops::register_custom_call("cases.exchange",
                            [](std::span<const HostArray> in, const std::string&) {
                              return std::vector<HostArray>(in.rbegin(), in.rend());
                            });
  cases.push_back({.name = "custom_call",
                   .args = {ints({3}, {3, 1, 2}), ints({2, 2}, {5, 6, 7, 8})},
                   .build = [](const Vals& p) {
                     return ops::custom_call("cases.exchange", "", p, {p[1].type(), p[0].type()});
                   }});
  const ops::MeshAxis alone{"data", 1};
  cases.push_back(
      {.name = "all_reduce/sum",
       .args = {noise({2, 3})},
       .build = [=](const Vals& p) { return Vals{ops::all_reduce(p[0], Collective::sum, alone)}; },
       .linear = {true}});
  for (Collective c : {Collective::max, Collective::min}) {
    cases.push_back(
        {.name = c == Collective::max ? "all_reduce/max" : "all_reduce/min",
         .args = {noise({2, 3})},
         .build = [=](const Vals& p) { return Vals{ops::all_reduce(p[0] * p[0], c, alone)}; }});
  }
  cases.push_back({.name = "all_gather",
                   .args = {noise({2, 3})},
                   .build = [=](const Vals& p) { return Vals{ops::all_gather(p[0], 1, alone)}; },
                   .linear = {true}});
  cases.push_back(
      {.name = "reduce_scatter",
       .args = {noise({2, 3})},
       .build = [=](const Vals& p) { return Vals{ops::reduce_scatter(p[0], 0, alone)}; },
       .linear = {true}});

  const ir::Sharding rows{{"mesh", {{"data", 2}, {"model", 4}}, {}},
                          {{.axes = {{"data"}, {"model", 2, 2}}}, {.axes = {}, .open = true}},
                          {}};
  cases.push_back(
      {.name = "sharding_constraint",
       .args = {noise({4, 3})},
       .build = [=](const Vals& p) { return Vals{ops::sharding_constraint(p[0], rows)}; },
       .linear = {true}});

  const ir::Encoding* q8 = ir::find_encoding("q8_0");
  cases.push_back({.name = "dequantize",
                   .args = {blocks(*q8, {2, 32}), noise({2, 32})},
                   .build = [](const Vals& p) { return Vals{ops::dequantize(p[0]) * p[1]}; },
                   .encodings = {q8, nullptr}});
  for (bool transposed : {false, true}) {
    // Sums of 32 products of up to 200 round by as much as bf16 holds of them.
    cases.push_back(
        {.name = transposed ? "quant_matmul/transposed" : "quant_matmul",
         .args = {noise({2, transposed ? 3 : 32}), blocks(*q8, {3, 32})},
         .build = [transposed](
                      const Vals& p) { return Vals{ops::quant_matmul(p[0], p[1], transposed)}; },
         .linear = {true, false},
         .narrow = false,
         .tolerance = 1e-6,
         .encodings = {nullptr, q8}});
  }
  cases.push_back({.name = "quant_gather",
                   .args = {blocks(*q8, {4, 32}), ints({3}, {2, 0, 2})},
                   .build = [](const Vals& p) { return Vals{ops::quant_gather(p[0], p[1])}; },
                   .encodings = {q8, nullptr}});
}

}  // namespace tlaloc::testing
