// The small parts of StableHLO text: types, constants, lists.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tlaloc/base/host_array.h"

namespace tlaloc::stablehlo {

/// A tensor type whose sizes are known.
struct TensorType {
  DType dtype = DType::f32;
  Extents extents;
  std::size_t rank() const { return extents.size(); }
  std::int64_t extent(std::size_t axis) const { return extents[axis]; }
  bool empty() const;
  TensorType with(DType other) const { return {other, extents}; }
  TensorType with(Extents other) const { return {dtype, std::move(other)}; }
  bool operator==(const TensorType&) const = default;
};

/// "f32", "i1", "ui8".
std::string_view element_name(DType dtype);
/// "tensor<2x3xf32>".
std::string type_text(const TensorType& t);
/// "dense<…> : tensor<…>", exact: what has no short decimal form is written as its bits.
std::string constant_text(const HostArray& value);
/// "[1, 2]".
std::string list_text(std::span<const std::int64_t> values);
/// "array<i64: 1, 2>".
std::string array_attr(std::span<const std::int64_t> values);
/// "name" in MLIR's quotes.
std::string quoted(std::string_view text);

}  // namespace tlaloc::stablehlo
