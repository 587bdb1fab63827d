// Tensors in files that are mapped into memory: what every checkpoint format is read to.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlaloc/base/files.h"
#include "tlaloc/base/host_array.h"
#include "tlaloc/io/storage.h"

namespace tlaloc::io {

/// A tensor without its content.
struct TensorSpec {
  std::string name;
  Storage storage = Storage::f32;
  Extents shape;  ///< row-major, in elements

  friend bool operator==(const TensorSpec&, const TensorSpec&) = default;
};

/// What it is, and where. `bytes` has the size that storage and shape say.
struct Tensor : TensorSpec {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;        ///< keeps `bytes` there
  std::shared_ptr<const std::string> file;  ///< its name, where it is of one
};

/// "model.gguf: 'blk.0.attn_q.weight'", as errors name it.
std::string where(const Tensor& tensor);

/// The tensors of a checkpoint, in the files' order; their names differ.
class TensorFile {
 public:
  TensorFile() = default;
  TensorFile(TensorFile&&) = default;
  TensorFile& operator=(TensorFile&&) = default;
  /// Tensors without a file are of `path`. UserError `code` where two have one name.
  TensorFile(const char* code, const std::string& path, std::vector<Tensor> tensors);

  const std::vector<Tensor>& tensors() const { return tensors_; }
  const Tensor* find(std::string_view name) const;
  /// UserError TL-TENSOR-001 where there is none; it names the nearest.
  const Tensor& at(std::string_view name) const;
  /// Sum over all tensors.
  std::int64_t bytes() const;
  std::int64_t elements() const;

 private:
  std::string path_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string_view, std::size_t> index_;  // of names in tensors_
};

/// The tensor's bytes as an array, without a copy where its place in the file allows. UserError
/// TL-TENSOR-002 for a storage that no DType has, and for bools other than 0 and 1.
HostArray array_of(const Tensor& tensor);

/// Gives the content of the i-th tensor that is written, as many bytes as its storage and shape
/// say; they are read before the next call. Called once for each, in the file's order.
using TensorSource = std::function<std::span<const std::byte>(std::size_t i)>;

}  // namespace tlaloc::io
