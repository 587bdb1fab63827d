#include "tlaloc/cache/entry.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tlaloc::cache {
namespace {

using Bytes = std::vector<std::byte>;

const Digest kKey{1, 2, 3};
const Bytes kBody{std::byte{0x90}, std::byte{0xc3}, std::byte{0}};

std::optional<Bytes> read(const Digest& key, std::span<const std::byte> from) {
  const auto body = read_entry(key, from);
  return body ? std::optional(Bytes(body->begin(), body->end())) : std::nullopt;
}

TEST(CacheEntry, ReadsWhatItWrote) { EXPECT_EQ(read(kKey, write_entry(kKey, kBody)), kBody); }

/// Written by other means: this is what the fuzzer starts from.
TEST(CacheEntry, TheFormatIsAsWritten) {
  std::ifstream file("tlaloc/cache/testdata/entry_fuzz/entry", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto body = read(Digest{}, std::as_bytes(std::span(text)));
  ASSERT_TRUE(body);
  ASSERT_EQ(body->size(), 0x34u);
  EXPECT_EQ(body->at(8), std::byte{0x90});
}

TEST(CacheEntry, IsForOneKey) {
  EXPECT_EQ(read(Digest{1, 2, 4}, write_entry(kKey, kBody)), std::nullopt);
}

TEST(CacheEntry, EveryTruncationIsSeen) {
  auto entry = write_entry(kKey, kBody);
  for (std::size_t size = 0; size < entry.size(); ++size)
    EXPECT_EQ(read(kKey, std::span(entry).first(size)), std::nullopt) << size;
  entry.push_back(std::byte{0});
  EXPECT_EQ(read(kKey, entry), std::nullopt);
}

TEST(CacheEntry, EveryWrongBitIsSeen) {
  auto entry = write_entry(kKey, kBody);
  for (std::byte& byte : entry)
    for (int bit = 0; bit < 8; ++bit) {
      byte ^= std::byte{1} << bit;
      EXPECT_EQ(read(kKey, entry), std::nullopt) << &byte - entry.data() << ' ' << bit;
      byte ^= std::byte{1} << bit;
    }
  EXPECT_EQ(read(kKey, entry), kBody);
}

}  // namespace
}  // namespace tlaloc::cache
