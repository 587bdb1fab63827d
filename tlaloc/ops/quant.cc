#include "tlaloc/ops/quant.h"

#include "tlaloc/ops/index_value.h"
#include "tlaloc/ops/kinds.h"
#include "tlaloc/ops/quant_blocks.h"

namespace tlaloc::ops {
namespace {

void check_weights(InferContext& c, Type w, const std::string& encoding) {
  if (!w.encoding() || w.encoding()->name != encoding) {
    c.fail(kDTypeError, "needs weights quantized as '" + encoding + "'");
  }
  if (!is_float(w.dtype())) c.fail(kDTypeError, "does not accept this quantized type");
  if (w.rank() < 1) c.fail("TL-RANK-001", "blocks need an axis");
  c.require_equal(mod(w.shape().back(), w.encoding()->block_elements), 0,
                  "rest of the last axis by the block");
}
void check_matrix(InferContext& c, Type w) {
  if (w.rank() != 2) c.fail("TL-RANK-001", "the weights must be a matrix");
}

/// Rows of weights as floats, decoded one at a time.
class Rows {
 public:
  Rows(const HostArray& bytes, const std::string& encoding, std::int64_t length)
      : encoding_(*ir::find_encoding(encoding)),
        bytes_(static_cast<const std::uint8_t*>(bytes.data())),
        row_bytes_(length / encoding_.block_elements * encoding_.block_bytes),
        row_(usize(length)) {}
  std::span<const float> operator()(std::int64_t row) {
    const std::uint8_t* block = bytes_ + row * row_bytes_;
    const std::size_t elements = usize(encoding_.block_elements);
    for (std::size_t at = 0; at < row_.size(); at += elements, block += encoding_.block_bytes) {
      decode_block(encoding_, block, std::span(row_).subspan(at, elements));
    }
    return row_;
  }

 private:
  const ir::Encoding& encoding_;
  const std::uint8_t* bytes_;
  std::int64_t row_bytes_;
  std::vector<float> row_;
};

std::string encoding_of(Val w) { return w.type().encoding() ? w.type().encoding()->name : ""; }

[[noreturn]] void refuse_mapped_weights(const char* op) {
  throw UserError({"TL-VMAP-001",
                   op,
                   "quantized weights can't be mapped over",
                   "map over the dense operand only",
                   {}});
}

}  // namespace

// ---- dequantize ----

void Dequantize::infer(InferContext& c) {
  if (c.in.size() != 1) c.fail("TL-ARITY-001", "takes one operand");
  check_weights(c, c.in[0], c.as<QuantAttrs>().encoding);
  c.out.push_back(Type::get(c.in[0].dtype(), c.in[0].shape()));
}
void Dequantize::eval(EvalContext& c) {
  HostArray y = c.make();
  if (y.size() > 0) {
    const std::int64_t length = y.extents().back();
    Rows rows(c.in[0], c.as<QuantAttrs>().encoding, length);
    dispatch_float(y.dtype(), [&]<class T>(TypeTag<T>) {
      T* out = static_cast<T*>(y.mutable_data());
      for (std::int64_t row = 0; row < y.size() / length; ++row) {
        for (float v : rows(row)) *out++ = static_cast<T>(v);
      }
    });
  }
  c.out.push_back(std::move(y));
}
void Dequantize::batch(const Call&, BatchContext& ctx) { ctx.set(0, dequantize(ctx.lifted(0))); }

// ---- quant_matmul ----

void QuantMatmul::infer(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes a dense operand and quantized weights");
  const QuantMatmulAttrs& a = c.as<QuantMatmulAttrs>();
  const Type x = c.in[0], w = c.in[1];
  check_weights(c, w, a.encoding);
  check_matrix(c, w);
  if (!is_float(x.dtype()) || x.encoding()) c.fail(kDTypeError, "the first operand must be dense");
  if (x.rank() < 1) c.fail("TL-RANK-001", "the first operand needs an axis to contract");
  if (a.activation == Activation::q8_32 && (a.transposed || x.dtype() == DType::f64)) {
    c.fail("TL-QUANT-001", "q8_32 rounds blocks along the weights' blocked axis, of f32 or less",
           "use activation f32");
  }
  std::vector<Dim> shape(x.shape().begin(), x.shape().end());
  c.require_equal(shape.back(), w.dim(a.transposed ? 0 : 1), "contracted size");
  shape.back() = w.dim(a.transposed ? 1 : 0);
  c.out.push_back(x.with_shape(shape));
}
void QuantMatmul::eval(EvalContext& c) {
  const QuantMatmulAttrs& a = c.as<QuantMatmulAttrs>();
  const HostArray& x = c.in[0];
  HostArray y = c.make();
  const std::int64_t width = x.extents().back(), out_width = y.extents().back();
  const std::int64_t batch = element_count(std::span(x.extents()).first(usize(x.rank() - 1)));
  const std::int64_t n = a.transposed ? width : out_width;
  Rows rows(c.in[1], a.encoding, a.transposed ? out_width : width);
  dispatch_float(x.dtype(), [&]<class T>(TypeTag<T>) {
    using C = ComputeType<T>;
    const T* in = static_cast<const T*>(x.data());
    std::vector<C> left;
    left.reserve(usize(x.size()));
    for (std::int64_t i = 0; i < x.size(); ++i) left.push_back(static_cast<C>(in[i]));
    if constexpr (std::is_same_v<C, float>) {
      if (a.activation == Activation::q8_32) {
        for (std::size_t at = 0; at < left.size(); at += 32) {
          round_to_q8_32(std::span<float, 32>(left.data() + at, 32));
        }
      }
    }
    std::vector<C> sums(usize(y.size()), C(0));
    for (std::int64_t i = 0; i < n; ++i) {
      const std::span<const float> w = rows(i);
      for (std::int64_t b = 0; b < batch; ++b) {
        if (a.transposed) {
          const C factor = left[usize(b * width + i)];
          C* out = sums.data() + b * out_width;
          for (std::size_t k = 0; k < w.size(); ++k) out[k] += factor * static_cast<C>(w[k]);
        } else {
          const C* row = left.data() + b * width;
          C& sum = sums[usize(b * out_width + i)];
          for (std::size_t k = 0; k < w.size(); ++k) sum += row[k] * static_cast<C>(w[k]);
        }
      }
    }
    T* out = static_cast<T*>(y.mutable_data());
    for (C sum : sums) *out++ = static_cast<T>(sum);
  });
  c.out.push_back(std::move(y));
}
void QuantMatmul::jvp(const Call& c, std::span<const Val> dx, std::span<Val> dy) {
  const QuantMatmulAttrs& a = c.as<QuantMatmulAttrs>();
  if (dx[1] || a.activation != Activation::f32) {
    throw UserError(
        {"TL-GRAD-003",
         kInfo.name,
         dx[1] ? kQuantizedWeights.reason : "rounding the activations to q8_32 has no derivative",
         dx[1] ? "dequantize and train dense weights" : "use activation f32",
         {}});
  }
  dy[0] = quant_matmul(dx[0], c.in[1], a.transposed);
}
void QuantMatmul::transpose(const Call& c, std::span<const Val> ct, CotangentSink& sink) {
  require_linear(c, static_cast<bool>(c.in[1]), "quantized weights are never linear");
  sink.add(0, quant_matmul(ct[0], c.in[1], !c.as<QuantMatmulAttrs>().transposed));
}
void QuantMatmul::batch(const Call& c, BatchContext& ctx) {
  if (ctx.batched(1)) refuse_mapped_weights(kInfo.name);
  const QuantMatmulAttrs& a = c.as<QuantMatmulAttrs>();
  Val x = ctx.lifted(0);
  x = ctx.mask_ragged(x, x.rank() - 1, ir::Identity::zero);
  ctx.set(0, quant_matmul(x, c.in[1], a.transposed, a.activation));
}

// ---- quant_gather ----

void QuantGather::infer(InferContext& c) {
  if (c.in.size() != 2) c.fail("TL-ARITY-001", "takes quantized weights and indices");
  check_weights(c, c.in[0], c.as<QuantAttrs>().encoding);
  check_matrix(c, c.in[0]);
  if (!is_integer(c.in[1].dtype())) c.fail(kDTypeError, "indices must be integers");
  c.require_less_equal(1, c.in[0].dim(0), "rows to gather from");
  std::vector<Dim> shape(c.in[1].shape().begin(), c.in[1].shape().end());
  shape.push_back(c.in[0].dim(1));
  c.out.push_back(Type::get(c.in[0].dtype(), shape));
}
void QuantGather::eval(EvalContext& c) {
  HostArray y = c.make();
  Rows rows(c.in[0], c.as<QuantAttrs>().encoding, y.extents().back());
  const std::int64_t last = c.in[0].extents()[0] - 1;
  dispatch_float(y.dtype(), [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(y.mutable_data());
    for (std::int64_t i = 0; i < c.in[1].size(); ++i) {
      for (float v : rows(clamped_index(index_value(c.in[1], i), last))) *out++ = static_cast<T>(v);
    }
  });
  c.out.push_back(std::move(y));
}
void QuantGather::batch(const Call& c, BatchContext& ctx) {
  if (ctx.batched(0)) refuse_mapped_weights(kInfo.name);
  ctx.set(0, quant_gather(c.in[0], ctx.lifted(1)));
}

TLALOC_ROW(Dequantize);
TLALOC_ROW(QuantMatmul);
TLALOC_ROW(QuantGather);

Val dequantize(Val w) {
  return ir::Builder::current().emit(rows::Dequantize, ir::make_attr(QuantAttrs{encoding_of(w)}),
                                     {w});
}
Val quant_matmul(Val x, Val w, bool transposed, Activation activation) {
  return ir::Builder::current().emit(
      rows::QuantMatmul, ir::make_attr(QuantMatmulAttrs{encoding_of(w), transposed, activation}),
      {x, w});
}
Val quant_gather(Val w, Val indices) {
  return ir::Builder::current().emit(rows::QuantGather, ir::make_attr(QuantAttrs{encoding_of(w)}),
                                     {w, indices});
}

}  // namespace tlaloc::ops
