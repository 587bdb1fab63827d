#include "tlaloc/pjrt/ahead.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tlaloc/base/error.h"
#include "tlaloc/pjrt/compile_options.h"
#include "tlaloc/pjrt/finder.h"

namespace tlaloc::plugins {
namespace {

using c::Function;

/// What XLA wants to know of a GPU (its GpuTargetConfigProto): NVIDIA's H200, from its data sheet
/// and CUDA's tables of compute capability 9.0.
constexpr std::string_view kHopper = R"(
gpu_device_info {
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: 233472
  threads_per_core_limit: 2048
  core_count: 132
  fpus_per_core: 128
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  memory_bandwidth: 4800000000000
  l2_cache_size: 52428800
  clock_rate_ghz: 1.98
  device_memory_size: 150754820096
  shared_memory_per_block_optin: 232448
  cuda_compute_capability { major: 9 minor: 0 }
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
}
platform_name: "CUDA"
dnn_version_info { major: 9 minor: 10 patch: 0 }
device_description_str: "NVIDIA H200"
)";

constexpr AheadTarget kTargets[] = {
    {"tpu-v4", "four chips of TPU v4", "libtpu", "v4:2x2x1", ""},
    {"tpu-v5e", "four chips of TPU v5e", "libtpu", "v5e:2x2", ""},
    {"tpu-v5p", "four chips of TPU v5p", "libtpu", "v5p:2x2x1", ""},
    {"tpu-v6e", "four chips of TPU v6e", "libtpu", "v6e:2x2", ""},
    {"cuda-sm90", "one NVIDIA H200 (compute capability 9.0)", "xla_cuda", "1x1x1", kHopper},
};

}  // namespace

void keep_libtpu_quiet() {
  for (const auto& [name, value] :
       {std::pair("TPU_SKIP_MDS_QUERY", "1"), std::pair("TPU_WORKER_HOSTNAMES", "localhost"),
        std::pair("TPU_ACCELERATOR_TYPE", "v5litepod-4"), std::pair("TPU_LOG_DIR", "disabled"),
        std::pair("ALLOW_MULTIPLE_LIBTPU_LOAD", "1")}) {
    setenv(name, value, 0);  // whoever set them has reasons
  }
}

std::span<const AheadTarget> ahead_targets() { return kTargets; }

const AheadTarget& ahead_target(std::string_view name) {
  const auto* found = std::ranges::find(kTargets, name, &AheadTarget::name);
  if (found != std::end(kTargets)) return *found;
  std::string all;
  for (const AheadTarget& t : kTargets) all += (all.empty() ? "" : ", ") + std::string(t.name);
  throw UserError({"TL-PJRT-004",
                   "pjrt",
                   "there is no device called '" + std::string(name) + "' to compile for",
                   "one of " + all,
                   {}});
}

Topology::Topology(const AheadTarget& target) : plugin_(Plugin::load(find_plugin(target.plugin))) {
  CreateOptions options;
  if (!target.config.empty()) {
    options["target_config"] = std::string(target.config);
    options["topology"] = std::string(target.topology);
  }
  const std::vector<c::NamedValue> values = named_values(options);
  c::TopologyDescription_Create create{};
  create.topology_name = target.topology.data();
  create.topology_name_size = target.topology.size();
  create.create_options = values.data();
  create.num_options = values.size();
  plugin_.call(Function::TopologyDescription_Create, create, "topology");
  topology_ = create.topology;
}
Topology::~Topology() {
  plugin_.call_quietly(Function::TopologyDescription_Destroy,
                       c::TopologyDescription_Destroy{0, nullptr, topology_});
}

std::size_t Topology::device_count() const {
  c::TopologyDescription_GetDeviceDescriptions devices{};
  devices.topology = topology_;
  plugin_.call(Function::TopologyDescription_GetDeviceDescriptions, devices, "topology");
  return devices.num_descriptions;
}

std::unique_ptr<const DeviceCode> Topology::compile(std::string_view module, std::int64_t replicas,
                                                    std::int64_t partitions) const {
  const c::Program program = module_argument(module);
  const std::string options = compile_options(replicas, partitions);
  c::Compile args{};
  args.topology = topology_;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  plugin_.call(Function::Compile, args, "compile");
  return std::make_unique<const DeviceCode>(plugin_, args.executable);
}

}  // namespace tlaloc::plugins
