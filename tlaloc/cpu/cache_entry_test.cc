#include "tlaloc/cpu/cache_entry.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <span>
#include <string>

namespace tlaloc::cpu {
namespace {

CodeImage image() { return {{std::byte{0x90}, std::byte{0xc3}}, {{"f", 0}, {"g", 1}}}; }
const Digest kKey{1, 2, 3};

TEST(CacheEntry, ReadsWhatItWrote) {
  EXPECT_EQ(read_entry(kKey, write_entry(kKey, image())), image());
}

/// Written by other means: this is what the fuzzer starts from.
TEST(CacheEntry, TheFormatIsAsWritten) {
  std::ifstream file("tlaloc/cpu/testdata/cache_entry_fuzz/entry", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(read_entry(Digest{}, std::as_bytes(std::span(text))), image());
}

TEST(CacheEntry, IsForOneKey) {
  EXPECT_EQ(read_entry(Digest{1, 2, 4}, write_entry(kKey, image())), std::nullopt);
}

TEST(CacheEntry, EveryTruncationIsSeen) {
  auto entry = write_entry(kKey, image());
  for (std::size_t size = 0; size < entry.size(); ++size)
    EXPECT_EQ(read_entry(kKey, std::span(entry).first(size)), std::nullopt) << size;
  entry.push_back(std::byte{0});
  EXPECT_EQ(read_entry(kKey, entry), std::nullopt);
}

TEST(CacheEntry, EveryWrongBitIsSeen) {
  auto entry = write_entry(kKey, image());
  for (std::byte& byte : entry)
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_EQ(read_entry(kKey, entry), std::nullopt) << &byte - entry.data() << ' ' << bit;
      byte ^= std::byte{1} << bit;
    }
  EXPECT_EQ(read_entry(kKey, entry), image());
}

}  // namespace
}  // namespace tlaloc::cpu
