#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tlaloc/base/error.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/llm/convert_parts.h"

namespace tlaloc::llm {
namespace {

/// The rows of a tensor that the source is.
io::Tensor rows_of(const io::TensorFile& tensors, const Source& s) {
  io::Tensor t = tensors.at(s.tensor);
  const std::size_t row = t.bytes.size() / static_cast<std::size_t>(t.shape[0]);
  t.shape = s.shape;
  t.bytes = t.bytes.subspan(static_cast<std::size_t>(s.first_row) * row,
                            static_cast<std::size_t>(s.shape[0]) * row);
  return t;
}

}  // namespace

ConvertedTensors::ConvertedTensors(const io::TensorFile& tensors, const Decoder& from,
                                   const Decoder& to, const ConvertOptions& options, bool gguf)
    : tensors_(tensors), options_(options), gguf_(gguf), from_(from), to_(to) {
  auto shift = [](bool from_zero, bool to_zero) {
    Change c;
    c.add = static_cast<float>(from_zero) - static_cast<float>(to_zero);
    return c;
  };
  const WeightsOf<Source>&f = from_.sources, &t = to_.sources;
  add(f.embedding, t.embedding, {}, true);
  for (std::size_t i = 0; i < f.layers.size(); ++i) {
    const LayerOf<Source>&a = f.layers[i], &b = t.layers[i];
    const LayerSpec &sa = from_.spec.layers[i], &sb = to_.spec.layers[i];
    auto norm = [&](auto source, auto spec) {
      const bool there = (sa.*spec).has_value();
      add(a.*source, b.*source,
          there ? shift((sa.*spec)->around_zero, (sb.*spec)->around_zero) : Change());
    };
    norm(&LayerOf<Source>::attention_norm, &LayerSpec::attention_norm);
    norm(&LayerOf<Source>::attention_output_norm, &LayerSpec::attention_output_norm);
    norm(&LayerOf<Source>::mlp_norm, &LayerSpec::mlp_norm);
    norm(&LayerOf<Source>::mlp_output_norm, &LayerSpec::mlp_output_norm);
    Change heads;
    if (sa.attention.interleaved != sb.attention.interleaved) {
      heads.head_width = sa.attention.width;
      heads.interleave = sb.attention.interleaved != 0;
      heads.reordered = std::max(sa.attention.interleaved, sb.attention.interleaved);
    }
    add(a.attention.query, b.attention.query, heads);
    add(a.attention.key, b.attention.key, heads);
    add(a.attention.value, b.attention.value, {});
    add(a.attention.output, b.attention.output, {});
    Change head_norm = heads;
    head_norm.add =
        shift(sa.attention.head_norm_spec.around_zero, sb.attention.head_norm_spec.around_zero).add;
    add(a.attention.query_norm, b.attention.query_norm, head_norm);
    add(a.attention.key_norm, b.attention.key_norm, head_norm);
    if (a.attention.gate.has_value() != b.attention.gate.has_value()) {
      refuse_to_convert("the other format has no gates of attention", "run the model as it is");
    }
    if (a.attention.gate) add(*a.attention.gate, *b.attention.gate, {});
    add(a.mlp.gate, b.mlp.gate, {});
    add(a.mlp.up, b.mlp.up, {});
    add(a.mlp.down, b.mlp.down, {});
  }
  add(f.norm, t.norm, shift(from_.spec.norm.around_zero, to_.spec.norm.around_zero), false);
  if (f.head) add(*f.head, *t.head, {}, true);
}

void ConvertedTensors::add(const std::optional<Source>& from, const std::optional<Source>& to,
                           const Change& change) {
  if (from.has_value() != to.has_value()) {
    refuse_to_convert(fmt::format("{} is there in one format only", (from ? *from : *to).tensor),
                      "run the model as it is");
  }
  if (from) add(*from, *to, change, false);
}

void ConvertedTensors::add(const LinearOf<Source>& from, const LinearOf<Source>& to,
                           const Change& change) {
  add(from.weight, to.weight, change, false);
  add(from.bias, to.bias, change);
}

void ConvertedTensors::add(const Source& from, const Source& to, const Change& change, bool table) {
  std::vector<Part>& parts = parts_[to.tensor];
  parts.push_back({&from, &to, change});
  if (parts.size() > 1) return;
  io::TensorSpec spec{to.tensor, tensors_.at(from.tensor).storage,
                      Extents(to.shape.begin(), to.shape.end())};
  if (to.tensor_rows != 0) spec.shape[0] = to.tensor_rows;
  const bool blocks = io::block_elements(spec.storage) > 1;
  if (options_.storage) {
    spec.storage = *options_.storage;
    if (table && spec.storage == io::Storage::q4_0) spec.storage = io::Storage::q8_0;
  } else if ((!gguf_ && blocks) || change.add != 0) {
    spec.storage = io::Storage::f32;
  }
  if (gguf_ && spec.shape.size() == 1) spec.storage = io::Storage::f32;
  if (spec.shape.back() % io::block_elements(spec.storage) != 0) {
    throw UserError({"TL-CONVERT-002",
                     "convert",
                     fmt::format("{} is {}: its rows are no whole blocks of {}", spec.name,
                                 to_string(spec.shape), io::name(spec.storage)),
                     "convert to f16",
                     {}});
  }
  specs_.push_back(std::move(spec));
}

std::span<const std::byte> ConvertedTensors::bytes(const io::TensorSpec& spec) {
  buffer_.resize(static_cast<std::size_t>(io::storage_bytes(spec.storage, spec.shape).value()));
  const std::size_t row = buffer_.size() / static_cast<std::size_t>(spec.shape[0]);
  for (const Part& p : parts_.at(spec.name)) {
    put(p, spec.storage, buffer_.data() + static_cast<std::size_t>(p.to->first_row) * row);
  }
  return buffer_;
}

void ConvertedTensors::put(const Part& part, io::Storage storage, std::byte* out) const {
  const io::Tensor t = rows_of(tensors_, *part.from);
  const auto rows = static_cast<std::size_t>(t.shape[0]);
  const auto width = static_cast<std::size_t>(part.change.head_width);
  const auto half = static_cast<std::size_t>(part.change.reordered / 2);
  /// The row that becomes the one of the number.
  auto origin = [&](std::size_t row) {
    if (width == 0 || row % width >= 2 * half) return row;
    const std::size_t head = row / width * width, i = row % width;
    return head + (part.change.interleave ? i % 2 * half + i / 2 : i % half * 2 + i / half);
  };
  auto reorder = [&](const std::byte* from, std::size_t bytes, std::byte* to) {
    for (std::size_t i = 0; i < rows; ++i) {
      std::memcpy(to + i * bytes, from + origin(i) * bytes, bytes);
    }
  };
  if (t.storage == storage && part.change.add == 0) {
    return reorder(t.bytes.data(), t.bytes.size() / rows, out);
  }
  const HostArray decoded = io::to_f32(t);
  std::vector<float> values(static_cast<std::size_t>(decoded.size()));
  reorder(static_cast<const std::byte*>(decoded.data()), decoded.bytes() / rows,
          reinterpret_cast<std::byte*>(values.data()));
  if (part.change.add != 0) {
    for (float& v : values) v += part.change.add;
  }
  const auto size = static_cast<std::size_t>(io::storage_bytes(storage, t.shape).value());
  io::quantize(storage, values, {out, size}, io::where(t));
}

}  // namespace tlaloc::llm
