#include "tlaloc/cpu/quantized.h"

#include <algorithm>
#include <array>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/gang.h"
#include "tlaloc/cpu/gemm.h"
#include "tlaloc/cpu/quant_kernels.h"
#include "tlaloc/cpu/scratch.h"
#include "tlaloc/ops/index_value.h"
#include "tlaloc/ops/quant_blocks.h"

namespace tlaloc::cpu {
namespace {

using ir::Dim;
using ir::Type;
using ops::kBlockElements;

constexpr double kDecodeNanoseconds = 0.1, kProductNanoseconds = 0.05;

struct Quantized {
  const ir::Encoding* encoding;
  DType dtype;
  ops::QuantMatmulAttrs attrs = {};
};

/// Weights as rows of blocks.
struct Weights {
  Weights(const Quantized& q, const std::byte* data, std::int64_t elements)
      : kernels(quant_kernels(q.encoding->name)),
        bytes(reinterpret_cast<const std::uint8_t*>(data)),
        block_bytes(q.encoding->block_bytes),
        blocks(elements / kBlockElements) {}
  const QuantKernels& kernels;
  const std::uint8_t* bytes;
  std::int64_t block_bytes, blocks;  ///< of a row
  const std::uint8_t* at(std::int64_t row, std::int64_t block = 0) const {
    return bytes + (row * blocks + block) * block_bytes;
  }
};

/// Decodes blocks to elements of another type.
template <class T>
void decode_as(const Weights& w, const std::uint8_t* from, std::int64_t blocks, T* out) {
  if constexpr (std::is_same_v<T, float>) {
    w.kernels.decode(from, blocks, out);
  } else {
    std::array<float, kBlockElements> some;
    for (std::int64_t b = 0; b < blocks; ++b, from += w.block_bytes) {
      w.kernels.decode(from, 1, some.data());
      for (float v : some) *out++ = static_cast<T>(v);
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
    parallel(share(rows * w.blocks, kDecodeNanoseconds * kBlockElements),
             [&](std::int64_t begin, std::int64_t end) {
               decode_as(w, w.at(0, begin), end - begin, out + begin * kBlockElements);
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

/// Few rows: weights are decoded in registers.
void few_rows(const Sizes& s, const Weights& w, const float* x, float* y) {
  const double row = (kDecodeNanoseconds + kProductNanoseconds * static_cast<double>(s.m)) *
                     static_cast<double>(s.k);
  parallel(share(s.n, row), [&](std::int64_t begin, std::int64_t end) {
    // Four streams from memory are read faster than one.
    constexpr std::int64_t kStreams = 4;
    const std::int64_t apart = (end - begin + kStreams - 1) / kStreams;
    for (std::int64_t i = 0; i < apart; ++i) {
      for (std::int64_t j = begin + i; j < end; j += apart) {
        w.kernels.dots[s.m - 1](w.at(j), w.blocks, x, s.k, y + j, s.n);
      }
    }
  });
}

/// part(begin, end) for ranges of rows or columns that are decoded at once; by the gang if all of
/// them take `nanoseconds` that are worth it.
template <class F>
void by_parts(const Ranges& ranges, double nanoseconds, const F& part) {
  if (nanoseconds > alone_nanoseconds()) return parallel(ranges, part);
  for (std::int64_t i = 0; i < ranges.extent; i += ranges.each) {
    part(i, std::min(i + ranges.each, ranges.extent));
  }
}

/// Many rows: parts of the weights are decoded, and multiplied as matrices. A part stays in the
/// second-level cache.
template <class T>
void many_rows(const Sizes& s, const Weights& w, const T* x, T* y, double nanoseconds) {
  constexpr std::int64_t kRows = 256;
  static_assert(kGemmDepth % kBlockElements == 0);
  by_parts({s.n, kRows}, nanoseconds, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t longest = std::min(kGemmDepth, s.k);
    const Scratch decoded(sizeof(T) * usize((end - begin) * longest));
    const Scratch scratch(gemm_scratch_bytes(dtype_of<T>));
    T* const b = reinterpret_cast<T*>(decoded.get());
    for (std::int64_t k = 0; k < s.k; k += kGemmDepth) {
      const std::int64_t depth = std::min(kGemmDepth, s.k - k);
      for (std::int64_t j = begin; j < end; ++j) {
        decode_as(w, w.at(j, k / kBlockElements), depth / kBlockElements, b + (j - begin) * depth);
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
  constexpr std::int64_t kBlocks = 8;
  by_parts({w.blocks, kBlocks}, nanoseconds, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t columns = (end - begin) * kBlockElements;
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
            .c = {y + begin * kBlockElements, s.k, 1},
            .accumulate = i > 0},
           scratch.get());
    }
  });
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
  if constexpr (std::is_same_v<T, float>) {
    std::vector<float> rounded;
    if (q.attrs.activation == ops::Activation::q8_32) {
      rounded.assign(x, x + s.m * s.k);
      for (std::size_t i = 0; i < rounded.size(); i += kBlockElements) {
        ops::round_to_q8_32(std::span<float, kBlockElements>(rounded.data() + i, kBlockElements));
      }
      x = rounded.data();
    }
    if (s.m <= QuantKernels::kRows) return few_rows(s, w, x, y);
    return many_rows(s, w, x, y, nanoseconds);
  } else {
    many_rows(s, w, x, y, nanoseconds);
  }
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
           std::vector<StorageId> from, std::initializer_list<Dim> sizes, Type type) {
  Step s;
  s.name = name;
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
  return emit(e, name, type.dtype() == DType::f64 ? multiply<double> : multiply<float>, matmul_cost,
              {ir::find_encoding(attrs.encoding), type.dtype(), attrs},
              {e.dense(x, name), e.dense(weights, name)},
              {count_of(type, last), attrs.transposed ? contracted : width,
               attrs.transposed ? width : contracted},
              type);
}

}  // namespace tlaloc::cpu
