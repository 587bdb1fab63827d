// TL-BOUND-001: slice beyond: Length<=512
// type: Tensor<float, Axis<Document>, Bounded<Length, 512>, 8>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::slice<length, 0, 600>(m.words)) + tl::mean(x);  // error in: slice<length, 0, 600>(m.words)
  });
  gradient(model, images);
}
