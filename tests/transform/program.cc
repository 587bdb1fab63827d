#include "tests/transform/program.h"

#include <numeric>

namespace tlaloc::testing {

HostArray reals(std::initializer_list<double> values, Extents extents) {
  if (extents.empty()) extents = {static_cast<std::int64_t>(values.size())};
  const std::vector<double> v(values);
  return HostArray::from(std::span<const double>(v), std::move(extents));
}
HostArray integers(std::initializer_list<std::int64_t> values) {
  const std::vector<std::int64_t> v(values);
  return HostArray::from(std::span<const std::int64_t>(v), {static_cast<std::int64_t>(v.size())});
}

GraphRef graph_of(const std::vector<Type>& params, const Body& f, const std::string& name) {
  ir::Builder b(name);
  Vals in;
  for (Type t : params) in.push_back(b.param(t));
  const Vals out = f(in);
  return b.build(out);
}

Val window(Val a, Val i, std::int64_t size) {
  const Val starts[] = {i};
  const Dim sizes[] = {size};
  return ops::dynamic_slice(a, starts, sizes);
}
Val add_at(Val a, Val i, Val v) { return ops::scatter_at(a, i, v, 0, ops::Update::add); }
Val sum(Val x) {
  std::vector<std::int64_t> axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return ops::reduce_sum(x, axes);
}
Val dot(Val a, Val b) { return sum(a * b); }
Val matvec(Val a, Val b) {
  const std::int64_t axis = 1;
  return ops::reduce_sum(a * ops::broadcast_to(b, a.shape()), std::span(&axis, 1));
}

Vals fori(Val count, const Vals& init, const Indexed& body) {
  return ops::fori_loop(count, init,
                        [&](const Vals& c) { return body(c[0], {c.begin() + 1, c.end()}); });
}
Val fori(Val count, Val init, const Scalar& body) {
  return fori(count, Vals{init}, [&](Val i, const Vals& c) { return Vals{body(i, c[0])}; })[0];
}
Val fors(Dim length, Val init, const Scalar& body) {
  const Val steps = ops::iota(i64({length}), 0);
  return ops::scan({init}, {steps}, [&](const Vals& c) { return Vals{body(c[1], c[0])}; })
      .carries[0];
}
Val while_one(Val init, const std::function<Val(Val)>& condition,
              const std::function<Val(Val)>& body) {
  return ops::while_loop(
             {init}, [&](const Vals& c) { return Vals{condition(c[0])}; },
             [&](const Vals& c) { return Vals{body(c[0])}; })
      .carries[0];
}

}  // namespace tlaloc::testing
