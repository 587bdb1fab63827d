#include "tlaloc/io/tensor_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

/// Edits that make a of b: insertions, deletions, replacements.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string where(const Tensor& tensor) {
  return (tensor.file ? *tensor.file + ": '" : "'") + tensor.name + "'";
}

TensorFile::TensorFile(const char* code, const std::string& path, std::vector<Tensor> tensors)
    : path_(path), tensors_(std::move(tensors)) {
  const auto file = std::make_shared<const std::string>(path);
  for (Tensor& t : tensors_) {
    if (!t.file) t.file = file;
  }
  index_.reserve(tensors_.size());
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    if (index_.emplace(tensors_[i].name, i).second) continue;
    throw UserError({code,
                     "tensors",
                     path + " has two tensors '" + tensors_[i].name + "'",
                     "get the file anew",
                     {}});
  }
}

const Tensor* TensorFile::find(std::string_view name) const {
  const auto it = index_.find(name);
  return it == index_.end() ? nullptr : &tensors_[it->second];
}

const Tensor& TensorFile::at(std::string_view name) const {
  if (const Tensor* tensor = find(name)) return *tensor;
  // Names are some 40 letters: those of a file that was made to take long are not compared.
  constexpr std::size_t kLongest = 256;
  std::string_view nearest;
  std::size_t least = kLongest;
  for (const Tensor& t : tensors_) {
    if (name.size() > kLongest || t.name.size() > kLongest) continue;
    const std::size_t d = distance(name, t.name);
    if (d < least) {
      least = d;
      nearest = t.name;
    }
  }
  throw UserError({"TL-TENSOR-001",
                   "tensors",
                   path_ + " has no tensor '" + std::string(name) + "'",
                   nearest.empty() ? "" : "the nearest is '" + std::string(nearest) + "'",
                   {}});
}

std::int64_t TensorFile::bytes() const {
  std::int64_t n = 0;
  for (const Tensor& t : tensors_) n += static_cast<std::int64_t>(t.bytes.size());
  return n;
}

std::int64_t TensorFile::elements() const {
  std::int64_t n = 0;
  for (const Tensor& t : tensors_) {
    const auto blocks = static_cast<std::int64_t>(t.bytes.size()) / block_bytes(t.storage);
    n += blocks * block_elements(t.storage);
  }
  return n;
}

HostArray array_of(const Tensor& tensor) {
  const std::optional<DType> type = dtype_of_storage(tensor.storage);
  auto refuse = [&](const std::string& message, const std::string& hint) {
    throw UserError({"TL-TENSOR-002", "tensors", where(tensor) + " " + message, hint, {}});
  };
  if (!type) {
    refuse("is stored as " + std::string(name(tensor.storage)) + ", which no array holds",
           "decode it by dequantize, or use its bytes");
  }
  if (type == DType::boolean) {
    const auto wrong = std::find_if(tensor.bytes.begin(), tensor.bytes.end(),
                                    [](std::byte b) { return b > std::byte{1}; });
    if (wrong != tensor.bytes.end()) {
      refuse("has a bool that is neither 0 nor 1, element " +
                 std::to_string(wrong - tensor.bytes.begin()),
             "get the file anew");
    }
  }
  const std::size_t alignment = static_cast<std::size_t>(byte_size(*type));
  if (reinterpret_cast<std::uintptr_t>(tensor.bytes.data()) % alignment == 0) {
    return HostArray::external(*type, tensor.shape, tensor.bytes.data(), tensor.owner);
  }
  HostArray copy = HostArray::uninitialized(*type, tensor.shape);
  if (!tensor.bytes.empty()) {
    std::memcpy(copy.mutable_data(), tensor.bytes.data(), tensor.bytes.size());
  }
  return copy;
}

}  // namespace tlaloc::io
