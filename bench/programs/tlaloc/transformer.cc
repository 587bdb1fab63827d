// A decoder of 4 layers with AdamW: width 256, 4 heads, 128 positions, 4096 words, pre-norm, GELU,
// tied embedding.
#include <array>

#include "bench/programs/tlaloc/programs.h"

namespace bench {
namespace {

inline constexpr tl::Axis<struct Batch> batch;
using Tokens = tl::Tensor<int, batch, 128>;
using Vector = tl::Tensor<float, 256>;

struct Block {
  Vector scale1, bias1;
  tl::Tensor<float, 256, 768> qkv;
  tl::Tensor<float, 768> qkv_bias;
  tl::Tensor<float, 256, 256> out;
  Vector out_bias, scale2, bias2;
  tl::Tensor<float, 256, 1024> up;
  tl::Tensor<float, 1024> up_bias;
  tl::Tensor<float, 1024, 256> down;
  Vector down_bias;
};
struct Decoder {
  tl::Tensor<float, 4096, 256> embedding;
  tl::Tensor<float, 128, 256> positions;
  std::array<Block, 4> blocks;
  Vector scale, bias;
};

template <class X>
auto heads(const X& x) {
  return tl::transpose<0, 2, 1, 3>(tl::reshape<batch, 128, 4, 64>(x));
}

constexpr auto kLoss = [](const Decoder& m, const Tokens& words, const Tokens& next) {
  tl::Tensor<float, batch, 128, 256> x = tl::embedding(m.embedding, words) + m.positions;
  for (const Block& b : m.blocks) {
    const auto [q, k, v] =
        tl::split<-1, 3>(tl::matmul(tl::layer_norm(x, b.scale1, b.bias1), b.qkv) + b.qkv_bias);
    const auto mixed =
        tl::transpose<0, 2, 1, 3>(tl::attention(heads(q), heads(k), heads(v), {.causal = true}));
    x = x + tl::matmul(tl::reshape<batch, 128, 256>(mixed), b.out) + b.out_bias;
    const auto wide = tl::gelu(tl::matmul(tl::layer_norm(x, b.scale2, b.bias2), b.up) + b.up_bias);
    x = x + tl::matmul(wide, b.down) + b.down_bias;
  }
  const auto logits = tl::matmul(tl::layer_norm(x, m.scale, m.bias), tl::transpose(m.embedding));
  return tl::mean(tl::cross_entropy(logits, next));
};

}  // namespace

void transformer(std::int64_t size) {
  const Vector zeros = tl::zeros<float, 256>(), ones = tl::ones<float, 256>();
  Decoder m{.positions = tl::zeros<float, 128, 256>(), .scale = ones, .bias = zeros};
  fill(m.embedding, 1, 0.035);
  std::uint32_t seed = 2;
  for (Block& b : m.blocks) {
    b.scale1 = b.scale2 = ones;
    b.bias1 = b.bias2 = b.out_bias = b.down_bias = zeros;
    b.qkv_bias = tl::zeros<float, 768>();
    b.up_bias = tl::zeros<float, 1024>();
    fill(b.qkv, seed++, 0.06);
    fill(b.out, seed++, 0.06);
    fill(b.up, seed++, 0.06);
    fill(b.down, seed++, 0.03);
  }
  const auto count = static_cast<std::size_t>(size) * 128;
  train(m, kLoss, 0.01f,
        std::vector{std::tuple(Tokens::from(integers(101, count, 4096)),
                               Tokens::from(integers(102, count, 4096)))});
}

}  // namespace bench
