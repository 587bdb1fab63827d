#include "tlaloc/lang/core_quantized.h"

#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/core_impl.h"
#include "tlaloc/ops/val_quant.h"

namespace tlaloc::core {
namespace {

const ir::Encoding& encoding_of(QuantFormat format) {
  constexpr const char* kNames[]{"q4_0", "q4_1", "q5_0", "q5_1", "q8_0",   "q8_32", "q2_k",
                                 "q3_k", "q4_k", "q5_k", "q6_k", "iq4_nl", "iq4_xs"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(QuantFormat::count));
  return *ir::find_encoding(kNames[static_cast<std::size_t>(format)]);
}

}  // namespace

Ref quantized(QuantFormat format, AxesSpec axes, std::span<const std::int64_t> sizes,
              std::span<const std::uint8_t> bytes, std::shared_ptr<const void> owner, Where where) {
  const OpCall call{"quantized", where};
  return with_place(where, [&] {
    const ir::Encoding& e = encoding_of(format);
    const auto given = static_cast<std::int64_t>(bytes.size());
    const auto refuse = [&](std::int64_t elements) {
      throw UserError({"TL-SHAPE-002", call.name,
                       std::to_string(given) + " bytes given, " + e.name + " takes " +
                           std::to_string(e.block_bytes) + " for each " +
                           std::to_string(e.block_elements) + " elements of " +
                           describe(DType::f32, axes) +
                           (elements < 0 ? "" : ", which are " + std::to_string(elements)),
                       "give one block after the other, in row-major order", user_place(where)});
    };
    if (given % e.block_bytes != 0) refuse(-1);
    const std::int64_t count = given / e.block_bytes * e.block_elements;
    Extents extents = extents_of(axes, sizes, count, DType::f32, where);
    if (extents.back() % e.block_elements != 0) {
      throw UserError({"TL-QUANT-001", call.name,
                       "the last axis has " + std::to_string(extents.back()) +
                           " elements, which are no whole blocks of " +
                           std::to_string(e.block_elements),
                       "pad the axis", user_place(where)});
    }
    if (element_count(extents) != count) refuse(element_count(extents));
    extents.back() = extents.back() / e.block_elements * e.block_bytes;
    HostArray array;
    if (owner) {
      array = HostArray::external(DType::u8, std::move(extents), bytes.data(), std::move(owner));
    } else {
      array = HostArray::uninitialized(DType::u8, std::move(extents));
      if (!bytes.empty()) std::memcpy(array.mutable_data(), bytes.data(), bytes.size());
    }
    return make_concrete(std::move(array), labels_of(axes), &e);
  });
}

std::span<const std::uint8_t> quantized_bytes(const Ref& w, Where where) {
  const Node& n = node(w);
  if (n.traced()) {
    throw UserError({"TL-TRACE-001", "bytes",
                     "the value of " + describe(w) + " is not known while tracing",
                     "read it outside of the traced function", user_place(where)});
  }
  return {static_cast<const std::uint8_t*>(n.array().data()), n.array().bytes()};
}

Ref dequantize(const Ref& w, AxesSpec axes, Where where) {
  return apply({"dequantize", where}, std::array{w}, axes,
               [](std::span<const ir::Val> in) { return ops::dequantize(in[0]); });
}

Ref quant_matmul(const Ref& x, const Ref& w, bool transposed, QuantActivation activation,
                 AxesSpec axes, Where where) {
  const OpCall call{"quant_matmul", where};
  return with_place(where, [&] {
    require_same(call, "TL-SHAPE-003", x, rank(x) - 1, w, transposed ? 0 : 1);
    return apply(call, std::array{x, w}, axes, [&](std::span<const ir::Val> in) {
      return ops::quant_matmul(
          in[0], in[1], transposed,
          activation == QuantActivation::q8_32 ? ops::Activation::q8_32 : ops::Activation::f32);
    });
  });
}

Ref quant_gather(const Ref& w, const Ref& indices, AxesSpec axes, Where where) {
  return apply({"quant_gather", where}, std::array{w, indices}, axes,
               [](std::span<const ir::Val> in) { return ops::quant_gather(in[0], in[1]); });
}

}  // namespace tlaloc::core
