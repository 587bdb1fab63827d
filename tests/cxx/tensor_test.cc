// Tensor mode: what to_source prints of programs over tensors compiles against the public header
// and gives the interpreter's bits, in both floating types.
#include <gtest/gtest.h>
#include <tlaloc/lang/source.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/cxx/tensor_models.h"
#include "tlaloc/base/error.h"

namespace tlaloc::testing {
namespace {

constexpr const char* kMain = R"(
#include <cstdio>
#include <cstring>

using namespace tlaloc;

/// Element by element; a NaN equals any other.
template <class T, auto... D>
bool differ(const Tensor<T, D...>& a, const Tensor<T, D...>& b) {
  const auto x = a.data(), y = b.data();
  bool r = x.size() != y.size();
  for (std::size_t i = 0; !r && i < x.size(); ++i) {
    r = std::memcmp(&x[i], &y[i], sizeof(T)) != 0 && (x[i] == x[i] || y[i] == y[i]);
  }
  return r;
}
template <class Program>
auto captures() {
  if constexpr (requires { Program::captures(); }) {
    return Program::captures();
  } else {
    return std::tuple<>();
  }
}
template <class Program, class Printed>
void compare(const char* name, Printed printed) {
  const auto arguments = Program::arguments();
  const auto wanted = std::apply(Program::function(), arguments);
  // The printed types know less of the axes: they convert.
  const std::remove_const_t<decltype(wanted)> got =
      std::apply(printed, std::tuple_cat(arguments, captures<Program>()));
  bool different = false;
  tree_map(
      [&](auto a, auto b) {
        different = different || differ(a, b);
        return a;
      },
      got, wanted);
  if (different) std::printf("%s differs\n", name);
}

int main() {
)";

std::string read_file(const std::string& path) {
  std::ifstream f(path);
  std::stringstream s;
  s << f.rdbuf();
  return s.str();
}

template <template <class> class Program, class T>
std::string printed(SourceMode mode) {
  const SourceOptions options{"printed", {"model", "x", "y"}, mode};
  return std::apply(
      [&](const auto&... a) { return to_source(Program<T>::function(), options)(a...); },
      Program<T>::arguments());
}

class Sources {
 public:
  template <template <class> class Program>
  void add(const std::string& name) {
    add(name, "float", printed<Program, float>(SourceMode::tensor));
    add(name, "double", printed<Program, double>(SourceMode::tensor));
  }
  std::string text() const {
    return "#include \"tests/cxx/tensor_models.h\"\n" + includes_ + body_ + kMain + cases_ + "}\n";
  }

 private:
  void add(const std::string& name, const std::string& type, const std::string& text) {
    const std::string space = name + "_" + type;
    std::istringstream lines(text);
    body_ += "namespace " + space + " {\n";
    for (std::string line; std::getline(lines, line);) {
      (line.starts_with("#include") ? includes_ : body_) += line + "\n";
    }
    body_ += "}  // namespace " + space + "\n\n";
    cases_ += "  compare<testing::" + name + "<" + type + ">>(\"" + space +
              "\", [](const auto&... a) { return " + space + "::printed(a...); });\n";
  }
  std::string includes_, body_, cases_;
};

TEST(TensorMode, PrintedProgramsGiveTheInterpretersBits) {
  Sources sources;
  sources.add<Digits>("Digits");
  sources.add<Softmax>("Softmax");
  sources.add<Attention>("Attention");
  sources.add<Recurrent>("Recurrent");
  sources.add<Convolutional>("Convolutional");
  sources.add<Control>("Control");
  sources.add<Nested>("Nested");
  std::string folder = (std::filesystem::temp_directory_path() / "tlaloc_tensor_XXXXXX").string();
  ASSERT_TRUE(mkdtemp(folder.data()));
  std::ofstream(folder + "/printed.cc") << sources.text();
  const std::string compile = "cd " + folder +
                              " && " TLALOC_COMPILER " -std=c++20 -O0 -Wall -Wextra -Werror -I " +
                              TLALOC_ROOT " printed.cc -o printed " TLALOC_LINK " > log 2>&1";
  ASSERT_EQ(std::system(compile.c_str()), 0) << read_file(folder + "/log") << sources.text();
  // What checks for NaN is the interpreter; the CPU back end has kernels with rounding of their
  // own.
  EXPECT_EQ(std::system(("cd " + folder + " && TLALOC_CHECK_NAN=1 ./printed > out 2>&1").c_str()),
            0);
  EXPECT_EQ(read_file(folder + "/out"), "") << sources.text();
  std::filesystem::remove_all(folder);
}

TEST(TensorMode, ReadsLikeWhatAPersonWrites) {
  EXPECT_EQ((printed<Digits, float>(SourceMode::automatic)), R"(#include <tlaloc/tlaloc.h>

#include <cstdint>
#include <limits>

template <class Model>
Model printed(const Model& model, const tl::Tensor<float, tl::any, 8>& x,
    const tl::Tensor<std::int32_t, tl::any>& y) {
  const auto v1 = tl::matmul(x, model.w1) + model.b1;
  const auto v2 = v1 <= 0.0f;
  const auto v3 = tl::select(v2, 0.0f, v1);
  const auto v4 = tl::matmul(v3, model.w2) + model.b2;
  const auto v5 = tl::max<1>(v4);
  const auto v6 = v5 == -std::numeric_limits<float>::infinity();
  const auto v7 = tl::expand<0>(tl::arange<10, std::int64_t>());
  const auto v8 = v4 - tl::expand<1>(tl::select(v6, 0.0f, v5));
  const auto exp_v8 = tl::exp(v8);
  const auto v9 = v7 == tl::expand<1>(tl::cast<std::int64_t>(y));
  const auto v10 = tl::any_of<1>(v9);
  const auto d1 = 1.0f / tl::cast<float>(tl::axis_size<0>(x));
  const auto d2 = tl::select(v10, d1, 0.0f);
  const auto v11 = tl::select(v10, d2 / tl::sum<1>(exp_v8), 0.0f);
  const auto d3 = tl::select(v9, tl::expand<1>(-d2), 0.0f);
  const auto d4 = tl::expand<1>(v11) * exp_v8 + d3;
  const auto d5 = tl::matmul(d4, tl::transpose<1, 0>(model.w2));
  const auto d6 = tl::select(v2, 0.0f, d5);
  Model result = model;
  result.w1 = tl::matmul(tl::transpose<1, 0>(x), d6);
  result.b1 = tl::sum<0>(d6);
  result.w2 = tl::matmul(tl::transpose<1, 0>(v3), d4);
  result.b2 = tl::sum<0>(d4);
  return result;
}
)");
}

// A result is made from an argument only where all its parts have that argument's types.
TEST(TensorMode, AResultOfOtherTypesIsAStructOfItsOwn) {
  EXPECT_EQ((printed<Summed, float>(SourceMode::tensor)), R"(#include <tlaloc/tlaloc.h>

struct PrintedResult {
  tl::Tensor<float, 4> a;
  tl::Scalar<float> b;
};

template <class Model>
PrintedResult printed(const Model& model) {
  const auto a = tl::sum<0>(model.a);
  return {a, tl::sum(model.b)};
}
)");
}

// A gradient through a loop of unknown length records each trip, which the public API can't say.
TEST(TensorMode, RefusesByNameWhatThePublicApiLacks) {
  const auto loss = [](const Tensor<double, 3, 3>& a, const Tensor<double, 3>& x) {
    return sum(Iterated<double>{}(a, x));
  };
  const auto a = values<Tensor<double, 3, 3>>(1);
  const auto x = values<Tensor<double, 3>>(2);
  std::string text;
  try {
    to_source(grad(loss), {"f", {"a", "x"}, SourceMode::tensor})(a, x);
  } catch (const UserError& e) {
    text = e.what();
  }
  const std::size_t at = text.find("TL-CXX-001");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_EQ(text.substr(at),
            "TL-CXX-001: while: can't be printed as C++: it records values of each trip, and how "
            "many there are is known only at run time; print the function in plain mode");
  // The automatic mode prints loops instead.
  EXPECT_NE(to_source(grad(loss))(a, x).find("while ("), std::string::npos);
}

}  // namespace
}  // namespace tlaloc::testing
