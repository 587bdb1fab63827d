// The vocabulary of random bits, effects, foreign calls and collectives. See val_ops.h.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "tlaloc/ops/val_ops.h"

namespace tlaloc::ops {

/// Threefry-2x32 with 20 rounds: the counter words (x0, x1) under the key words (k0, k1), all u32.
/// Rank-0 operands are broadcast. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
/// 2011.
std::pair<Val, Val> threefry2x32(Val k0, Val k1, Val x0, Val x1);

/// Prints when it is evaluated, in program order. Each {} of `format` stands for one of `values`;
/// {{ and }} are braces. Under vmap it prints all lanes at once.
void debug_print(std::string format, std::span<const Val> values);

/// Calls code that Tlaloc knows by name only. `config` is opaque. It counts as a pure function.
Vals custom_call(std::string name, std::string config, std::span<const Val> in,
                 std::vector<Type> results);

/// The devices along the mesh axis `name`.
struct MeshAxis {
  std::string name;
  Dim devices = 1;
  bool operator==(const MeshAxis&) const = default;
  static constexpr auto fields() {
    return std::tuple(ir::field("name", &MeshAxis::name), ir::field("devices", &MeshAxis::devices));
  }
};
enum class Collective : std::uint8_t { sum, max, min };
constexpr std::array<std::string_view, 3> enum_names(Collective) { return {"sum", "max", "min"}; }
/// On every device the sum (or extreme) of all devices' x.
Val all_reduce(Val x, Collective reduction, MeshAxis over);
/// On every device the devices' parts one after the other along `axis`.
Val all_gather(Val x, int axis, MeshAxis over);
/// On device i the i-th part along `axis` of the sum of all devices' x.
Val reduce_scatter(Val x, int axis, MeshAxis over);

}  // namespace tlaloc::ops
