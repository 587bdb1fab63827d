// How values lie on a mesh of devices, in the terms of Shardy's dialect of MLIR.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/ir/attr.h"
#include "tlaloc/ir/type.h"

namespace tlaloc::ir {

/// A number of devices under a name.
struct NamedAxis {
  std::string name;
  std::int64_t size = 1;
  bool operator==(const NamedAxis&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("name", &NamedAxis::name), field("size", &NamedAxis::size));
  }
};

/// Devices in a grid, the last axis running fastest.
struct Mesh {
  std::string name;
  std::vector<NamedAxis> axes;
  std::vector<std::int64_t> device_ids;  ///< the device at each place; empty: in order
  bool operator==(const Mesh&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("name", &Mesh::name), field("axes", &Mesh::axes),
                      field("device_ids", &Mesh::device_ids));
  }
  std::int64_t devices() const;
  /// Its size; 0 for an axis that the mesh lacks.
  std::int64_t size_of(const std::string& axis) const;
};

/// An axis of a mesh, or the sub-axis of `size` that lies behind the `before` first devices of it.
struct AxisRef {
  std::string axis;
  std::int64_t before = 1, size = 0;  ///< size 0: all of the axis
  bool operator==(const AxisRef&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("axis", &AxisRef::axis), field("before", &AxisRef::before),
                      field("size", &AxisRef::size));
  }
};

/// The axes that one dimension is cut along, the first one outermost.
struct DimSharding {
  std::vector<AxisRef> axes;
  bool open = false;  ///< propagation may add axes
  std::optional<std::int64_t> priority;
  bool operator==(const DimSharding&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("axes", &DimSharding::axes), field("open", &DimSharding::open),
                      field("priority", &DimSharding::priority));
  }
};

struct Sharding {
  Mesh mesh;
  std::vector<DimSharding> dims;    ///< one per dimension
  std::vector<AxisRef> replicated;  ///< axes that propagation may not use
  bool operator==(const Sharding&) const = default;
  static constexpr auto fields() {
    return std::tuple(field("mesh", &Sharding::mesh), field("dims", &Sharding::dims),
                      field("replicated", &Sharding::replicated));
  }
  /// Into how many parts dimension k is cut.
  std::int64_t parts(std::size_t k) const;
};

/// How a value enters or leaves a manual computation: by dimension, the manual axes that it is cut
/// along. Along the others every device has all of it.
struct ShardSpec {
  std::vector<std::vector<std::string>> dims;
  bool operator==(const ShardSpec&) const = default;
  static constexpr auto fields() { return std::tuple(field("dims", &ShardSpec::dims)); }
  std::int64_t parts(const Mesh& mesh, std::size_t k) const;
  bool mentions(const std::string& axis) const;
};

// What is wrong with one, as a message; empty where nothing is.
std::string mesh_problem(const Mesh& mesh);
std::string sharding_problem(const Sharding& sharding, int rank);
std::string spec_problem(const Mesh& mesh, std::span<const std::string> manual,
                         const ShardSpec& spec, int rank);
std::string manual_axes_problem(const Mesh& mesh, std::span<const std::string> manual);
/// As Shardy's verifier wants one that has no problem: parts that are all of an axis as the axis,
/// neighbours as one part, replicated axes in the mesh's order.
Sharding canonical(Sharding sharding);

/// Meshes have at most so many devices and axes, and list so many devices one by one: what comes
/// from outside is bounded, and every sharding has its mesh.
inline constexpr std::int64_t kMaxDevices = 1 << 20;
inline constexpr std::size_t kMaxMeshAxes = 64, kMaxListedDevices = 4096;

}  // namespace tlaloc::ir
