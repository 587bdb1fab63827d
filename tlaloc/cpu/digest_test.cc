#include "tlaloc/cpu/digest.h"

#include <gtest/gtest.h>

namespace tlaloc::cpu {
namespace {

TEST(Hasher, IsSha256OfThePartsBehindTheirLengths) {
  // The digest of nothing, as FIPS 180-4 has it.
  EXPECT_EQ(to_hex(Hasher().finish()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // Of b"\3\0\0\0\0\0\0\0abc", by Python's hashlib.
  EXPECT_EQ(to_hex(Hasher().add("abc").finish()),
            "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391");
  // Of b"\3\0\0\0\0\0\0\0abc" b"\7\0\0\0\0\0\0\0".
  EXPECT_EQ(to_hex(Hasher().add("abc").add(std::uint64_t{7}).finish()),
            "426b860ab7f9723ebec89800dc994b9ccbfd943345f9e98e7c38f684668158dd");
}

TEST(Hasher, BordersOfPartsCount) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
}

}  // namespace
}  // namespace tlaloc::cpu
