// What the mistakes are made with. GENERIC makes the parameters of their lambdas `auto`.
#pragma once

#include <tlaloc/tlaloc.h>

#ifdef GENERIC
#define MODEL const auto&
#define IMAGES auto
#define LABELS auto
#else
#define MODEL const Mlp&
#define IMAGES Images
#define LABELS Labels
#endif

inline constexpr tl::Axis<struct Batch> batch;
inline constexpr tl::Axis<struct Hidden, 128> hidden;
inline constexpr tl::Axis<struct Document> document;
inline constexpr tl::Axis<struct Embed, 128> embed;
inline constexpr tl::Bounded<struct Length, 512> length;

using Images = tl::Tensor<float, batch, 784>;
using Labels = tl::Tensor<int, batch>;
struct Mlp {
  tl::Tensor<float, 784, hidden> w1;
  tl::Tensor<float, hidden> b1;
  tl::Tensor<float, hidden, 10> w2;
  tl::Tensor<double, hidden, 10> w3;
  tl::Tensor<float, embed, 10> w4;
  tl::Tensor<float, document, length, 8> words;
  tl::Array raw;
};
