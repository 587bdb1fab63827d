// An array whose parts lie on several devices.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tlaloc/ir/sharding.h"
#include "tlaloc/pjrt/client.h"

namespace tlaloc::plugins {

/// Which part of an array each device has: parts of one size, which may be the same on several.
struct ShardLayout {
  Extents shard;
  std::vector<Extents> starts;       ///< by device
  std::vector<std::size_t> devices;  ///< in the mesh's order
  bool operator==(const ShardLayout&) const = default;
};
/// Without a sharding every device has all of it. Open dimensions and priorities say nothing here.
ShardLayout shard_layout(const std::optional<ir::Sharding>& sharding, std::int64_t devices,
                         const Extents& whole);

/// UserError TL-BUFFER-002 where the memory is not this client's.
void check_owner(const Client& client, const runtime::Buffer& b);

class ShardedArray final : public runtime::DeviceMemory {
 public:
  using Shards = std::vector<std::shared_ptr<const DeviceArray>>;
  ShardedArray(ShardLayout layout, Shards shards, const Uploaded& uploaded = {})
      : layout_(std::move(layout)), shards_(std::move(shards)), uploaded_(uploaded) {}
  /// Hands each device its part. PluginError.
  static std::shared_ptr<const ShardedArray> upload(const Client& client, const HostArray& whole,
                                                    ShardLayout layout);
  const runtime::Device& device() const override { return shards_[0]->device(); }
  const Client& client() const { return shards_[0]->client(); }
  const ShardLayout& layout() const { return layout_; }
  /// What is cut out for a device is copied.
  const Uploaded& uploaded() const { return uploaded_; }
  const DeviceArray& shard(std::size_t device) const { return *shards_[device]; }
  /// Puts the parts together; of those that several devices have, the first one's in the mesh.
  HostArray read(DType dtype, const Extents& extents) const override;

 private:
  ShardLayout layout_;
  Shards shards_;  // by device
  Uploaded uploaded_;
};

}  // namespace tlaloc::plugins
