#include "tlaloc/io/storage.h"

#include <gtest/gtest.h>

namespace tlaloc::io {
namespace {

/// GGML_QUANT_SIZES of the gguf package, 0.19.
struct Block {
  const char* name;
  std::int64_t elements, bytes;
};
constexpr Block kBlocks[] = {
    {"Q4_0", 32, 18},     {"Q4_1", 32, 20},    {"Q5_0", 32, 22},     {"Q5_1", 32, 24},
    {"Q8_0", 32, 34},     {"Q8_1", 32, 40},    {"Q2_K", 256, 84},    {"Q3_K", 256, 110},
    {"Q4_K", 256, 144},   {"Q5_K", 256, 176},  {"Q6_K", 256, 210},   {"Q8_K", 256, 292},
    {"IQ2_XXS", 256, 66}, {"IQ2_XS", 256, 74}, {"IQ3_XXS", 256, 98}, {"IQ1_S", 256, 50},
    {"IQ4_NL", 32, 18},   {"IQ3_S", 256, 110}, {"IQ2_S", 256, 82},   {"IQ4_XS", 256, 136},
    {"IQ1_M", 256, 56},   {"TQ1_0", 256, 54},  {"TQ2_0", 256, 66},   {"MXFP4", 32, 17},
    {"NVFP4", 64, 36},    {"Q1_0", 128, 18},
};

TEST(Storage, BlocksHaveTheSizesOfTheFormat) {
  for (const Block& block : kBlocks) {
    const std::optional<Storage> storage = parse_storage(block.name);
    ASSERT_TRUE(storage) << block.name;
    EXPECT_EQ(block_elements(*storage), block.elements) << block.name;
    EXPECT_EQ(block_bytes(*storage), block.bytes) << block.name;
  }
}

TEST(Storage, AllOthersHaveSizesToo) {
  for (int i = 0; i <= static_cast<int>(Storage::q1_0); ++i) {
    const auto storage = static_cast<Storage>(i);
    EXPECT_GE(block_elements(storage), 1) << name(storage);
    EXPECT_GE(block_bytes(storage), 1) << name(storage);
    if (const auto type = dtype_of_storage(storage)) {
      EXPECT_EQ(block_elements(storage), 1);
      EXPECT_EQ(block_bytes(storage), byte_size(*type)) << name(storage);
    }
  }
}

}  // namespace
}  // namespace tlaloc::io
