#include "tlaloc/ir/sharding.h"

#include <algorithm>
#include <map>
#include <set>

#include "tlaloc/base/checked.h"

namespace tlaloc::ir {
namespace {

std::string quoted(const std::string& axis) { return "axis '" + axis + "'"; }

/// The parts of axes that are taken already, as ranges of (before, before * size].
class Taken {
 public:
  explicit Taken(const Mesh& mesh) : mesh_(mesh) {}
  /// A message where the axis is none, or overlaps what was taken before.
  std::string take(const AxisRef& a) {
    const std::int64_t whole = mesh_.size_of(a.axis);
    if (whole == 0) return "the mesh '" + mesh_.name + "' has no " + quoted(a.axis);
    std::int64_t first = 1, last = whole;
    if (a.size != 0) {
      if (a.before < 1 || a.size < 2 || a.before > whole || a.size > whole ||
          whole % a.before != 0 || (whole / a.before) % a.size != 0) {
        return quoted(a.axis) + " of " + std::to_string(whole) + " devices has no part (" +
               std::to_string(a.before) + ")" + std::to_string(a.size);
      }
      first = a.before;
      last = a.before * a.size;
    } else if (a.before != 1) {
      return quoted(a.axis) + " has a part without a size";
    }
    auto& ranges = taken_[a.axis];
    for (const auto& [from, to] : ranges) {
      if ((first < to && from < last) || (first == from && last == to)) {
        return quoted(a.axis) + " is used twice";
      }
      // Shardy's rule: one lies in front of the other, and what is between them is whole devices.
      if (last <= from ? from % last != 0 : first % to != 0) {
        return "parts of " + quoted(a.axis) + " don't fit beside each other";
      }
    }
    ranges.emplace_back(first, last);
    return {};
  }

 private:
  const Mesh& mesh_;
  std::map<std::string, std::vector<std::pair<std::int64_t, std::int64_t>>> taken_;
};

std::string rank_problem(std::size_t dims, int rank) {
  if (dims == static_cast<std::size_t>(rank)) return {};
  return "the sharding is of " + std::to_string(dims) + " dimensions, the value has " +
         std::to_string(rank);
}

}  // namespace

std::int64_t Mesh::devices() const {
  std::int64_t n = 1;
  for (const NamedAxis& a : axes) n *= a.size;
  return n;
}
std::int64_t Mesh::size_of(const std::string& axis) const {
  const auto it = std::ranges::find(axes, axis, &NamedAxis::name);
  return it == axes.end() ? 0 : it->size;
}
std::int64_t Sharding::parts(std::size_t k) const {
  std::int64_t n = 1;
  for (const AxisRef& a : dims[k].axes) n *= a.size ? a.size : mesh.size_of(a.axis);
  return n;
}
std::int64_t ShardSpec::parts(const Mesh& mesh, std::size_t k) const {
  std::int64_t n = 1;
  for (const std::string& axis : dims[k]) n *= mesh.size_of(axis);
  return n;
}
bool ShardSpec::mentions(const std::string& axis) const {
  return std::ranges::any_of(dims,
                             [&](const auto& d) { return std::ranges::find(d, axis) != d.end(); });
}

std::string mesh_problem(const Mesh& mesh) {
  if (mesh.axes.size() > kMaxMeshAxes) {
    return "the mesh has more than " + std::to_string(kMaxMeshAxes) + " axes";
  }
  if (mesh.device_ids.size() > kMaxListedDevices) {
    return "the mesh lists more than " + std::to_string(kMaxListedDevices) + " devices one by one";
  }
  std::int64_t devices = 1;
  std::set<std::string> names;
  for (const NamedAxis& a : mesh.axes) {
    if (a.size < 1) return quoted(a.name) + " has no devices";
    if (a.size > kMaxDevices / devices) return "the mesh has more than 2^20 devices";
    devices *= a.size;
    if (!names.insert(a.name).second) return "the mesh has two axes '" + a.name + "'";
  }
  if (mesh.device_ids.empty()) return {};
  std::vector<bool> seen(mesh.device_ids.size());
  for (std::int64_t id : mesh.device_ids) {
    if (id < 0 || id >= static_cast<std::int64_t>(seen.size()) || seen[usize(id)]) {
      return "the devices are not 0, 1, … in some order";
    }
    seen[usize(id)] = true;
  }
  if (static_cast<std::int64_t>(seen.size()) != devices) {
    return "the mesh lists another number of devices than it has";
  }
  return {};
}

Sharding canonical(Sharding s) {
  const auto whole = [&](AxisRef& a) {
    if (a.before == 1 && a.size == s.mesh.size_of(a.axis)) a.size = 0;
  };
  for (DimSharding& d : s.dims) {
    std::vector<AxisRef> axes;
    for (AxisRef a : d.axes) {
      AxisRef* last = axes.empty() ? nullptr : &axes.back();
      if (last && last->axis == a.axis && a.size != 0 && last->size != 0 &&
          last->before * last->size == a.before) {
        last->size *= a.size;
      } else {
        axes.push_back(std::move(a));
      }
    }
    std::ranges::for_each(axes, whole);
    d.axes = std::move(axes);
  }
  std::ranges::for_each(s.replicated, whole);
  const auto place = [&](const AxisRef& a) {
    const auto it = std::ranges::find(s.mesh.axes, a.axis, &NamedAxis::name);
    return std::pair(it - s.mesh.axes.begin(), a.before);
  };
  std::ranges::sort(s.replicated, {}, place);
  return s;
}

std::string sharding_problem(const Sharding& s, int rank) {
  if (std::string p = mesh_problem(s.mesh); !p.empty()) return p;
  if (std::string p = rank_problem(s.dims.size(), rank); !p.empty()) return p;
  Taken taken(s.mesh);
  for (const DimSharding& d : s.dims) {
    for (const AxisRef& a : d.axes) {
      if (std::string p = taken.take(a); !p.empty()) return p;
    }
    if (d.priority && *d.priority < 0) return "a priority is negative";
    if (d.priority && d.axes.empty() && !d.open) return "a dimension that is whole has a priority";
  }
  for (const AxisRef& a : s.replicated) {
    if (std::string p = taken.take(a); !p.empty()) return p;
  }
  return {};
}

std::string manual_axes_problem(const Mesh& mesh, std::span<const std::string> manual) {
  if (std::string p = mesh_problem(mesh); !p.empty()) return p;
  Taken taken(mesh);
  for (const std::string& axis : manual) {
    if (std::string p = taken.take({axis}); !p.empty()) return p;
  }
  return {};
}

std::string spec_problem(const Mesh& mesh, std::span<const std::string> manual,
                         const ShardSpec& spec, int rank) {
  if (std::string p = rank_problem(spec.dims.size(), rank); !p.empty()) return p;
  Taken taken(mesh);
  for (const auto& dim : spec.dims) {
    for (const std::string& axis : dim) {
      if (std::string p = taken.take({axis}); !p.empty()) return p;
      if (std::ranges::find(manual, axis) == manual.end()) return quoted(axis) + " is not manual";
    }
  }
  return {};
}

}  // namespace tlaloc::ir
