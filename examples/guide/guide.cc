// The program of docs/guide.md, section by section. A test holds the page against it.
#include <tlaloc/lang/custom_call.h>
#include <tlaloc/lang/graph_of.h>
#include <tlaloc/lang/paged.h>
#include <tlaloc/lang/print.h>
#include <tlaloc/lang/quantized.h>
#include <tlaloc/lang/source.h>
#include <tlaloc/tlaloc.h>

#include <cmath>
#include <cstdint>
#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

namespace tensors {

inline constexpr tl::Axis<struct Batch> batch;       // a name; the size is known at run time
inline constexpr tl::Axis<struct Hidden, 3> hidden;  // a name and a size
inline constexpr tl::Bounded<struct Seq, 512> seq;   // a name and a bound

void run() {
  auto x = tl::Tensor<float, batch, hidden>::from({1, 2, 3, 4, 5, 6});
  auto w = tl::Tensor<float, hidden>::from({1, 0, -1});
  std::cout << x * w << "\n";                  // by name: w meets the axis hidden
  std::cout << tl::sum(x, hidden) << "\n";     // [batch]
  std::cout << tl::max(x, batch) - 1 << "\n";  // [hidden]
  std::cout << x[0] << " " << x.size(0) << "\n";
}

}  // namespace tensors

namespace trees {

inline constexpr tl::Axis<struct Batch> batch;

struct Layer {
  tl::Tensor<double, 2> w;
  tl::Scalar<double> b;
};
struct Model {
  std::vector<Layer> layers;
  tl::Scalar<double> scale;
};

tl::Scalar<double> loss(const Model& m, tl::Tensor<double, 2> x) {
  tl::Scalar<double> y = 0.0;
  for (const Layer& l : m.layers) y = y + tl::tanh(tl::sum(l.w * x) + l.b);
  return m.scale * y;
}

void run() {
  using Two = tl::Tensor<double, 2>;
  Model m{{{Two::from({1, 2}), 0.5}, {Two::from({-1, 1}), 0.0}}, 2.0};
  auto x = Two::from({0.1, 0.2});
  auto [value, g] = tl::value_and_grad(loss)(m, x);  // g is a Model
  std::cout << value << " " << g.layers[1].w << " " << g.scale << "\n";
  auto [gm, gx] = tl::grad(loss, tl::argnums<0, 1>)(m, x);
  std::cout << gx << "\n";
}

}  // namespace trees

namespace derivatives {

void run() {
  auto f = [](tl::Tensor<double, 3> x) { return tl::sum(tl::sin(x) * x); };
  auto x = tl::Tensor<double, 3>::from({0, 1, 2});
  auto v = tl::Tensor<double, 3>::from({1, 0, 0});
  auto [y, dy] = tl::jvp(f)(x, v);      // along v
  auto [z, pullback] = tl::vjp(f)(x);   // pullback(1) is the gradient
  auto h = tl::hessian(f)(x);           // [3, 3]
  auto hv = tl::hvp(f)(x, v);           // the same times v, without making it
  auto j = tl::jacfwd(tl::grad(f))(x);  // any nesting works
  std::cout << dy << " " << pullback(1.0) << "\n" << hv << "\n";
  tl::check_grads(f, {.order = 2})(x);  // throws if differences disagree
}

}  // namespace derivatives

namespace lanes {

inline constexpr tl::Axis<struct Batch> batch;

struct Line {
  tl::Scalar<double> slope, offset;
};

void run() {
  auto error = [](const Line& l, tl::Scalar<double> x, tl::Scalar<double> y) {
    auto d = l.slope * x + l.offset - y;
    return d * d;
  };
  auto xs = tl::Tensor<double, batch>::from({1, 2, 3});
  auto ys = tl::Tensor<double, batch>::from({2, 4, 7});
  Line line{2.0, 0.0};
  // The gradient of each example: what carries the axis is mapped, the model is shared.
  auto per_example = tl::vmap<batch>(tl::grad(error))(line, xs, ys);
  std::cout << per_example[&Line::slope] << "\n";
}

}  // namespace lanes

namespace control {

using S = tl::Scalar<double>;

void run() {
  // Trips known only at run time, differentiated in reverse.
  auto collatz_like = [](S x) {
    return tl::while_loop(
        [](S v) { return v > 1.0; },
        [](S v) { return tl::cond(v > 10.0, [&] { return v / 3; }, [&] { return v - 1; }); }, x);
  };
  std::cout << collatz_like(25.0) << " " << tl::grad(collatz_like)(25.0) << "\n";

  // A scan: (carry, item) to (carry, output); here a falling ball, and how its path depends on g.
  auto height = [](S g) {
    auto step = [&](std::pair<S, S> state) {
      auto [position, velocity] = state;
      auto next = velocity - 0.1 * g;
      return std::pair(std::pair<S, S>(position + 0.1 * next, next), position);
    };
    auto [last, path] = tl::scan<5>(step, std::pair<S, S>(10.0, 0.0));
    return last.first;
  };
  std::cout << height(9.81) << " " << tl::grad(height)(9.81) << "\n";
}

}  // namespace control

namespace rules {

using S = tl::Scalar<double>;

void run() {
  // A derivative of your own: log(1 + exp x) without overflow.
  auto softplus = tl::custom_jvp(
      [](S x) { return tl::log1p(tl::exp(x)); },
      [](S x, S dx) { return std::pair(tl::log1p(tl::exp(x)), dx * tl::sigmoid(x)); });
  std::cout << tl::grad(softplus)(1000.0) << "\n";
  // What the derivative computes again instead of keeping it.
  auto block =
      tl::remat([](tl::Tensor<double, 4, 4> x) { return tl::tanh(tl::matmul(x, x)); }, "dots");
  auto x = tl::full<double, 4, 4>(0.1);
  std::cout << tl::grad([&](tl::Tensor<double, 4, 4> v) { return tl::sum(block(block(v))); })(x)[0]
            << "\n";
}

}  // namespace rules

namespace elements {

void run() {
  auto x = tl::Tensor<double, 2, 3>::from({3, -1, 2, 0.5, 4, -6});
  // Any fold, over any axes: here continued fractions a0 + 1 / (a1 + 1 / a2), from the last on.
  auto fraction = [](auto acc, auto a) { return a + 1 / acc; };
  std::cout << tl::reduce<1>(fraction, INFINITY, tl::flip<1>(x)) << "\n";
  // The same over windows, one Window per axis.
  auto plus = [](auto a, auto b) { return a + b; };
  std::cout << tl::reduce_window<tl::Window{}, tl::Window{.size = 2}>(plus, 0, x) << "\n";
  // A tuple of tensors is folded and sorted as records; the best score first, then by name.
  auto score = tl::Tensor<float, 4>::from({7, 9, 9, 8});
  auto name = tl::Tensor<int, 4>::from({40, 30, 10, 20});
  auto [scores, names] = tl::sort_by(
      [](auto a, auto b) {
        auto [score_a, name_a] = a;
        auto [score_b, name_b] = b;
        return score_a > score_b || (score_a == score_b && name_a < name_b);
      },
      std::tuple(score, name));
  std::cout << scores << " " << names << "\n";
}

}  // namespace elements

namespace host {

using S = tl::Scalar<double>;

// Code that Tlaloc knows by name only.
S gamma_function(S x) { return std::tgamma(x.item()); }

void run() {
  tl::register_custom_call("gamma", &gamma_function);
  auto raw = [](S x) { return tl::custom_call<S>("gamma", x); };
  std::cout << tl::vmap<0>(raw)(tl::Tensor<double, 3>::from({2, 3, 4})) << "\n";
  // It has no derivative until a rule gives one; this one is a central difference.
  auto gamma = tl::custom_jvp(raw, [=](S x, S dx) {
    return std::pair(raw(x), (raw(x + 1e-5) - raw(x - 1e-5)) / 2e-5 * dx);
  });
  std::cout << (tl::abs(tl::grad(gamma)(1.0) + 0.5772156649) < 1e-8) << "\n";
}

}  // namespace host

namespace weights {

void run() {
  using Weights = tl::Quantized<tl::QuantFormat::q8_0, 2, 32>;
  // As in a GGUF file: per block of 32 elements an f16 scale (here 0.5) and 32 signed bytes.
  std::vector<std::uint8_t> bytes;
  for (std::uint8_t row : {1, 2}) {
    bytes.insert(bytes.end(), {0x00, 0x38});
    bytes.insert(bytes.end(), 32, row);
  }
  auto w = Weights::from_bytes(bytes);
  auto layer = tl::jit([](const Weights& w, tl::Tensor<float, 32> x) {
    return tl::quant_matmul(x, w);  // [32] by [2, 32] -> [2]
  });
  std::cout << layer(w, tl::ones<float, 32>()) << "\n";
}

}  // namespace weights

namespace pages {

void run() {
  auto step = tl::jit(
      [](tl::Array pool, tl::Array x, tl::Array slots, tl::Array positions, tl::Array tables) {
        pool = tl::paged_store(pool, x, slots);  // in place: the call was given the pool
        auto y = tl::paged_attention(x, pool, pool, positions, positions * 0, tables);
        return std::pair(pool, y);
      });
  // 8 pages of 16 places, one head of 4; two tokens of one sequence, which has pages 5 and 2.
  tl::Array pool(tl::zeros<float, 8, 16, 1, 4>().ref()), x(tl::ones<float, 2, 1, 4>().ref());
  auto slots = tl::Array::from<int>(std::vector{5 * 16, 5 * 16 + 1}, {2});
  auto positions = tl::Array::from<int>(std::vector{0, 1}, {2});
  auto tables = tl::Array::from<int>(std::vector{5, 2}, {1, 2});
  auto [kept, y] = step(std::move(pool), x, slots, positions, tables);
  std::cout << tl::reshape<8>(tl::as<tl::Tensor<float, 2, 1, 4>>(y)) << "\n";
}

}  // namespace pages

namespace compiled {

struct Body {
  tl::Tensor<double, 3> position, velocity;
};

void run() {
  auto step = tl::jit([](Body b, tl::Tensor<double, 3> force) {
    auto velocity = b.velocity + 0.1 * force;
    return Body{b.position + 0.1 * velocity, velocity};
  });
  Body body{tl::zeros<double, 3>(), tl::zeros<double, 3>()};
  auto gravity = tl::Tensor<double, 3>::from({0, 0, -9.81});
  const double* memory = body.position.data().data();
  for (int i = 0; i < 10; ++i) body = step(std::move(body), gravity);
  std::cout << body.position << " " << std::boolalpha << (body.position.data().data() == memory)
            << "\n";
}

}  // namespace compiled

namespace numbers {

void run() {
  auto key = tl::random::key(42);
  auto [a, b] = tl::random::split(key);
  std::cout << tl::random::normal<float, 3>(a) << "\n";
  std::cout << tl::random::permutation<5>(b) << "\n";
}

}  // namespace numbers

namespace source {

using S = tl::Scalar<double>;

void run() {
  auto pendulum = [](S angle, S length) {
    auto height = 1.0 - tl::cos(angle);
    return 9.81 * length * height;
  };
  std::cout << tl::to_source(tl::grad(pendulum), {"torque", {"angle", "length"}})(0.5, 1.0) << "\n";
  std::cout << tl::graph_of(pendulum)(0.5, 1.0) << "\n";
}

}  // namespace source

namespace errors {

inline constexpr tl::Axis<struct Rows> rows;

void run() {
  auto f =
      tl::jit([](tl::Tensor<float, rows> x, tl::Tensor<float, rows> y) { return tl::sum(x * y); });
  try {
    f(tl::Tensor<float, rows>::from({1, 2}), tl::Tensor<float, rows>::from({1, 2, 3}));
  } catch (const tl::Error& e) {
    std::cout << e.info().code << "\n";
  }
}

}  // namespace errors

int main() {
  tensors::run();
  trees::run();
  derivatives::run();
  lanes::run();
  control::run();
  elements::run();
  rules::run();
  host::run();
  weights::run();
  pages::run();
  compiled::run();
  numbers::run();
  source::run();
  errors::run();
}
