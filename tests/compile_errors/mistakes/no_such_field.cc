// -: w9
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::matmul(x, m.w9));  // error in: m.w9
  });
  gradient(model, images);
}
