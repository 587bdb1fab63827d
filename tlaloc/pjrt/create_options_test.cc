#include "tlaloc/pjrt/create_options.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::plugins {
namespace {

constexpr char kCuda[] =
    "/venv/lib/python3.12/site-packages/jax_plugins/xla_cuda13/xla_cuda_plugin.so";

TEST(CreateOptions, PluginsForGpusDoNotTakeAllMemory) {
  const CreateOptions none{{"preallocate", false}};
  EXPECT_EQ(with_defaults(kCuda, {}), none);
  EXPECT_EQ(with_defaults("/lib/jax_plugins/xla_rocm7/xla_rocm_plugin.so", {}), none);
  EXPECT_EQ(with_defaults("/usr/lib/pjrt/pjrt_c_api_gpu_plugin.so", {}), none);
}

TEST(CreateOptions, WhoCreatesMaySayOtherwise) {
  const CreateOptions all{{"preallocate", true}, {"memory_fraction", 0.5f}};
  EXPECT_EQ(with_defaults(kCuda, all), all);
  EXPECT_EQ(with_defaults(kCuda, {{"memory_fraction", 0.5f}}).size(), 2u);
}

TEST(CreateOptions, OtherPluginsGetNothing) {
  for (const char* plugin :
       {"/gpu-machine/lib/xla_cpu_pjrt/pjrt_plugin.so", "/lib/libtpu/libtpu.so"}) {
    EXPECT_TRUE(with_defaults(plugin, {}).empty()) << plugin;
  }
}

TEST(CreateOptions, GoToThePluginAsTheyAre) {
  const CreateOptions options = with_defaults(kCuda, {{"visible_devices", std::string("0")}});
  const std::vector<c::NamedValue> values = named_values(options);
  ASSERT_EQ(values.size(), 2u);
  EXPECT_EQ(std::string_view(values[0].name, values[0].name_size), "preallocate");
  EXPECT_EQ(values[0].type, c::kBool);
  EXPECT_FALSE(values[0].bool_value);
}

}  // namespace
}  // namespace tlaloc::plugins
