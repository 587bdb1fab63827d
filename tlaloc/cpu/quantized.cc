#include "tlaloc/cpu/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/cpu/integer_product.h"
#include "tlaloc/cpu/kept_right.h"
#include "tlaloc/cpu/quant_kernels.h"
#include "tlaloc/cpu/scratch.h"
#include "tlaloc/ops/index_value.h"
#include "tlaloc/ops/quant_blocks.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;
using ops::kBlockElements;

constexpr double kDecodeNanoseconds = 0.1;
constexpr std::int64_t kLargestBlock = 256;

struct Quantized {
  const ir::Encoding* encoding;
  DType dtype;
  ops::QuantMatmulAttrs attrs = {};
  std::shared_ptr<const KeptRight> kept = nullptr;  ///< the weights, if they are always the same
  bool by_integers = false;
};

/// Weights as rows of blocks.
struct Weights {
  Weights(const Quantized& q, const std::byte* data, std::int64_t elements)
      : decode(block_decoder(q.encoding->name)),
        bytes(reinterpret_cast<const std::uint8_t*>(data)),
        block_bytes(q.encoding->block_bytes),
        block_elements(q.encoding->block_elements),
        blocks(elements / block_elements) {}
  DecodeBlocks decode;
  const std::uint8_t* bytes;
  std::int64_t block_bytes, block_elements, blocks;  ///< the last of a row
  const std::uint8_t* at(std::int64_t row, std::int64_t block = 0) const {
    return bytes + (row * blocks + block) * block_bytes;
  }
};

/// Decodes blocks to elements of another type.
template <class T>
void decode_as(const Weights& w, const std::uint8_t* from, std::int64_t blocks, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    w.decode(from, usize(blocks), out);
  } else {
    std::array<float, kLargestBlock> some;
    for (std::int64_t b = 0; b < blocks; ++b, from += w.block_bytes) {
      w.decode(from, 1, some.data());
      for (std::int64_t i = 0; i < w.block_elements; ++i) *out++ = static_cast<T>(some[usize(i)]);
    }
  }
}

template <class F>
void with_float(DType t, const F& f) {
  dispatch(t, [&]<class T>(TypeTag<T> tag) {
    if constexpr (std::is_floating_point_v<ComputeType<T>>) f(tag);
  });
}

// ---- dequantize, quant_gather ----

/// The step's integers: rows, elements of a row; of a gather the number of positions, then.
void run_dequantize(const KernelCall& call) {
  const Quantized& q = *static_cast<const Quantized*>(call.data);
  const std::int64_t rows = call.ints[0], length = call.ints[1];
  if (rows == 0 || length == 0) return;
  const Weights w(q, call.storages[0], length);
  with_float(q.dtype, [&]<class T>(TypeTag<T>) {
    T* out = reinterpret_cast<T*>(call.storages[1]);
    parallel(share(rows * w.blocks, kDecodeNanoseconds * static_cast<double>(w.block_elements)),
             [&](std::int64_t begin, std::int64_t end) {
               decode_as(w, w.at(0, begin), end - begin, out + begin * w.block_elements);
             });
  });
}

void run_gather(const KernelCall& call) {
  const Quantized& q = *static_cast<const Quantized*>(call.data);
  const std::int64_t rows = call.ints[0], length = call.ints[1], count = call.ints[2];
  if (count == 0 || length == 0) return;
  const Weights w(q, call.storages[0], length);
  const auto* at = reinterpret_cast<const std::int64_t*>(call.storages[1]);
  with_float(q.dtype, [&]<class T>(TypeTag<T>) {
    T* out = reinterpret_cast<T*>(call.storages[2]);
    parallel(share(count, kDecodeNanoseconds * static_cast<double>(length)), [&](std::int64_t begin,
                                                                                 std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        decode_as(w, w.at(ops::clamped_index(at[i], rows - 1)), w.blocks, out + i * length);
      }
    });
  });
}

// ---- quant_matmul ----

/// y [m, n] of x [m, k] and weights [n, k]; of transposed ones x [m, n] and y [m, k].
struct Sizes {
  std::int64_t m, n, k;
};

/// part(begin, end) for ranges of rows or columns that are decoded at once; by the gang if all of
/// them take `nanoseconds` that are worth it.
template <class F>
void by_parts(const Ranges& ranges, double nanoseconds, const F& part) {
  if (nanoseconds > alone_nanoseconds()) return parallel(ranges, part);
  for (std::int64_t i = 0; i < ranges.extent; i += ranges.each) {
    part(i, std::min(i + ranges.each, ranges.extent));
  }
}

/// Parts of the weights are decoded, and multiplied as matrices. A part stays in the second-level
/// cache.
template <class T>
void decoded_by_parts(const Sizes& s, const Weights& w, const T* x, T* y, double nanoseconds) {
  constexpr std::int64_t kRows = 256;
  static_assert(kGemmDepth % kLargestBlock == 0);
  by_parts({s.n, kRows}, nanoseconds, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t longest = std::min(kGemmDepth, s.k);
    const Scratch decoded(sizeof(T) * usize((end - begin) * longest));
    const Scratch scratch(gemm_scratch_bytes(dtype_of<T>));
    T* const b = reinterpret_cast<T*>(decoded.get());
    for (std::int64_t k = 0; k < s.k; k += kGemmDepth) {
      const std::int64_t depth = std::min(kGemmDepth, s.k - k);
      for (std::int64_t j = begin; j < end; ++j) {
        decode_as(w, w.at(j, k / w.block_elements), depth / w.block_elements,
                  b + (j - begin) * depth);
      }
      gemm({.dtype = dtype_of<T>,
            .m = s.m,
            .n = end - begin,
            .k = depth,
            .a = {x + k, s.k, 1},
            .b = {b, 1, depth},
            .c = {y + begin, s.n, 1},
            .accumulate = k > 0},
           scratch.get());
    }
  });
}

/// Columns of the result in parts of some blocks; sums over parts of the weights' rows, in order.
template <class T>
void transposed(const Sizes& s, const Weights& w, const T* x, T* y, double nanoseconds) {
  by_parts({w.blocks, kLargestBlock / w.block_elements}, nanoseconds,
           [&](std::int64_t begin, std::int64_t end) {
             const std::int64_t columns = (end - begin) * w.block_elements;
             const Scratch decoded(sizeof(T) * usize(std::min(kGemmDepth, s.n) * columns));
             const Scratch scratch(gemm_scratch_bytes(dtype_of<T>));
             T* const b = reinterpret_cast<T*>(decoded.get());
             for (std::int64_t i = 0; i < s.n; i += kGemmDepth) {
               const std::int64_t depth = std::min(kGemmDepth, s.n - i);
               for (std::int64_t r = 0; r < depth; ++r) {
                 decode_as(w, w.at(i + r, begin), end - begin, b + r * columns);
               }
               gemm({.dtype = dtype_of<T>,
                     .m = s.m,
                     .n = columns,
                     .k = depth,
                     .a = {x + i, s.n, 1},
                     .b = {b, columns, 1},
                     .c = {y + begin * w.block_elements, s.k, 1},
                     .accumulate = i > 0},
                    scratch.get());
             }
           });
}

void with_packed(const Sizes& s, const PackedRight& weights, const float* x, float* y) {
  const Scratch scratch(gemm_scratch_bytes(DType::f32));
  gemm({.dtype = DType::f32,
        .m = s.m,
        .n = s.n,
        .k = s.k,
        .a = {x, s.k, 1},
        .b = {},
        .c = {y, s.n, 1},
        .packed_b = weights,
        .shared = true},
       scratch.get());
}

/// Weights that are not kept are packed by parts.
void by_integers(const Quantized& q, const Sizes& s, const Weights& w, const float* x, float* y) {
  constexpr std::int64_t kColumns = 1024;
  const Packing packing = packing_of(*q.encoding);
  const Scratch memory(packed_bytes(packing, s.k, std::min(kColumns, s.n)));
  for (std::int64_t j = 0; j < s.n; j += kColumns) {
    const IntegerProduct::Side side{
        {packing, memory.get()}, std::min(kColumns, s.n - j), y + j, s.n};
    pack_blocks(packing, s.k, side.n, w.at(j), memory.get());
    multiply_by_integers({s.m, s.k, x, {&side, 1}});
  }
}

/// Products of the same x with weights that are kept, by integers.
struct Sides {
  static constexpr std::size_t kMost = 8;
  std::vector<std::shared_ptr<const KeptRight>> rights;
};
/// The step's storages: x, the weights, the results. Its integers: m, k, and n of each.
void multiply_sides(const KernelCall& call) {
  const auto& rights = static_cast<const Sides*>(call.data)->rights;
  const std::int64_t m = call.ints[0], k = call.ints[1];
  std::array<IntegerProduct::Side, Sides::kMost> sides;
  std::size_t count = 0;
  for (std::size_t i = 0; i < rights.size(); ++i) {
    const std::int64_t n = call.ints[2 + i];
    auto* const y = reinterpret_cast<float*>(call.storages[1 + rights.size() + i]);
    if (m == 0 || n == 0) continue;
    if (k == 0) {
      std::fill_n(y, m * n, 0.0F);
    } else {
      sides[count++] = {rights[i]->packed(), n, y, n};
    }
  }
  if (count == 0) return;
  const auto* x = reinterpret_cast<const float*>(call.storages[0]);
  multiply_by_integers({m, k, x, std::span(sides).first(count)});
}
Cost sides_cost(const void* data, const std::int64_t* ints) {
  Cost c;
  double n = 0;
  std::string columns;
  for (std::size_t i = 0; i < static_cast<const Sides*>(data)->rights.size(); ++i) {
    columns += (i == 0 ? "" : " + ") + std::to_string(ints[2 + i]);
    n += static_cast<double>(ints[2 + i]);
  }
  c.space = fmt::format("[{}, {}, {}]", ints[0], columns, ints[1]);
  c.flops = 2 * static_cast<double>(ints[0]) * n * static_cast<double>(ints[1]);
  return c;
}

template <class T>
void multiply(const KernelCall& call) {
  const Quantized& q = *static_cast<const Quantized*>(call.data);
  const Sizes s{call.ints[0], call.ints[1], call.ints[2]};
  const auto* x = reinterpret_cast<const T*>(call.storages[0]);
  T* y = reinterpret_cast<T*>(call.storages[2]);
  const std::int64_t width = q.attrs.transposed ? s.k : s.n;
  // Another size may be too large for 64 bits where one is 0.
  if (s.m == 0 || width == 0) return;
  if (s.n == 0 || s.k == 0) return void(std::fill_n(y, s.m * width, T(0)));
  const Weights w(q, call.storages[1], s.k);
  const double nanoseconds = gemm_nanoseconds(dtype_of<T>, static_cast<double>(s.m),
                                              static_cast<double>(s.n), static_cast<double>(s.k));
  if (q.attrs.transposed) return transposed(s, w, x, y, nanoseconds);
  std::vector<float> rounded;
  if constexpr (std::is_same_v<T, float>) {
    if (q.attrs.activation == ops::Activation::q8_32) {
      if (q.by_integers) return by_integers(q, s, w, x, y);
      rounded.assign(x, x + s.m * s.k);
      for (std::size_t i = 0; i < rounded.size(); i += kBlockElements) {
        ops::round_to_q8_32(std::span<float, kBlockElements>(rounded.data() + i, kBlockElements));
      }
      x = rounded.data();
    }
    if (q.kept) return with_packed(s, q.kept->packed(), x, y);
  }
  decoded_by_parts(s, w, x, y, nanoseconds);
}

Cost matmul_cost(const void*, const std::int64_t* ints) {
  Cost c;
  for (int i = 0; i < 3; ++i) c.space += (i == 0 ? "[" : ", ") + std::to_string(ints[i]);
  c.space += "]";
  c.flops = 2 * static_cast<double>(ints[0]) * static_cast<double>(ints[1]) *
            static_cast<double>(ints[2]);
  return c;
}

Dim count_of(Type t, int axes) {
  Dim n = 1;
  for (int i = 0; i < axes; ++i) n *= t.dim(i);
  return n;
}

/// The step that reads these and writes a new storage of that type.
Value emit(Emitter& e, const char* name, KernelFn run, CostFn cost, Quantized q,
           std::vector<StorageId> from, std::initializer_list<Dim> sizes, Type type,
           const char* why = "") {
  Step s;
  s.name = name;
  s.why = why;
  if (q.kept) s.runs_on = "matrix kernel, weights packed once";
  s.run = run;
  s.cost = cost;
  s.reads = static_cast<std::uint32_t>(from.size());
  s.storages = std::move(from);
  const Value y = dense_value(type, e.storage(type));
  s.storages.push_back(*whole_storage(y));
  for (Dim d : sizes) s.ints.push_back(e.sizes.of(d));
  s.data = std::make_shared<const Quantized>(std::move(q));
  e.emit_step(std::move(s));
  return y;
}

/// One step multiplies the same x with one set of weights after the other, such as those of
/// queries, keys and values: it is rounded once.
Value emit_side(Emitter& e, std::shared_ptr<const KeptRight> kept, StorageId x, StorageId weights,
                Dim rows, Dim contracted, Type type) {
  const Value y = dense_value(type, e.storage(type));
  const StorageId to = *whole_storage(y);
  const Slot m = e.sizes.of(rows), k = e.sizes.of(contracted),
             n = e.sizes.of(type.dim(type.rank() - 1));
  if (Step* last = e.last_step(); last && last->run == multiply_sides && last->storages[0] == x &&
                                  last->ints[0] == m && last->ints[1] == k) {
    Sides all = *static_cast<const Sides*>(last->data.get());
    if (all.rights.size() < Sides::kMost) {
      if (auto& packed = e.program.kept; packed.back().right == kept) {
        packed.back().step = e.program.code.back().index;  // not that which would have come
      }
      all.rights.push_back(std::move(kept));
      last->data = std::make_shared<const Sides>(std::move(all));
      last->ints.push_back(n);
      e.add_to_last_step(weights, to);
      return y;
    }
  }
  Step s;
  s.name = "quant_matmul";
  s.runs_on = "matrix kernel, weights packed once";
  s.run = multiply_sides;
  s.cost = sides_cost;
  s.storages = {x, weights, to};
  s.reads = 2;
  s.ints = {m, k, n};
  s.data = std::make_shared<const Sides>(Sides{{std::move(kept)}});
  e.emit_step(std::move(s));
  return y;
}

}  // namespace

Value emit_dequantize(Emitter& e, const Value& weights, const std::string& encoding, Type type) {
  const int last = type.rank() - 1;
  return emit(e, "dequantize", run_dequantize, nullptr, {ir::find_encoding(encoding), type.dtype()},
              {e.dense(weights, "dequantize")}, {count_of(type, last), type.dim(last)}, type);
}

Value emit_quant_gather(Emitter& e, const Value& weights, const Value& indices,
                        const std::string& encoding, Type type) {
  const char* name = "quant_gather";
  const int last = type.rank() - 1;
  return emit(e, name, run_gather, nullptr, {ir::find_encoding(encoding), type.dtype()},
              {e.dense(weights, name), e.dense(as_index(indices), name)},
              {weights.type.dim(0), type.dim(last), count_of(type, last)}, type);
}

Value emit_quant_matmul(Emitter& e, const Value& x, const Value& weights,
                        const ops::QuantMatmulAttrs& attrs, Type type) {
  const char* name = "quant_matmul";
  const int last = type.rank() - 1;
  const Dim width = type.dim(last), contracted = x.type.dim(last);
  const StorageId left = e.dense(x, name), right = e.dense(weights, name);
  Quantized q{ir::find_encoding(attrs.encoding), type.dtype(), attrs};
  const Packing packing = packing_of(*q.encoding);
  q.by_integers = type.dtype() == DType::f32 && !attrs.transposed &&
                  attrs.activation == ops::Activation::q8_32 && multiplies_by_integers(packing);
  const char* why = "";
  if (e.is_fixed(right) && type.dtype() == DType::f32 && !attrs.transposed && width.is_constant() &&
      contracted.is_constant()) {
    const FixedMatrix w{right, packing, contracted.constant(), width.constant()};
    // Sums of integers are of panels, kept or not.
    if (q.by_integers || !is_narrow(w.packing, w.k, w.n)) q.kept = keep_right(e, w, why);
    if (q.by_integers && q.kept) {
      return emit_side(e, std::move(q.kept), left, right, count_of(type, last), contracted, type);
    }
  }
  return emit(e, name, type.dtype() == DType::f64 ? multiply<double> : multiply<float>, matmul_cost,
              std::move(q), {left, right},
              {count_of(type, last), attrs.transposed ? contracted : width,
               attrs.transposed ? width : contracted},
              type, why);
}

}  // namespace tlaloc::cpu
