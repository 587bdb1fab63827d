// Stored elements as f32, and f32 as stored elements.
//
// Decoded are F32, F16, BF16 and the blocks Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K to Q6_K, IQ4_NL,
// IQ4_XS, TQ1_0, TQ2_0, MXFP4 and NVFP4, to the bits that the gguf package gives. Encoded are F32,
// F16, BF16, Q4_0 and Q8_0: to the bytes that it gives. Blocks: ggml-common.h and ggml-quants.c of
// llama.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "tlaloc/base/host_array.h"
#include "tlaloc/io/storage.h"
#include "tlaloc/io/tensor_file.h"

namespace tlaloc::io {

bool can_dequantize(Storage storage);
/// `blocks` are whole, and `out` has as many elements as they; `name` is what errors call them.
/// UserError TL-QUANT-002 for a storage without a decoder.
void dequantize(Storage storage, std::span<const std::byte> blocks, std::span<float> out,
                const std::string& name);
/// The whole tensor; without a copy for an F32 whose place in the file allows.
HostArray to_f32(const Tensor& tensor);

bool can_quantize(Storage storage);
/// As many values as whole blocks have that fill `out`; `name` is what errors call them. UserError
/// TL-QUANT-002 for a storage without an encoder, TL-QUANT-003 for values that it has no number
/// for: infinities and NaN in blocks, and what is too large.
void quantize(Storage storage, std::span<const float> values, std::span<std::byte> out,
              const std::string& name);

}  // namespace tlaloc::io
