#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/io/npy.h"
#include "tlaloc/io/testdata/temporary_folder.h"

namespace tlaloc::io {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error(const std::string& file) {
  try {
    parse_npz(std::as_bytes(std::span(file)), "a.npz");
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
std::string error_of_writing(const std::string& path, const NamedArrays& arrays) {
  try {
    write_npz(path, arrays);
  } catch (const UserError& e) {
    return e.what();
  }
  return "";
}
NamedArrays two_arrays() {
  HostArray zeros(DType::f32, {100, 10});
  return {{"a", HostArray::scalar(1.5f)}, {"zeros", zeros}};
}
std::string file_of(const NamedArrays& arrays, NpzPacking packing) {
  const testing::TemporaryFolder folder;
  write_npz(folder.path("a.npz"), arrays, packing);
  std::stringstream all;
  all << std::ifstream(folder.path("a.npz"), std::ios::binary).rdbuf();
  return all.str();
}
void put(std::string& file, std::size_t at, std::uint32_t value, std::size_t bytes = 4) {
  std::memcpy(file.data() + at, &value, bytes);
}

// tests/io compares with NumPy; here are damaged archives.
TEST(Npz, RefusesWhatIsCutOffOrChanged) {
  for (const NpzPacking packing : {NpzPacking::stored, NpzPacking::deflated}) {
    const std::string whole = file_of(two_arrays(), packing);
    ASSERT_EQ(error(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      ASSERT_THAT(error(whole.substr(0, size)), StartsWith("TL-ZIP-001: zip: a.npz: ")) << size;
    }
    // A changed byte of content is found by its sum.
    const std::size_t content = whole.find("PK\x01\x02") - 8;
    std::string changed = whole;
    changed[content] = static_cast<char>(changed[content] ^ 1);
    EXPECT_THAT(error(changed), HasSubstr("entry 'zeros.npy' is damaged"));
  }
}

TEST(Npz, RefusesDirectoriesThatLie) {
  const std::string whole = file_of(two_arrays(), NpzPacking::deflated);
  const std::size_t first = whole.find("PK\x01\x02"), second = whole.find("PK\x01\x02", first + 1);
  const std::size_t end = whole.find("PK\x05\x06");
  auto with = [&](std::size_t at, std::uint32_t value, std::size_t bytes = 4) {
    std::string file = whole;
    put(file, at, value, bytes);
    return error(file);
  };
  EXPECT_THAT(with(end + 10, 3, 2), HasSubstr("its directory does not fit"));
  EXPECT_THAT(with(end + 10, 0xfff0, 2), HasSubstr("its directory does not fit"));
  EXPECT_THAT(with(end + 16, 0xfffffff0), HasSubstr("its directory does not fit"));
  EXPECT_THAT(with(end + 16, 0), HasSubstr("its directory is damaged"));
  EXPECT_THAT(with(second + 8, 1, 2), HasSubstr("entry 'zeros.npy' is encrypted"));
  EXPECT_THAT(with(second + 10, 12, 2), HasSubstr("entry 'zeros.npy' is packed by method 12"));
  EXPECT_THAT(with(second + 20, 0x7fffffff), HasSubstr("it is cut off"));
  EXPECT_THAT(with(second + 24, 0x7fffffff), HasSubstr("which don't unpack to 2147483647"));
  EXPECT_THAT(with(second + 24, 4127), HasSubstr("entry 'zeros.npy' is damaged"));
  EXPECT_THAT(with(second + 24, 4129), HasSubstr("entry 'zeros.npy' is damaged"));
  EXPECT_THAT(with(second + 42, 0xfffffff0), HasSubstr("it is cut off"));
  EXPECT_THAT(with(second + 42, 1), HasSubstr("'zeros.npy' is not there"));
  EXPECT_THAT(with(second + 42, 0), HasSubstr("entries 'a.npy' and 'zeros.npy' overlap"));
}

TEST(Npz, SizesThatAreOnlyClaimedTakeNoMemory) {
  HostArray noise(DType::u8, {1 << 20});
  std::mt19937 random;
  for (std::uint8_t& x : noise.as_mutable<std::uint8_t>()) x = static_cast<std::uint8_t>(random());
  std::string file = file_of({{"a", noise}}, NpzPacking::deflated);
  auto peak = [] {
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;  // kB
  };
  const long before = peak();
  put(file, file.find("PK\x01\x02") + 24, 1 << 30);
  EXPECT_THAT(error(file), HasSubstr("entry 'a.npy' is damaged"));
  EXPECT_LT(peak() - before, 100'000);
}

TEST(Npz, EntriesMayLieInAnyOrder) {
  const std::string whole = file_of(two_arrays(), NpzPacking::stored);
  const std::size_t first = whole.find("PK\x01\x02"), second = whole.find("PK\x01\x02", first + 1);
  const std::size_t end = whole.find("PK\x05\x06");
  const std::string swapped = whole.substr(0, first) + whole.substr(second, end - second) +
                              whole.substr(first, second - first) + whole.substr(end);
  const NamedArrays arrays = parse_npz(std::as_bytes(std::span(swapped)), "a.npz");
  ASSERT_EQ(arrays.size(), 2U);
  EXPECT_EQ(arrays[0].first, "zeros");
  EXPECT_TRUE(identical(arrays[1].second, two_arrays()[0].second));
}

TEST(Npz, RefusesEntriesThatAreNoArrays) {
  auto renamed = [](const std::string& from, const std::string& to) {
    std::string file = file_of(two_arrays(), NpzPacking::stored);
    for (std::size_t at = 0; (at = file.find(from, at)) != std::string::npos;) {
      file.replace(at, from.size(), to);
    }
    return error(file);
  };
  EXPECT_THAT(renamed("a.npy", "a.txt"),
              StartsWith("TL-NPY-001: npz: a.npz: entry 'a.txt' is no array"));
  EXPECT_THAT(renamed("a.npy", "\xff.npy"), HasSubstr("has a name that is no UTF-8"));
  EXPECT_THAT(renamed("NUMPY", "NUMPX"), HasSubstr("entry 'a.npy' is damaged"));
  std::string twice =
      file_of({{"a", HostArray::scalar(1)}, {"b", HostArray::scalar(1)}}, NpzPacking::stored);
  for (std::size_t at = 0; (at = twice.find("b.npy", at)) != std::string::npos;) twice[at] = 'a';
  EXPECT_THAT(error(twice), HasSubstr("entry 'a.npy' occurs twice"));
}

TEST(Npz, RefusesToWriteByName) {
  const testing::TemporaryFolder folder;
  const HostArray one = HostArray::scalar(1.0f);
  EXPECT_THAT(error_of_writing(folder.path("a"), {{"a", one}, {"a", one}}),
              StartsWith("TL-NPY-003: npz: the name 'a' occurs twice"));
  EXPECT_THAT(error_of_writing(folder.path("a"), {{"\xff", one}}), StartsWith("TL-NPY-003"));
  NamedArrays many;
  for (int i = 0; i < 65535; ++i) many.emplace_back(std::to_string(i), one);
  EXPECT_THAT(error_of_writing(folder.path("a"), many),
              StartsWith("TL-ZIP-002: zip: with '65534.npy' the archive is above 4 GB"));
  EXPECT_TRUE(folder.names().empty());
  many.pop_back();
  EXPECT_EQ(error_of_writing(folder.path("a"), many), "");
  EXPECT_EQ(read_npz(folder.path("a")).size(), 65534U);
}

}  // namespace
}  // namespace tlaloc::io
