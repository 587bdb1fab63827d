#include "tlaloc/base/large_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace tlaloc {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20, kPage = 4096;

class LargeMemory : public testing::Test {
 protected:
  void SetUp() override { release_memory(); }
  void TearDown() override { release_memory(); }
};

TEST_F(LargeMemory, ABlockServesArraysOfNearlyItsSize) {
  void* a = take_large(17 * kMiB);
  ASSERT_NE(a, nullptr);
  std::memset(a, 1, 17 * kMiB);
  give_large(a, 17 * kMiB);
  void* b = take_large(18 * kMiB);
  EXPECT_EQ(a, b);
  std::memset(b, 2, 18 * kMiB);
  void* c = take_large(17 * kMiB);
  EXPECT_NE(c, b);
  give_large(b, 18 * kMiB);
  give_large(c, 17 * kMiB);
  EXPECT_EQ(release_memory(), 36 * kMiB + 2 * kPage);
  EXPECT_EQ(release_memory(), 0u);
}

TEST_F(LargeMemory, ALargeBlockServesAgain) {
  const std::size_t bytes = 100 * kMiB;
  void* a = take_large(bytes);
  ASSERT_NE(a, nullptr);
  std::memset(a, 1, bytes);
  give_large(a, bytes);
  auto* b = static_cast<unsigned char*>(take_large(bytes));
  EXPECT_EQ(a, b);
  std::memset(b, 7, bytes);
  for (std::size_t i = 0; i < bytes; i += 4096) ASSERT_EQ(b[i], 7);
  give_large(b, bytes);
}

TEST_F(LargeMemory, KeepsNoMoreThanWasInUseAtOnce) {
  // Sizes that can't serve each other, one at a time: never more than the largest (of these, and of
  // the other tests) is there.
  for (std::size_t mib : {640, 480, 400, 360, 320, 200, 240})
    give_large(take_large(mib * kMiB), mib * kMiB);
  EXPECT_LE(release_memory(), 640 * kMiB + kPage);
  EXPECT_EQ(release_memory(), 0u);
  // Many small ones in use at once, then given back: at most as many as the list holds.
  std::vector<void*> blocks;
  for (int i = 0; i < 200; ++i) blocks.push_back(take_large(kMiB));
  for (void* block : blocks) give_large(block, kMiB);
  EXPECT_EQ(release_memory(), 64 * (kMiB + kPage));
}

TEST_F(LargeMemory, AbsurdSizesAreRefused) {
  for (const std::size_t bytes :
       {std::size_t{1} << 50, std::size_t{1} << 62, std::numeric_limits<std::size_t>::max()})
    EXPECT_EQ(take_large(bytes), nullptr);
  EXPECT_EQ(release_memory(), 0u);
}

TEST_F(LargeMemory, ThreadsHaveBlocksToThemselves) {
  auto work = [](std::uint64_t id) {
    for (std::uint64_t i = 0; i < 300; ++i) {
      const std::size_t bytes = (1 + (i * 7 + id) % 5) * kMiB;
      auto* p = static_cast<std::uint64_t*>(take_large(bytes));
      const std::uint64_t mark = id * 1000 + i;
      p[0] = p[bytes / 16] = p[bytes / 8 - 1] = mark;
      std::this_thread::yield();
      if (p[0] != mark || p[bytes / 16] != mark || p[bytes / 8 - 1] != mark) ADD_FAILURE();
      give_large(p, bytes);
    }
  };
  std::vector<std::jthread> threads;
  for (std::uint64_t id = 0; id < 4; ++id) threads.emplace_back(work, id);
}

}  // namespace
}  // namespace tlaloc
