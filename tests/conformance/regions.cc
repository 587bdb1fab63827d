// Cases of the four ops with regions.
#include <array>

#include "tests/conformance/cases.h"
#include "tlaloc/interp/testing.h"
#include "tlaloc/ir/region_ops.h"
#include "tlaloc/ops/val_linalg.h"
#include "tlaloc/ops/val_sharding.h"
#include "tlaloc/ops/val_system.h"

namespace tlaloc::runtime::conformance {
namespace {

using interp::testing::graph_with_dims;
using ir::Append;
using ir::Dim;
using ir::GraphRef;
using ir::Symbol;
using ir::Type;
using ir::Val;
using ir::Vals;
using ops::operator+, ops::operator-, ops::operator*, ops::operator<;

const DType kF = DType::f64;
Val count(std::int64_t i) { return ops::scalar_int(i, DType::i64); }
HostArray i64s(std::vector<std::int64_t> values) {
  return HostArray::from(std::span<const std::int64_t>(values),
                         {static_cast<std::int64_t>(values.size())});
}

/// for (i = 0; i < n; ++i) { record x; x = 0.5 x + i }
ir::Builder::NodeResult counted(Val n, Val x) {
  const Type i = Type::scalar(DType::i64), t = x.type();
  return ir::emit_while(
      {.inv = {n},
       .init = {count(0), x},
       .cond =
           graph_with_dims({i, i, t}, [](const Vals& p, auto&) -> Vals { return {p[1] < p[0]}; }),
       .body = graph_with_dims({i, i, t}, [](const Vals& p, auto&) -> Vals {
         return {p[1] + count(1), p[2] * 0.5 + ops::convert(p[1], p[2].dtype()), p[2]};
       })});
}

void whiles(Cases& cases, const Row&) {
  for (std::int64_t trips : {0, 1, 5, 40}) {
    for (const Extents& shape : {Extents{}, Extents{0}, Extents{2, 3}}) {
      cases.add(std::to_string(trips) + "trips/" + shape_label(kF, shape),
                {HostArray::scalar(trips), cases.array(kF, shape, Values::small)},
                [](const Vals& p, Sizes&) -> Vals {
                  auto r = counted(p[0], p[1]);
                  r.out.push_back(ops::dim_value(Dim(r.bound[0]) * 2));
                  return r.out;
                });
    }
  }
}

Vals plain_scan(const Vals& p, bool reverse) {
  const Type t = p[1].type();
  const Type x = p[0].type().without_leading();
  return ir::emit_scan({.inv = {},
                        .init = {p[1]},
                        .xs = {p[0]},
                        .body = graph_with_dims({t, x},
                                                [](const Vals& b, auto&) -> Vals {
                                                  const Val s = b[0] * 0.5 + b[1];
                                                  return {s, s - b[1], b[1]};
                                                }),
                        .length = p[0].dim(0),
                        .reverse = reverse})
      .out;
}

/// Runs of lengths[i] steps each, appended; then the pieces are consumed backwards.
Vals ragged_scan(const Vals& p, Dim length, bool reverse) {
  const Type i = Type::scalar(DType::i64), t = Type::scalar(kF);
  const GraphRef outer = graph_with_dims({t, i}, [](const Vals& b, auto&) -> Vals {
    const auto r = counted(b[1], b[0]);
    return {r.out[1], r.out[2], r.out[3]};
  });
  const auto made = ir::emit_scan({.inv = {},
                                   .init = {ops::scalar(1, kF)},
                                   .xs = {p[0]},
                                   .body = outer,
                                   .length = length,
                                   .append = {Append{.flat = true}, Append{}}});
  const Symbol piece = Symbol::fresh("L");
  const GraphRef body =
      graph_with_dims({t, Type::get(kF, {piece}), i}, [](const Vals& b, auto&) -> Vals {
        const std::int64_t all[] = {0};
        return {b[0] * 0.5 + 1.0, ops::reduce_sum(b[1], all), b[1] * b[0]};
      });
  const Dim flat(made.bound.at(0));
  auto used = ir::emit_scan({.inv = {},
                             .init = {ops::scalar(1, kF)},
                             .xs = {made.out[1], made.out[2]},
                             .body = body,
                             .length = length,
                             .reverse = reverse,
                             .ragged = {{piece, 1}},
                             .xrag = {true, false},
                             .append = {Append{}, Append{.flat = true, .length = flat}}});
  used.out.push_back(made.out[1] + used.out[2]);
  return used.out;
}

void scans(Cases& cases, const Row&) {
  for (bool reverse : {false, true}) {
    const std::string label = reverse ? "reverse/" : "forward/";
    for (std::int64_t n : {0, 1, 7}) {
      for (const Extents& rest : {Extents{}, Extents{3}, Extents{2, 0}}) {
        Extents xs = rest;
        xs.insert(xs.begin(), n);
        cases.add(label + shape_label(kF, xs),
                  {cases.array(kF, xs, Values::small), cases.array(kF, rest, Values::small)},
                  [&](const Vals& p, Sizes&) { return plain_scan(p, reverse); });
      }
    }
    for (const auto& lengths : {std::vector<std::int64_t>{}, {0}, {3, 1, 0, 4}}) {
      cases.add(label + "ragged" + list_label(lengths), {i64s(lengths)},
                [&](const Vals& p, Sizes&) { return ragged_scan(p, p[0].dim(0), reverse); });
    }
  }
}

void ifs(Cases& cases, const Row&) {
  for (const Extents& shape : {Extents{}, Extents{5}, Extents{0}}) {
    for (bool taken : {false, true}) {
      cases.add(std::string(taken ? "then/" : "else/") + shape_label(kF, shape),
                {HostArray::scalar(taken), cases.array(kF, shape)},
                [&](const Vals& p, Sizes&) -> Vals {
                  const Type t = p[1].type();
                  const GraphRef then = graph_with_dims(
                      {t}, [](const Vals& b, auto&) -> Vals { return {b[0] + 1.0, b[0]}; });
                  const GraphRef other = graph_with_dims(
                      {t}, [](const Vals& b, auto&) -> Vals { return {-b[0], b[0] * 2.0}; });
                  const Type types[] = {t, t};
                  return ir::emit_if(p[0], std::span(p).subspan(1),
                                     {ir::make_region(then, {}), ir::make_region(other, {})}, types)
                      .out;
                });
    }
  }
  // One predicate per lane: results are lane selects, and the shorter history is padded.
  for (const auto& trips : {std::pair{0, 0}, {1, 3}, {4, 0}}) {
    cases.add(
        "lanes/" + std::to_string(trips.first) + "," + std::to_string(trips.second),
        {cases.array(DType::boolean, {4}), cases.array(kF, {4}, Values::small)},
        [&](const Vals& p, Sizes&) -> Vals {
          auto branch = [&](std::int64_t n) {
            return graph_with_dims({p[1].type()},
                                   [&](const Vals& b, std::vector<Dim>& dims) -> Vals {
                                     const auto r = counted(count(n), b[0]);
                                     dims = {r.bound[0]};
                                     const std::int64_t swap[] = {1, 0};
                                     return {r.out[1], ops::transpose(r.out[2], swap)};
                                   });
          };
          const Symbol longest = Symbol::fresh("M");
          const Type types[] = {p[1].type(), Type::get(kF, {p[1].dim(0), longest})};
          const auto r = ir::emit_if(
              p[0], std::span(p).subspan(1),
              {ir::make_region(branch(trips.first), {}), ir::make_region(branch(trips.second), {})},
              types, {longest}, {}, {-1, trips.first > trips.second ? 0 : 1});
          return {r.out[0], r.out[1], ops::dim_value(longest)};
        });
  }
}

void calls(Cases& cases, const Row&) {
  for (const Extents& shape : {Extents{}, Extents{0}, Extents{7}, Extents{3, 5}}) {
    cases.add(shape_label(kF, shape), {cases.array(kF, shape), cases.array(kF, shape)},
              [&](const Vals& p, Sizes&) -> Vals {
                const Type t = p[0].type();
                const GraphRef inner = graph_with_dims(
                    {t, t}, [](const Vals& b, auto&) -> Vals { return {b[0] - b[1], b[1]}; });
                const GraphRef outer = graph_with_dims({t, t}, [&](const Vals& b, auto&) -> Vals {
                  return ir::call_graph({.name = "inner"}, inner, Vals{b[1], b[0]});
                });
                return ir::call_graph({.name = "outer", .kind = ir::CallKind::remat}, outer, p);
              });
  }
}

/// One device: meshes of more are tested where there are more.
void manuals(Cases& cases, const Row&) {
  for (DType t : {DType::f64, DType::f32, DType::bf16}) {
    cases.add(std::string(name(t)),
              {cases.array(t, {4, 3}, Values::small), cases.array(t, {3, 2}, Values::small)},
              [](const Vals& p, Sizes&) -> Vals {
                const ops::MeshAxis x{"x", 1};
                return ops::manual(
                    {{"alone", {{"x", 1}}, {}}, {"x"}, {{{{"x"}, {}}}}, {{{{}, {}}}}}, {p[0]},
                    [&](const Vals& parts) -> Vals {
                      const Val y = ops::dot_general(parts[0], p[1],
                                                     {.lhs_contract = {1}, .rhs_contract = {0}});
                      return {ops::all_reduce(y, ops::Collective::sum, x)};
                    });
              });
  }
}

constexpr std::array kRegions{
    Row{&ir::kIf, ifs},     Row{&ir::kWhile, whiles},   Row{&ir::kScan, scans},
    Row{&ir::kCall, calls}, Row{&ir::kManual, manuals},
};

}  // namespace

std::span<const Row> region_rows() { return kRegions; }

}  // namespace tlaloc::runtime::conformance
