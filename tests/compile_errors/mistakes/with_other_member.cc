// -: Other
// modes: plain
#include "../model.h"

struct Other {
  tl::Tensor<float> b;
};

tl::Tensor<float, batch> pick(const tl::With<Mlp, batch>& g) {
  return g[&Other::b];  // error in: g[&Other::b]
}
