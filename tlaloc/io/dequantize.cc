#include "tlaloc/io/dequantize.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "tlaloc/base/block_formats.h"
#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

template <class T>
T read(const std::uint8_t* bytes) {
  T x;
  std::memcpy(&x, bytes, sizeof x);
  return x;
}

void decode_f32(const std::uint8_t* from, std::size_t count, float* out) {
  std::memcpy(out, from, count * sizeof(float));
}
void decode_f16(const std::uint8_t* from, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = block_half(read<std::uint16_t>(from + 2 * i));
}
void decode_bf16(const std::uint8_t* from, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t bits = read<std::uint16_t>(from + 2 * i);
    out[i] = std::bit_cast<float>(bits << 16);
  }
}

decltype(BlockFormat::decode) decoder(Storage storage) {
  if (storage == Storage::f32) return decode_f32;
  if (storage == Storage::f16) return decode_f16;
  if (storage == Storage::bf16) return decode_bf16;
  const BlockFormat* format = block_format(storage);
  return format != nullptr ? format->decode : nullptr;
}

}  // namespace

bool can_dequantize(Storage storage) { return decoder(storage) != nullptr; }

void dequantize(Storage storage, std::span<const std::byte> blocks, std::span<float> out,
                const std::string& name) {
  const auto decode = decoder(storage);
  if (!decode) {
    throw UserError(
        {"TL-QUANT-002",
         "dequantize",
         name + " is stored as " + std::string(io::name(storage)) + ", which has no decoder",
         "use a model that is quantized to Q4_K_M, Q8_0 or another common type",
         {}});
  }
  const auto block = static_cast<std::size_t>(block_bytes(storage));
  const std::size_t count = blocks.size() / block;
  internal_check(blocks.size() % block == 0 && out.size() == count * usize(block_elements(storage)),
                 "dequantize: sizes don't fit");
  if (out.empty()) return;  // there may be no memory at all
  decode(reinterpret_cast<const std::uint8_t*>(blocks.data()), count, out.data());
}

HostArray to_f32(const Tensor& tensor) {
  if (tensor.storage == Storage::f32) return array_of(tensor);
  HostArray array = HostArray::uninitialized(DType::f32, tensor.shape);
  dequantize(tensor.storage, tensor.bytes, array.as_mutable<float>(), where(tensor));
  return array;
}

}  // namespace tlaloc::io
