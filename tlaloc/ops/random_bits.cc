#include "tlaloc/ops/random_bits.h"

#include <bit>

#include "tlaloc/ops/val_system.h"

namespace tlaloc::ops {

void threefry2x32_block(std::uint32_t k0, std::uint32_t k1, std::uint32_t& x0, std::uint32_t& x1) {
  const std::uint32_t ks[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bdau};
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  x0 += ks[0];
  x1 += ks[1];
  for (std::uint32_t group = 0; group < 5; ++group) {
    for (int r : kRotations[group % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += ks[(group + 1) % 3];
    x1 += ks[(group + 2) % 3] + group + 1;
  }
}

void Threefry2x32::infer(InferContext& c) {
  if (c.in.size() != 4) c.fail("TL-ARITY-001", "takes two key words and two counter words");
  const Type first = c.in[0];
  for (const Type t : c.in) {
    if (t.dtype() != DType::u32 || t.encoding()) c.fail(kDTypeError, "takes u32 words only");
    if (t.rank() != first.rank()) c.fail("TL-RANK-001", "ranks differ", "broadcast the operands");
    for (int i = 0; i < t.rank(); ++i) {
      c.require_equal(first.dim(i), t.dim(i), "axis " + std::to_string(i));
    }
  }
  c.out.assign(2, first);
}
void Threefry2x32::eval(EvalContext& c) {
  HostArray y0 = c.make(0), y1 = c.make(1);
  auto word = [&](std::size_t k) { return c.in[k].as<std::uint32_t>(); };
  const auto k0 = word(0), k1 = word(1), x0 = word(2), x1 = word(3);
  auto out0 = y0.as_mutable<std::uint32_t>(), out1 = y1.as_mutable<std::uint32_t>();
  for (std::size_t i = 0; i < out0.size(); ++i) {
    out0[i] = x0[i];
    out1[i] = x1[i];
    threefry2x32_block(k0[i], k1[i], out0[i], out1[i]);
  }
  c.out.push_back(std::move(y0));
  c.out.push_back(std::move(y1));
}
void Threefry2x32::batch(const Call&, BatchContext& ctx) {
  const auto [y0, y1] = threefry2x32(ctx.lifted(0), ctx.lifted(1), ctx.lifted(2), ctx.lifted(3));
  ctx.set(0, y0);
  ctx.set(1, y1);
}

TLALOC_ROW(Threefry2x32);

std::pair<Val, Val> threefry2x32(Val k0, Val k1, Val x0, Val x1) {
  Vals in{k0, k1, x0, x1};
  const Vals shaped = in;
  for (Val& v : in) {
    for (Val s : shaped) {
      if (v.rank() == 0 && s.rank() != 0) v = broadcast_in_dim(v, s.shape(), {});
    }
  }
  const Vals out = ir::Builder::current().emit_all(rows::Threefry2x32, nullptr, in);
  return {out[0], out[1]};
}

}  // namespace tlaloc::ops
