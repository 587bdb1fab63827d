// Text of vector kernels, for benchmarks.
#pragma once

#include <fmt/format.h>

#include <string>

namespace tlaloc::codegen {

/// Functions @k0, @k1, …: y = a polynomial of degree `steps` of x / (x*x + 1), by eights, of two
/// arithmetic operations a step.
inline std::string kernels(int functions, int steps) {
  const auto splat = [](double value) {
    std::string text;
    for (int i = 0; i < 8; ++i) text += fmt::format("{}float {:.6e}", i == 0 ? "" : ", ", value);
    return "<" + text + ">";
  };
  std::string text;
  for (int f = 0; f < functions; ++f) {
    text += fmt::format(R"(
define void @k{}(ptr %y, ptr %x, i64 %n) {{
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %a = load <8 x float>, ptr %px, align 4
  %square = fmul <8 x float> %a, %a
  %below = fadd <8 x float> %square, {}
  %t = fdiv <8 x float> %a, %below
  %s0 = fadd <8 x float> %t, {}
)",
                        f, splat(1), splat(f));
    for (int i = 1; i <= steps; ++i)
      text += fmt::format(
          "  %m{0} = fmul <8 x float> %s{1}, %t\n  %s{0} = fadd <8 x float> %m{0}, {2}\n", i, i - 1,
          splat(0.125 * i));
    text += fmt::format(R"(  store <8 x float> %s{}, ptr %py, align 4
  %next = add i64 %i, 8
  br label %head
done:
  ret void
}}
)",
                        steps);
  }
  return text;
}

}  // namespace tlaloc::codegen
