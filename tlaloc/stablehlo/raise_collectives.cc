// Sums and exchanges between devices.
#include <algorithm>
#include <set>
#include <unordered_map>

#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_index.h"
#include "tlaloc/ops/val_system.h"
#include "tlaloc/stablehlo/mesh_text.h"
#include "tlaloc/stablehlo/raise.h"

namespace tlaloc::stablehlo::raising {
namespace {

using ir::Val;
using ir::Vals;
using Groups = std::vector<std::vector<std::int64_t>>;

Groups groups_of(const Site& s) {
  const Attribute& a = s.attribute({"replica_groups"});
  const ops::AxisList all = s.integers(a);
  const bool matrix = a.type && a.type->extents.size() == 2 && a.type->extents[0] > 0;
  if (!matrix || all.empty()) s.unsupported("its groups of devices are no matrix");
  const std::size_t count = usize(a.type->extents[0]), size = usize(a.type->extents[1]);
  if (all.size() != count * size) s.unsupported("its groups are one number");
  Groups r;
  for (std::size_t g = 0; g < count; ++g) {
    r.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(g * size),
                   all.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
  }
  return r;
}
/// In an order of their own; `ordered`: the order within a group matters.
Groups arranged(Groups groups, bool ordered) {
  if (!ordered) {
    for (auto& g : groups) std::ranges::sort(g);
  }
  std::ranges::sort(groups);
  return groups;
}

/// The axes along which devices meet, in the mesh's order. Outside of a manual computation all
/// devices do, in order: the text gives their axis no name. `ordered`: the order within a group
/// matters.
std::vector<ops::MeshAxis> meeting(const Site& s, bool ordered) {
  const Groups groups = groups_of(s);
  if (!s.scope().manual) {
    for (std::size_t i = 0; i < groups[0].size(); ++i) {
      if (groups[0][i] != static_cast<std::int64_t>(i))
        s.unsupported("its devices are several groups");
    }
    if (groups.size() != 1) s.unsupported("its devices are several groups");
    return {{"devices", static_cast<std::int64_t>(groups[0].size())}};
  }
  const ir::ManualAttrs& manual = *s.scope().manual;
  const ir::Mesh& mesh = manual.mesh;
  // Axes along which the first group's devices differ; then all groups are as these axes make them.
  const std::int64_t devices = mesh.devices();
  if (groups.size() * groups[0].size() != usize(devices)) {
    s.unsupported("its groups are not of all devices of the mesh");
  }
  std::vector<std::int64_t> place(usize(devices));
  for (std::int64_t i = 0; i < devices; ++i) {
    place[usize(mesh.device_ids.empty() ? i : mesh.device_ids[usize(i)])] = i;
  }
  std::vector<std::string> axes;
  std::int64_t rest = devices;
  for (const ir::NamedAxis& a : mesh.axes) {
    rest /= a.size;
    for (std::int64_t d : groups[0]) {
      if (d < 0 || d >= devices) s.fail("the mesh has no device " + std::to_string(d));
      if (place[usize(d)] / rest % a.size == place[usize(groups[0][0])] / rest % a.size) continue;
      axes.push_back(a.name);
      break;
    }
  }
  if (arranged(groups, ordered) != arranged(device_groups(mesh, axes), ordered)) {
    s.unsupported("its groups of devices are not those along axes of the mesh");
  }
  std::vector<ops::MeshAxis> r;
  for (const std::string& axis : axes) {
    if (std::ranges::find(manual.axes, axis) == manual.axes.end()) {
      s.unsupported("its devices differ along axis '" + axis + "', which is not manual");
    }
    r.push_back({axis, mesh.size_of(axis)});
  }
  return r;
}

ops::Collective reduction(const Site& s) {
  s.expect_operands(1);
  s.expect_regions(1);
  const ir::GraphRef g =
      s.importer().scalar_graph(s, s.op().regions[0], std::vector<DType>(2, s.in(0).dtype()));
  const ir::OpDef* op = single_op(*g);
  if (op == &ops::rows::Add) return ops::Collective::sum;
  if (op == &ops::rows::Max) return ops::Collective::max;
  if (op == &ops::rows::Min) return ops::Collective::min;
  s.unsupported("its region is none of add, maximum, minimum");
}

Vals all_reduce(const Site& s) {
  const ops::Collective r = reduction(s);
  Val x = s.in(0);
  for (const ops::MeshAxis& axis : meeting(s, false)) x = ops::all_reduce(x, r, axis);
  return {x};
}
Vals all_gather(const Site& s) {
  s.expect_operands(1);
  const int axis = s.axis({"all_gather_dim"}, usize(s.in(0).rank()));
  const auto over = meeting(s, true);
  Val x = s.in(0);
  // The last axis runs fastest.
  for (std::size_t k = over.size(); k-- > 0;) x = ops::all_gather(x, axis, over[k]);
  return {x};
}
Vals reduce_scatter(const Site& s) {
  if (reduction(s) != ops::Collective::sum) s.unsupported("its region is not add");
  const int axis = s.axis({"scatter_dimension"}, usize(s.in(0).rank()));
  Val x = s.in(0);
  for (const ops::MeshAxis& over : meeting(s, true)) x = ops::reduce_scatter(x, axis, over);
  return {x};
}

// ---- which device it is ----

/// The mesh, whose axes must all be manual: its devices are those of the manual computation.
const ir::Mesh& whole_mesh(const Site& s) {
  if (!s.scope().device) s.unsupported("it stands outside of a manual computation");
  const ir::ManualAttrs& manual = *s.scope().manual;
  if (manual.mesh.devices() != manual.devices()) {
    s.unsupported("the mesh has axes that are not manual");
  }
  return manual.mesh;
}
Val integers_of(const std::vector<std::int64_t>& v) {
  return ops::constant(
      HostArray::from(std::span<const std::int64_t>(v), {static_cast<std::int64_t>(v.size())}));
}

Vals partition_id(const Site& s) {
  s.expect_operands(0);
  const ir::Mesh& mesh = whole_mesh(s);
  const Val place = s.scope().device;
  const Val id =
      mesh.device_ids.empty() ? place : ops::take(integers_of(mesh.device_ids), place, 0);
  return {ops::convert(id, DType::u32)};
}

/// The devices of a mesh are partitions of one replica.
Vals replica_id(const Site& s) {
  s.expect_operands(0);
  if (!s.scope().manual) s.unsupported("it stands outside of a manual computation");
  return {ops::constant(HostArray::scalar(std::uint32_t{0}))};
}

/// Which of those that meet along these axes it is; the last axis runs fastest.
Val place_along(const Site& s, const ir::Mesh& mesh, const std::vector<ops::MeshAxis>& over) {
  std::vector<std::int64_t> along;
  for (std::int64_t place = 0; place < mesh.devices(); ++place) {
    std::int64_t rest = mesh.devices(), r = 0;
    for (const ir::NamedAxis& a : mesh.axes) {
      rest /= a.size;
      if (std::ranges::find(over, a.name, &ops::MeshAxis::name) != over.end()) {
        r = r * a.size + place / rest % a.size;
      }
    }
    along.push_back(r);
  }
  return ops::take(integers_of(along), s.scope().device, 0);
}

/// Everybody's operand; each device takes its part of each, and joins them.
Vals all_to_all(const Site& s) {
  const ir::Mesh& mesh = whole_mesh(s);
  const std::vector<ops::MeshAxis> over = meeting(s, true);
  std::int64_t count = 1;
  for (const ops::MeshAxis& a : over) count *= mesh.size_of(a.name);
  if (s.integer({"split_count"}) != count)
    s.fail("it splits into other than one part for each device");
  const Val mine = place_along(s, mesh, over);
  Vals results;
  for (std::size_t k = 0; k < s.op().operands.size(); ++k) {
    const Val x = s.in(k);
    const int split = s.axis({"split_dimension"}, usize(x.rank()));
    const int join = s.axis({"concat_dimension"}, usize(x.rank()));
    const std::vector<ir::Dim> shape(x.shape().begin(), x.shape().end());
    const ir::Dim size = shape[usize(split)];
    if (!size.is_constant() || size.constant() % count != 0) {
      s.fail("the size " + size.to_string() + " is not one of " + std::to_string(count) + " parts");
    }
    std::vector<ir::Dim> parts = shape;
    parts[usize(split)] = size.constant() / count;
    parts.insert(parts.begin() + split, count);
    parts.insert(parts.begin(), 1);
    Val all = ops::reshape(x, parts);  // [1, …, count, size / count, …]
    for (std::size_t i = over.size(); i-- > 0;) all = ops::all_gather(all, 0, over[i]);
    const Val taken = ops::take(all, mine, split + 1);  // [count, …, size / count, …]
    std::vector<std::int64_t> order;
    for (std::int64_t i = 1; i <= x.rank(); ++i) {
      if (i == join + 1) order.push_back(0);
      order.push_back(i);
    }
    std::vector<ir::Dim> joined = shape;
    joined[usize(split)] = size.constant() / count;
    joined[usize(join)] = joined[usize(join)] * ir::Dim(count);
    results.push_back(ops::reshape(ops::transpose(taken, order), joined));
  }
  return results;
}

/// What is sent from one device to another, as places of the mesh.
struct Way {
  std::int64_t source, target;
};
std::vector<Way> ways(const Site& s, const ir::Mesh& mesh) {
  std::unordered_map<std::int64_t, std::int64_t> place;
  for (std::size_t i = 0; i < mesh.device_ids.size(); ++i) {
    place[mesh.device_ids[i]] = static_cast<std::int64_t>(i);
  }
  const ops::AxisList pairs = s.integers({"source_target_pairs"});
  if (pairs.size() % 2 != 0) s.fail("its sources and targets are no pairs");
  std::vector<Way> all;
  std::set<std::int64_t> send, receive;
  for (std::size_t k = 0; k < pairs.size(); k += 2) {
    for (std::int64_t d : {pairs[k], pairs[k + 1]}) {
      if (d < 0 || d >= mesh.devices()) s.fail("the mesh has no device " + std::to_string(d));
    }
    if (!send.insert(pairs[k]).second || !receive.insert(pairs[k + 1]).second) {
      s.fail("a device sends or receives twice");
    }
    const auto at = [&](std::int64_t d) { return place.empty() ? d : place.at(d); };
    all.push_back({at(pairs[k]), at(pairs[k + 1])});
  }
  return all;
}

/// Everybody's operand along the axes that something is sent along; each device takes the one that
/// is sent to it.
Vals collective_permute(const Site& s) {
  s.expect_operands(1);
  const ir::Mesh& mesh = whole_mesh(s);
  const std::vector<Way> all = ways(s, mesh);
  std::vector<ops::MeshAxis> along;
  std::vector<std::int64_t> targets, rows(all.size());
  std::int64_t behind = mesh.devices();
  for (const ir::NamedAxis& a : mesh.axes) {
    behind /= a.size;
    const auto coordinate = [&](std::int64_t place) { return place / behind % a.size; };
    if (std::ranges::all_of(
            all, [&](const Way& w) { return coordinate(w.source) == coordinate(w.target); })) {
      continue;
    }
    along.push_back({a.name, a.size});
    for (std::size_t k = 0; k < all.size(); ++k) {
      rows[k] = rows[k] * a.size + coordinate(all[k].source);
    }
  }
  for (const Way& w : all) targets.push_back(w.target);
  const Val x = s.in(0);
  std::vector<ir::Dim> shape(x.shape().begin(), x.shape().end());
  shape.insert(shape.begin(), 1);
  Val gathered = ops::reshape(x, shape);
  for (std::size_t k = along.size(); k-- > 0;) gathered = ops::all_gather(gathered, 0, along[k]);
  const Val places = integers_of(targets), zero = ops::zeros_like(places);
  const Val hit = ops::compare(ops::Comparison::eq, places,
                               ops::broadcast_in_dim(s.scope().device, places.shape(), {}));
  const std::int64_t axis[] = {0};
  const Val row = ops::reduce_sum(ops::select(hit, integers_of(rows), zero), axis);
  const Val mine = ops::take(gathered, row, 0);
  if (static_cast<std::int64_t>(all.size()) == mesh.devices()) return {mine};
  const Val count = ops::reduce_sum(ops::convert(hit, DType::i64), axis);
  const Val receives = ops::compare(ops::Comparison::ne, count, ops::zeros_like(count));
  return {
      ops::select(ops::broadcast_in_dim(receives, mine.shape(), {}), mine, ops::zeros_like(mine))};
}

}  // namespace

void add_collectives(RaiseTable& t) {
  t["stablehlo.all_reduce"] = all_reduce;
  t["stablehlo.all_gather"] = all_gather;
  t["stablehlo.reduce_scatter"] = reduce_scatter;
  t["stablehlo.partition_id"] = partition_id;
  t["stablehlo.replica_id"] = replica_id;
  t["stablehlo.all_to_all"] = all_to_all;
  t["stablehlo.collective_permute"] = collective_permute;
}

}  // namespace tlaloc::stablehlo::raising
