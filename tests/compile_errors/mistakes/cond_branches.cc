// TL-COND-002: the branches' types differ
// modes: typed generic
#include "../model.h"

void train(const Mlp& model, const Images& images) {
  auto gradient = tl::grad([](MODEL, IMAGES x) {
    return tl::mean(tl::cond(tl::mean(x) > 0, [&] { return x; }, [&] { return tl::mean(x); }));  // error in: cond(tl::mean(x) > 0,
  });
  gradient(model, images);
}
