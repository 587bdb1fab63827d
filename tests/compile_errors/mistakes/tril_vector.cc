// TL-RANK-001: [..., rows, columns] is due
// type: Tensor<float, Axis<Hidden, 128>>
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL m, IMAGES x) {
    return tl::mean(tl::tril(m.b1)) + tl::mean(x);  // error in: tril(m.b1)
  });
  gradient(model, images);
}
