#include "tlaloc/base/digest.h"

#include <gtest/gtest.h>

namespace tlaloc {
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

TEST(Sha256, OfTheBytesAlone) {
  // The examples of FIPS 180-4.
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Hasher, BordersOfPartsCount) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
}

}  // namespace
}  // namespace tlaloc
