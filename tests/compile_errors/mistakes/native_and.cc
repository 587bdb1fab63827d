// TL-TRACE-002: a tensor is no bool
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    while (!(tl::mean(x) > 0.0)) x = 2.0 * x;  // error in: while (!(tl::mean(x) > 0.0))
    return tl::mean(x);
  });
  gradient(model, images);
}
