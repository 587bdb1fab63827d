#include "tlaloc/ops/random_bits.h"

#include "tlaloc/ops/testing.h"

namespace tlaloc::ops {
namespace {
using namespace testing;

struct Known {
  std::uint32_t k0, k1, x0, x1, y0, y1;
};
// The known answers of Random123's kat_vectors, "threefry2x32 20".
constexpr Known kKnown[] = {
    {0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
    {0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3, 0xc4923a9c, 0x483df7a0}};

TEST(Threefry2x32, KnownAnswers) {
  std::vector<double> words[6];
  for (const Known& k : kKnown) {
    const std::uint32_t w[] = {k.k0, k.k1, k.x0, k.x1, k.y0, k.y1};
    for (int i = 0; i < 6; ++i) words[i].push_back(w[i]);
  }
  std::vector<HostArray> args;
  for (int i = 0; i < 4; ++i) args.push_back(array(DType::u32, {3}, words[i]));
  const auto y = eval_all(rows::Threefry2x32, nullptr, args);
  EXPECT_EQ(values(y[0]), words[4]);
  EXPECT_EQ(values(y[1]), words[5]);
}
TEST(Threefry2x32, ShapesAndRefusals) {
  const HostArray none = array(DType::u32, {0, 2}, {}), word = array(DType::u32, {}, {7});
  EXPECT_EQ(eval_all(rows::Threefry2x32, nullptr, {none, none, none, none})[1].size(), 0);
  EXPECT_EQ(eval_all(rows::Threefry2x32, nullptr, {word, word, word, word})[0].rank(), 0);
  const Dim n = ir::Symbol::fresh("n");
  const Type t = Type::get(DType::u32, {n});
  EXPECT_EQ(inferred(rows::Threefry2x32, nullptr, {t, t, t, t}), "u32[n]; u32[n]");
  EXPECT_EQ(refusal(rows::Threefry2x32, nullptr, {t, t, t}), "TL-ARITY-001");
  EXPECT_EQ(refusal(rows::Threefry2x32, nullptr, {t, t, t, t.with_dtype(DType::i32)}),
            "TL-DTYPE-004");
  EXPECT_EQ(refusal(rows::Threefry2x32, nullptr, {t, t, t, Type::scalar(DType::u32)}),
            "TL-RANK-001");
}

}  // namespace
}  // namespace tlaloc::ops
