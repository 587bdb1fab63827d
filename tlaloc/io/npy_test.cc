#include "tlaloc/io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string file_of(const std::string& header, const std::string& data, char version = 1) {
  std::string f = "\x93NUMPY";
  f += {version, '\0', static_cast<char>(header.size() & 255),
        static_cast<char>(header.size() >> 8)};
  if (version > 1) f += {'\0', '\0'};
  return f + header + data;
}
HostArray parse(const std::string& file) {
  return parse_npy(std::as_bytes(std::span(file)), "a.npy");
}
std::string error(const std::string& file) {
  try {
    parse(file);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
const std::string kPlain = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n";
const std::string kTwelve = std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12);

// tests/io compares with NumPy; here is what NumPy doesn't write.
TEST(Npy, ReadsAnyKeyOrderAndVersion) {
  const HostArray a = parse(file_of(kPlain, kTwelve));
  EXPECT_EQ(to_string(a), "i16[2, 3] {1, 2, 3, 4, 5, 6}");
  for (const char* header : {"{\"shape\":(2,3),'fortran_order':False,'descr':'=i2'}",
                             "{'shape' : (2L, 3L) , 'descr': '<i2', 'fortran_order': False}  "}) {
    for (char version : {'\1', '\2', '\3'}) {
      EXPECT_TRUE(identical(parse(file_of(header, kTwelve, version)), a)) << header;
    }
  }
}

TEST(Npy, RefusesWhatIsNoFile) {
  const std::string whole = file_of(kPlain, kTwelve);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(error(whole.substr(0, size)), StartsWith("TL-NPY-001: npy: a.npy: ")) << size;
  }
  EXPECT_THAT(error(whole + "x"), HasSubstr("[2, 3] of <i2 takes 12 bytes, and 13 follow"));
  EXPECT_THAT(error(file_of(kPlain, kTwelve, 4)), HasSubstr("version 4.0"));
  for (const char* header :
       {"", "{", "{}", "[]", "{'descr': '<i2'}",
        "{'descr': <i2, 'fortran_order': False, 'shape': ()}",
        "{'descr': '<i2', 'fortran_order': false, 'shape': (6,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (-6,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6,}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': 6}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6,)} x",
        "{'descr': '<i2', 'descr': '<i2', 'fortran_order': False, 'shape': (6,)}",
        "{'descr': '<i2', 'fortran_order': False, 'shape': (6,), 'more': 'x'}"}) {
    EXPECT_THAT(error(file_of(header, kTwelve)), StartsWith("TL-NPY-001: npy: a.npy: ")) << header;
  }
  EXPECT_THAT(error(file_of("{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\1\2")),
              HasSubstr("a bool is neither 0 nor 1"));
  // Sizes whose product has no number.
  EXPECT_THAT(error(file_of("{'descr': '<i2', 'fortran_order': False, "
                            "'shape': (4294967296, 4294967296)}",
                            "")),
              StartsWith("TL-SIZE-001"));
}

TEST(Npy, RefusesOtherElementTypesByName) {
  for (const char* descr : {"<U8", "|O", "|S3", "<M8[s]", "<f16", "<V4", "", "<", "i2"}) {
    const std::string quoted = "'" + std::string(descr) + "'";
    EXPECT_THAT(
        error(file_of("{'descr': " + quoted + ", 'fortran_order': False, 'shape': ()}", "")),
        StartsWith("TL-NPY-002: npy: a.npy: elements are " + quoted));
  }
  EXPECT_THAT(error(file_of("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "")),
              StartsWith("TL-NPY-002: npy: a.npy: elements are records; save numbers"));
}

TEST(Npy, KeepsEveryElementType) {
  for (int t = 0; t < kDTypeCount; ++t) {
    HostArray a(static_cast<DType>(t), {2, 1, 3});
    auto* bytes = static_cast<unsigned char*>(a.mutable_data());
    for (std::size_t i = 0; i < a.bytes(); ++i) {
      bytes[i] = static_cast<unsigned char>(t == 0 ? i % 2 : 7 * i + 1);
    }
    EXPECT_TRUE(identical(parse_npy(npy_bytes(a), "a"), a)) << name(a.dtype());
  }
  const HostArray empty(DType::f32, {0, std::numeric_limits<std::int64_t>::max()});
  EXPECT_TRUE(identical(parse_npy(npy_bytes(empty), "a"), empty));
}

TEST(Npy, FilesThatAreNotThere) {
  EXPECT_THROW(read_npy("no/such.npy"), EnvironmentError);
  EXPECT_THROW(write_npy("no/such.npy", HostArray::scalar(1.0f)), EnvironmentError);
}

}  // namespace
}  // namespace tlaloc::io
