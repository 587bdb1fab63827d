#include "tlaloc/io/storage.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "tlaloc/base/block_formats.h"
#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

constexpr std::int8_t kNone = -1;

/// What is stored together.
struct Sizes {
  std::int16_t elements, bytes;
};
/// As the block format of that name says.
constexpr Sizes kBlock{0, 0};

struct Row {
  Storage storage;
  std::string_view name;
  Sizes sizes;
  std::int8_t dtype;   ///< of DType, or kNone
  std::int8_t number;  ///< of ggml_type, or kNone
  bool safetensors;
};
constexpr std::int8_t as(DType type) { return static_cast<std::int8_t>(type); }

// Sizes that are sums: d, scales, high bits, low bits. Format: ggml-common.h of llama.cpp.
constexpr Row kRows[] = {
    {Storage::boolean, "BOOL", {1, 1}, as(DType::boolean), kNone, true},
    {Storage::f4, "F4", {2, 1}, kNone, kNone, true},
    {Storage::f6_e2m3, "F6_E2M3", {4, 3}, kNone, kNone, true},
    {Storage::f6_e3m2, "F6_E3M2", {4, 3}, kNone, kNone, true},
    {Storage::u8, "U8", {1, 1}, as(DType::u8), kNone, true},
    {Storage::i8, "I8", {1, 1}, as(DType::i8), 24, true},
    {Storage::f8_e5m2, "F8_E5M2", {1, 1}, kNone, kNone, true},
    {Storage::f8_e4m3, "F8_E4M3", {1, 1}, kNone, kNone, true},
    {Storage::f8_e8m0, "F8_E8M0", {1, 1}, kNone, kNone, true},
    {Storage::f8_e4m3fnuz, "F8_E4M3FNUZ", {1, 1}, kNone, kNone, true},
    {Storage::f8_e5m2fnuz, "F8_E5M2FNUZ", {1, 1}, kNone, kNone, true},
    {Storage::i16, "I16", {1, 2}, as(DType::i16), 25, true},
    {Storage::u16, "U16", {1, 2}, as(DType::u16), kNone, true},
    {Storage::f16, "F16", {1, 2}, as(DType::f16), 1, true},
    {Storage::bf16, "BF16", {1, 2}, as(DType::bf16), 30, true},
    {Storage::i32, "I32", {1, 4}, as(DType::i32), 26, true},
    {Storage::u32, "U32", {1, 4}, as(DType::u32), kNone, true},
    {Storage::f32, "F32", {1, 4}, as(DType::f32), 0, true},
    {Storage::c64, "C64", {1, 8}, as(DType::c64), kNone, true},
    {Storage::f64, "F64", {1, 8}, as(DType::f64), 28, true},
    {Storage::i64, "I64", {1, 8}, as(DType::i64), 27, true},
    {Storage::u64, "U64", {1, 8}, as(DType::u64), kNone, true},
    {Storage::q4_0, "Q4_0", kBlock, kNone, 2, false},
    {Storage::q4_1, "Q4_1", kBlock, kNone, 3, false},
    {Storage::q5_0, "Q5_0", kBlock, kNone, 6, false},
    {Storage::q5_1, "Q5_1", kBlock, kNone, 7, false},
    {Storage::q8_0, "Q8_0", kBlock, kNone, 8, false},
    {Storage::q8_1, "Q8_1", {32, 4 + 4 + 32}, kNone, 9, false},
    {Storage::q2_k, "Q2_K", kBlock, kNone, 10, false},
    {Storage::q3_k, "Q3_K", kBlock, kNone, 11, false},
    {Storage::q4_k, "Q4_K", kBlock, kNone, 12, false},
    {Storage::q5_k, "Q5_K", kBlock, kNone, 13, false},
    {Storage::q6_k, "Q6_K", kBlock, kNone, 14, false},
    {Storage::q8_k, "Q8_K", {256, 4 + 256 + 32}, kNone, 15, false},
    {Storage::iq2_xxs, "IQ2_XXS", {256, 2 + 64}, kNone, 16, false},
    {Storage::iq2_xs, "IQ2_XS", {256, 2 + 8 + 64}, kNone, 17, false},
    {Storage::iq3_xxs, "IQ3_XXS", {256, 2 + 32 + 64}, kNone, 18, false},
    {Storage::iq1_s, "IQ1_S", {256, 2 + 16 + 32}, kNone, 19, false},
    {Storage::iq4_nl, "IQ4_NL", kBlock, kNone, 20, false},
    {Storage::iq3_s, "IQ3_S", {256, 2 + 4 + 8 + 32 + 64}, kNone, 21, false},
    {Storage::iq2_s, "IQ2_S", {256, 2 + 16 + 64}, kNone, 22, false},
    {Storage::iq4_xs, "IQ4_XS", kBlock, kNone, 23, false},
    {Storage::iq1_m, "IQ1_M", {256, 8 + 16 + 32}, kNone, 29, false},
    {Storage::tq1_0, "TQ1_0", kBlock, kNone, 34, false},
    {Storage::tq2_0, "TQ2_0", kBlock, kNone, 35, false},
    {Storage::mxfp4, "MXFP4", kBlock, kNone, 39, false},
    {Storage::nvfp4, "NVFP4", kBlock, kNone, 40, false},
    {Storage::q1_0, "Q1_0", {128, 2 + 16}, kNone, 41, false},
};
static_assert([] {
  int i = 0;
  for (const Row& row : kRows) {
    if (static_cast<int>(row.storage) != i++) return false;
  }
  return true;
}());

const Row& row(Storage storage) { return kRows[static_cast<int>(storage)]; }

template <class Condition>
std::optional<Storage> find(Condition condition) {
  const Row* r = std::find_if(std::begin(kRows), std::end(kRows), condition);
  if (r == std::end(kRows)) return std::nullopt;
  return r->storage;
}

}  // namespace

std::string_view name(Storage storage) { return row(storage).name; }
std::int64_t block_elements(Storage storage) {
  const BlockFormat* format = block_format(storage);
  return format ? format->elements : row(storage).sizes.elements;
}
std::int64_t block_bytes(Storage storage) {
  const BlockFormat* format = block_format(storage);
  return format ? format->bytes : row(storage).sizes.bytes;
}
const BlockFormat* block_format(Storage storage) {
  if (row(storage).sizes.elements != 0) return nullptr;
  std::string lower(name(storage));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  const BlockFormat* format = find_block_format(lower);
  internal_check(format != nullptr, "a storage's block format is missing");
  return format;
}

std::optional<DType> dtype_of_storage(Storage storage) {
  const std::int8_t type = row(storage).dtype;
  if (type == kNone) return std::nullopt;
  return static_cast<DType>(type);
}
std::optional<Storage> storage_of_dtype(DType type) {
  return find([&](const Row& r) { return r.dtype == as(type); });
}
std::optional<Storage> parse_storage(std::string_view name) {
  return find([&](const Row& r) { return r.name == name; });
}
bool in_safetensors(Storage storage) { return row(storage).safetensors; }
std::optional<Storage> gguf_storage(std::uint32_t number) {
  return find([&](const Row& r) {
    return r.number != kNone && static_cast<std::uint32_t>(r.number) == number;
  });
}
std::optional<std::uint32_t> gguf_number(Storage storage) {
  if (row(storage).number == kNone) return std::nullopt;
  return static_cast<std::uint32_t>(row(storage).number);
}

std::optional<std::int64_t> storage_bytes(Storage storage, std::span<const std::int64_t> shape) {
  const std::int64_t elements = block_elements(storage);
  // Safetensors packs elements below a byte over all axes, GGUF makes blocks of each row.
  const bool rows = elements > 1 && !in_safetensors(storage);
  if (rows && (shape.empty() || shape.back() % elements != 0)) return std::nullopt;
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t size) { return size < 0; })) {
    return std::nullopt;
  }
  // A zero anywhere makes the product zero, whatever the other sizes multiply to.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::int64_t n = 1;
  for (std::int64_t size : shape) {
    if (__builtin_mul_overflow(n, size, &n)) return std::nullopt;
  }
  if (n % elements != 0) return std::nullopt;
  if (__builtin_mul_overflow(n / elements, block_bytes(storage), &n)) return std::nullopt;
  return n;
}

}  // namespace tlaloc::io
