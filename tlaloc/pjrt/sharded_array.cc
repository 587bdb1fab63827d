#include "tlaloc/pjrt/sharded_array.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "tlaloc/ops/strided.h"
#include "tlaloc/runtime/calls.h"

namespace tlaloc::plugins {
namespace {

std::int64_t offset_of(const Extents& start, const Extents& strides) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < start.size(); ++i) offset += start[i] * strides[i];
  return offset;
}

}  // namespace

ShardLayout shard_layout(const std::optional<ir::Sharding>& sharding, std::int64_t devices,
                         const Extents& whole) {
  ShardLayout r{whole, std::vector<Extents>(usize(devices), Extents(whole.size(), 0)), {}};
  r.devices.resize(usize(devices));
  std::iota(r.devices.begin(), r.devices.end(), std::size_t{0});
  if (!sharding) return r;
  const ir::Mesh& mesh = sharding->mesh;
  for (std::size_t k = 0; k < whole.size(); ++k) r.shard[k] /= sharding->parts(k);
  for (std::int64_t place = 0; place < devices; ++place) {
    std::map<std::string, std::int64_t> coordinates;
    std::int64_t rest = devices;
    for (const ir::NamedAxis& a : mesh.axes) {
      rest /= a.size;
      coordinates[a.name] = place / rest % a.size;
    }
    if (!mesh.device_ids.empty()) r.devices[usize(place)] = usize(mesh.device_ids[usize(place)]);
    Extents& start = r.starts[r.devices[usize(place)]];
    for (std::size_t k = 0; k < whole.size(); ++k) {
      std::int64_t part = 0;
      for (const ir::AxisRef& a : sharding->dims[k].axes) {
        const std::int64_t all = mesh.size_of(a.axis), size = a.size ? a.size : all;
        part = part * size + coordinates[a.axis] / (all / (a.before * size)) % size;
      }
      start[k] = part * r.shard[k];
    }
  }
  return r;
}

void check_owner(const Client& client, const runtime::Buffer& b) {
  const runtime::DeviceMemory* memory = b.memory().get();
  const auto* one = dynamic_cast<const DeviceArray*>(memory);
  const auto* parts = dynamic_cast<const ShardedArray*>(memory);
  if ((one && &one->client() == &client) || (parts && &parts->client() == &client)) return;
  runtime::throw_elsewhere("pjrt", b);
}

std::shared_ptr<const ShardedArray> ShardedArray::upload(const Client& client,
                                                         const HostArray& whole,
                                                         ShardLayout layout) {
  const Extents strides = ops::row_major_strides(whole.extents());
  Shards shards;
  Uploaded uploaded;
  for (std::size_t d = 0; d < layout.starts.size(); ++d) {
    if (layout.shard == whole.extents()) {
      shards.push_back(client.upload(whole, d));
      uploaded += shards.back()->uploaded();
      continue;
    }
    HostArray part = HostArray::uninitialized(whole.dtype(), layout.shard);
    ops::gather_strided(whole, offset_of(layout.starts[d], strides), strides, part);
    uploaded.copied += static_cast<std::int64_t>(part.bytes());
    shards.push_back(client.upload(std::move(part), d));
  }
  return std::make_shared<const ShardedArray>(std::move(layout), std::move(shards), uploaded);
}

HostArray ShardedArray::read(DType dtype, const Extents& extents) const {
  if (layout_.shard == extents) return shards_[layout_.devices[0]]->read(dtype, extents);
  HostArray whole = HostArray::uninitialized(dtype, extents);
  const Extents strides = ops::row_major_strides(extents);
  std::set<Extents> read;
  for (std::size_t d : layout_.devices) {
    if (!read.insert(layout_.starts[d]).second) continue;
    const HostArray part = shards_[d]->read(dtype, layout_.shard);
    ops::scatter_strided(part, offset_of(layout_.starts[d], strides), strides, whole);
  }
  return whole;
}

}  // namespace tlaloc::plugins
