// How files store the elements of a tensor: each DType, and formats that only files have.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tlaloc/base/dtype.h"

namespace tlaloc {
struct BlockFormat;
}

namespace tlaloc::io {

enum class Storage : std::uint8_t {
  // In the order in which safetensors sorts what it writes.
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64,
  // Blocks of GGUF. dequantize.h says which of them have a decoder.
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q8_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  q8_k,
  iq2_xxs,
  iq2_xs,
  iq3_xxs,
  iq1_s,
  iq4_nl,
  iq3_s,
  iq2_s,
  iq4_xs,
  iq1_m,
  tq1_0,
  tq2_0,
  mxfp4,
  nvfp4,
  q1_0,
};

/// As the files say: "F32", "BOOL", "F8_E4M3", "Q4_K", …
std::string_view name(Storage storage);
/// Elements that are stored together: of the last axis, or of the tensor for F4 and F6. 1 for most.
std::int64_t block_elements(Storage storage);
/// Bytes that they take.
std::int64_t block_bytes(Storage storage);
/// nullptr where none is known: of elements that are no blocks, and of blocks without a decoder.
const BlockFormat* block_format(Storage storage);
/// The element type of the same bits, where there is one.
std::optional<DType> dtype_of_storage(Storage storage);
/// Nothing for c128, which no file format here has.
std::optional<Storage> storage_of_dtype(DType type);

/// By its name.
std::optional<Storage> parse_storage(std::string_view name);
bool in_safetensors(Storage storage);
/// By its number in GGUF (ggml_type).
std::optional<Storage> gguf_storage(std::uint32_t number);
/// Nothing where GGUF has no such type.
std::optional<std::uint32_t> gguf_number(Storage storage);

/// Bytes of a tensor. Nothing where its last axis, or all of it for F4 and F6, is no multiple of a
/// block, or where 63 bits don't hold the number of elements or bytes.
std::optional<std::int64_t> storage_bytes(Storage storage, std::span<const std::int64_t> shape);

}  // namespace tlaloc::io
