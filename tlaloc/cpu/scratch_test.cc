#include "tlaloc/cpu/scratch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

#include "tlaloc/cpu/gang.h"

namespace tlaloc::cpu {
namespace {

bool has_only(const Scratch& s, std::size_t bytes, int value) {
  for (std::size_t i = 0; i < bytes; ++i) {
    if (s.get()[i] != static_cast<std::byte>(value)) return false;
  }
  return true;
}

/// Each depth has its own bytes, which those within it leave alone.
void nest(std::size_t bytes, int depth) {
  const Scratch s(bytes);
  ASSERT_EQ(reinterpret_cast<std::uintptr_t>(s.get()) % 64, 0);
  std::memset(s.get(), depth, bytes);
  if (depth < 9) nest(bytes, depth + 1);
  EXPECT_TRUE(has_only(s, bytes, depth)) << bytes << " bytes at depth " << depth;
}

TEST(Scratch, ScopesDoNotMeet) {
  // The last ones do not all fit into what a thread keeps, or none of them does.
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 1000, 50'000, 1'000'000}) nest(bytes, 0);
}

TEST(Scratch, IsEachThreadsOwn) {
  for (int k = 0; k < 50; ++k) {
    parallel(4, [](std::int64_t) { nest(3000, 0); });
  }
}

}  // namespace
}  // namespace tlaloc::cpu
