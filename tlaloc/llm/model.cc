#include "tlaloc/llm/model.h"

#include <array>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/lang/core_quantized.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {
namespace {

/// Formats that products read as they are.
std::optional<QuantFormat> format_of(io::Storage storage) {
  switch (storage) {
    case io::Storage::q4_0:
      return QuantFormat::q4_0;
    case io::Storage::q4_1:
      return QuantFormat::q4_1;
    case io::Storage::q5_0:
      return QuantFormat::q5_0;
    case io::Storage::q5_1:
      return QuantFormat::q5_1;
    case io::Storage::q8_0:
      return QuantFormat::q8_0;
    case io::Storage::q2_k:
      return QuantFormat::q2_k;
    case io::Storage::q3_k:
      return QuantFormat::q3_k;
    case io::Storage::q4_k:
      return QuantFormat::q4_k;
    case io::Storage::q5_k:
      return QuantFormat::q5_k;
    case io::Storage::q6_k:
      return QuantFormat::q6_k;
    case io::Storage::iq4_nl:
      return QuantFormat::iq4_nl;
    case io::Storage::iq4_xs:
      return QuantFormat::iq4_xs;
    default:
      return std::nullopt;
  }
}

class Loader {
 public:
  Loader(const io::TensorFile& tensors, const LoadOptions& options, Model& model)
      : tensors_(tensors), options_(options), model_(model), all_(tensors.bytes()) {}

  Array operator()(const Source& source) {
    const io::Tensor t = rows_of(source);
    done_ += static_cast<std::int64_t>(t.bytes.size());
    Array weight = array_of(t);
    if (options_.progress) options_.progress("loading weights", done_, all_);
    return weight;
  }

 private:
  /// The part of the tensor that the source is.
  io::Tensor rows_of(const Source& source) const {
    io::Tensor t = tensors_.at(source.tensor);
    if (source.tensor_rows != 0) {
      Extents row = source.shape;
      row[0] = 1;
      const auto bytes = io::storage_bytes(t.storage, row);
      if (!bytes) {
        throw UserError({"TL-LLM-003",
                         "llm::load",
                         io::where(t) + " holds several weights, and the blocks of " +
                             std::string(io::name(t.storage)) + " lie across their borders",
                         "store the tensor in a type without blocks",
                         {}});
      }
      const auto row_bytes = static_cast<std::size_t>(*bytes);
      t.bytes = t.bytes.subspan(static_cast<std::size_t>(source.first_row) * row_bytes,
                                static_cast<std::size_t>(source.shape[0]) * row_bytes);
    }
    t.shape = source.shape;
    return t;
  }

  Array array_of(const io::Tensor& t) {
    const bool stored = options_.weights == WeightPolicy::stored && t.shape.size() == 2;
    if (const auto format = format_of(t.storage); format && stored) {
      model_.mapped_bytes += static_cast<std::int64_t>(t.bytes.size());
      const std::span bytes(reinterpret_cast<const std::uint8_t*>(t.bytes.data()), t.bytes.size());
      const std::array<core::AxisSpec, 2> axes{};
      return Array(core::quantized(*format, axes, t.shape, bytes, t.owner, Where::current()));
    }
    const bool small_floats = t.storage == io::Storage::f16 || t.storage == io::Storage::bf16;
    HostArray array = small_floats && stored ? io::array_of(t) : io::to_f32(t);
    (array.owner() == t.owner ? model_.mapped_bytes : model_.decoded_bytes) +=
        static_cast<std::int64_t>(array.bytes());
    return Array(core::make_concrete(std::move(array)));
  }

  const io::TensorFile& tensors_;
  const LoadOptions& options_;
  Model& model_;
  std::int64_t all_, done_ = 0;
};

}  // namespace

std::shared_ptr<const Model> load(const std::string& path, const LoadOptions& options) {
  if (options.progress) options.progress("reading the configuration", 0, 0);
  auto model = std::make_shared<Model>();
  model->checkpoint = open_checkpoint(path, options.checkpoint);
  const Checkpoint& c = model->checkpoint;
  model->weights = map_leaves<Array>(c.decoder.sources, Loader(c.tensors, options, *model));
  return model;
}

}  // namespace tlaloc::llm
