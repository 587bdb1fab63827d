// The type of a value: element type, storage encoding and symbolic shape. Interned.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/dtype.h"
#include "tlaloc/ir/dim.h"

namespace tlaloc::ir {

/// A registered block-quantized storage format. Dense values have none.
struct Encoding {
  std::string name;             ///< "q8_0", ...
  std::int64_t block_elements;  ///< elements in one block along the last axis
  std::int64_t block_bytes;
};
/// The encoding of that name, or null.
const Encoding* find_encoding(std::string_view name);

/// One word wide; equal words mean equal dtype, encoding and canonical dims. Axis labels are no
/// part of a type: they live on graph parameters, results and front-end handles.
class Type {
 public:
  Type() = default;
  static Type get(DType dtype, std::span<const Dim> shape, const Encoding* encoding = nullptr);
  static Type get(DType dtype, std::initializer_list<Dim> shape) {
    return get(dtype, std::span<const Dim>(shape.begin(), shape.size()));
  }
  static Type scalar(DType dtype) { return get(dtype, std::span<const Dim>{}); }

  explicit operator bool() const { return data_ != nullptr; }
  DType dtype() const { return data_->dtype; }
  /// Null for dense values.
  const Encoding* encoding() const { return data_->encoding; }
  int rank() const { return static_cast<int>(data_->shape.size()); }
  std::span<const Dim> shape() const { return data_->shape; }
  Dim dim(int axis) const { return data_->shape[static_cast<std::size_t>(axis)]; }
  /// Product of the dims.
  Dim elements() const;
  bool has_symbols() const { return data_->symbolic; }

  Type with_dtype(DType dtype) const { return get(dtype, shape(), encoding()); }
  /// Dense: another shape may not be whole blocks.
  Type with_shape(std::span<const Dim> shape) const { return get(dtype(), shape); }
  /// One axis more or less in front. The last axis, along which blocks lie, keeps its encoding.
  Type with_leading(Dim lead) const;
  Type without_leading() const;
  Type substitute(const DimMap& map) const;

  bool operator==(const Type&) const = default;
  std::size_t hash() const { return std::hash<const void*>{}(data_); }
  std::string to_string() const;  ///< "f32[n, 4]"
  std::string to_string(const Dim::Namer& namer) const;

 private:
  struct Data {
    DType dtype;
    const Encoding* encoding;
    std::vector<Dim> shape;
    bool symbolic;
    std::size_t hash;
  };
  struct Table;
  explicit Type(const Data* data) : data_(data) {}
  const Data* data_ = nullptr;
};

/// Same dtype, encoding and rank, dims compared by `equal`; unknown if some dim is unknown.
Truth equal(Type a, Type b);

}  // namespace tlaloc::ir
