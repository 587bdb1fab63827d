#include "tlaloc/io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"

namespace tlaloc::io {
namespace {

static_assert(std::endian::native == std::endian::little);

// Format: numpy/lib/_format_impl.py, "Format Version 1.0" and following.
constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;
/// A longer header is no array's: 32 sizes of 20 digits fit many times.
constexpr std::size_t kMaxHeader = 65536;
constexpr std::size_t kMaxRank = 64;

[[noreturn]] void refuse(const std::string& name, const std::string& message) {
  throw UserError(
      {"TL-NPY-001", "npy", name + ": " + message, "save the array anew with numpy.save", {}});
}

struct Header {
  std::string descr;
  bool fortran = false;
  Extents shape;
};

/// Reads the header's Python literal: a dict of exactly the three keys, in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  Header parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      auto once = [&](bool& seen) {
        if (seen) refuse(name_, "the header has " + key + " twice");
        seen = true;
      };
      if (key == "descr") {
        once(descr);
        skip();
        // Records are lists of fields; strings are what this reads.
        header.descr = peek() == '[' ? "a record" : string();
        if (header.descr == "a record") return header;
      } else if (key == "fortran_order") {
        once(order);
        header.fortran = boolean();
      } else if (key == "shape") {
        once(shape);
        header.shape = sizes();
      } else {
        refuse(name_, "the header has an unknown key");
      }
      if (!accept(',') && peek() != '}') unexpected();
    }
    skip();
    if (at_ != text_.size()) unexpected();
    if (!descr || !order || !shape) refuse(name_, "the header lacks a key");
    return header;
  }

 private:
  [[noreturn]] void unexpected() {
    refuse(name_, "the header can't be read from its byte " + std::to_string(at_));
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  char peek() { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char c) {
    skip();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) unexpected();
  }
  std::string string() {
    skip();
    const char quote = peek();
    if (quote != '\'' && quote != '"') unexpected();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) unexpected();
    std::string s(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return s;
  }
  bool boolean() {
    skip();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    unexpected();
  }
  Extents sizes() {
    Extents shape;
    expect('(');
    while (!accept(')')) {
      skip();
      std::int64_t size = 0;
      const auto [end, error] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0 || shape.size() == kMaxRank) unexpected();
      at_ = static_cast<std::size_t>(end - text_.data());
      if (peek() == 'L') ++at_;  // files of Python 2
      shape.push_back(size);
      if (!accept(',') && peek() != ')') unexpected();
    }
    return shape;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

struct Element {
  DType type;
  bool swapped = false;
};

constexpr std::pair<std::string_view, DType> kCodes[] = {
    {"b1", DType::boolean}, {"i1", DType::i8},  {"i2", DType::i16},   {"i4", DType::i32},
    {"i8", DType::i64},     {"u1", DType::u8},  {"u2", DType::u16},   {"u4", DType::u32},
    {"u8", DType::u64},     {"f2", DType::f16}, {"V2", DType::bf16},  {"f4", DType::f32},
    {"f8", DType::f64},     {"c8", DType::c64}, {"c16", DType::c128},
};

Element element_of(const std::string& descr, const std::string& name) {
  const char order = descr.empty() ? '\0' : descr[0];
  for (const auto& [code, type] : kCodes) {
    if (std::string_view(descr).substr(std::min<std::size_t>(1, descr.size())) != code) continue;
    if (order == '<' || order == '=' || order == '|') return {type};
    if (order == '>') return {type, byte_size(type) > 1};
  }
  throw UserError({"TL-NPY-002",
                   "npy",
                   name + ": elements are " + (descr == "a record" ? "records" : "'" + descr + "'"),
                   "save numbers: bool, integers, f16, bf16, f32, f64, c64, c128",
                   {}});
}

/// Each number the other way round; a complex one is two.
void swap_bytes(std::byte* data, std::size_t bytes, DType type) {
  const std::size_t width = static_cast<std::size_t>(byte_size(type)) / (is_complex(type) ? 2 : 1);
  for (std::size_t i = 0; i < bytes; i += width) std::reverse(data + i, data + i + width);
}

/// Copies elements whose first index varies fastest into row-major order.
void copy_fortran(const std::byte* from, HostArray& to) {
  const auto width = static_cast<std::size_t>(byte_size(to.dtype()));
  const Extents& shape = to.extents();
  const std::size_t rank = shape.size();
  std::vector<std::int64_t> strides(rank), index(rank, 0);
  std::int64_t stride = 1;
  for (std::size_t d = 0; d < rank; ++d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  auto* out = static_cast<std::byte*>(to.mutable_data());
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < to.size(); ++i) {
    std::memcpy(out + usize(i) * width, from + usize(offset) * width, width);
    for (std::size_t d = rank; d-- > 0;) {
      offset += strides[d];
      if (++index[d] < shape[d]) break;
      offset -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
}

}  // namespace

HostArray parse_npy(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic) || text.size() < 10) refuse(name, "this is no .npy file");
  const auto major = static_cast<unsigned char>(text[6]),
             minor = static_cast<unsigned char>(text[7]);
  if (major < 1 || major > 3 || minor != 0) {
    refuse(name, "version " + std::to_string(major) + "." + std::to_string(minor) +
                     ", where 1.0, 2.0 and 3.0 are read");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::uint32_t length = 0;
  if (text.size() < 8 + length_bytes) refuse(name, "the header is cut off");
  std::memcpy(&length, file.data() + 8, length_bytes);
  if (length > text.size() - 8 - length_bytes) refuse(name, "the header is cut off");
  if (length > kMaxHeader) {
    refuse(name, "a header of " + std::to_string(length) + " bytes, where at most " +
                     std::to_string(kMaxHeader) + " are read");
  }
  const Header header = HeaderParser(text.substr(8 + length_bytes, length), name).parse();
  const Element element = element_of(header.descr, name);
  const std::span<const std::byte> data = file.subspan(8 + length_bytes + length);
  const std::size_t bytes = checked_bytes(element.type, header.shape);
  if (bytes != data.size()) {
    refuse(name, to_string(header.shape) + " of " + header.descr + " takes " +
                     std::to_string(bytes) + " bytes, and " + std::to_string(data.size()) +
                     " follow the header");
  }
  if (element.type == DType::boolean &&
      std::any_of(data.begin(), data.end(), [](std::byte b) { return b > std::byte{1}; })) {
    refuse(name, "a bool is neither 0 nor 1");
  }
  HostArray array = HostArray::uninitialized(element.type, header.shape);
  if (bytes == 0) return array;
  if (header.fortran) {
    copy_fortran(data.data(), array);
  } else {
    std::memcpy(array.mutable_data(), data.data(), bytes);
  }
  if (element.swapped) {
    swap_bytes(static_cast<std::byte*>(array.mutable_data()), bytes, element.type);
  }
  return array;
}

std::vector<std::byte> npy_bytes(const HostArray& array) {
  const auto* code = std::find_if(std::begin(kCodes), std::end(kCodes),
                                  [&](const auto& c) { return c.second == array.dtype(); });
  std::string header = "{'descr': '";
  header += byte_size(array.dtype()) == 1 ? '|' : '<';
  header.append(code->first).append("', 'fortran_order': False, 'shape': (");
  const Extents& shape = array.extents();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    header += (d ? " " : "") + std::to_string(shape[d]);
    if (d + 1 < shape.size() || d == 0) header += ',';
  }
  header += "), }";
  // NumPy leaves room for the first size to grow to 21 digits in place.
  if (!shape.empty()) header.append(21 - std::to_string(shape[0]).size(), ' ');
  // Spaces, never none, so that the data is aligned behind the newline.
  const std::size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append(kAlignment - unpadded % kAlignment, ' ');
  header += '\n';
  std::string head(kMagic);
  head +=
      {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  head += header;
  std::vector<std::byte> file(head.size() + array.bytes());
  std::memcpy(file.data(), head.data(), head.size());
  if (array.bytes() > 0) std::memcpy(file.data() + head.size(), array.data(), array.bytes());
  return file;
}

HostArray read_npy(const std::string& path) {
  const auto file = MappedFile::open("npy", path);
  return parse_npy(file->bytes(), path);
}

void write_npy(const std::string& path, const HostArray& array) {
  const std::vector<std::byte> bytes = npy_bytes(array);
  write_files("npy", {{path, bytes}});
}

}  // namespace tlaloc::io
