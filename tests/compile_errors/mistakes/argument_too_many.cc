// TL-TREE-005: more than 32 fields
// type: Large
// modes: plain
#include "../model.h"

struct Large {
  tl::Tensor<float> a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18,
      a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32;
};

void train(const Large& d) {
  auto copy = tl::tree_map([](auto x) { return x; }, d);  // error in: tree_map(
}
