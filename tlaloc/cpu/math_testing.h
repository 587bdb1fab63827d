// For tests of functions on vectors: one of them compiled.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>

#include "tlaloc/cpu/compiler.h"
#include "tlaloc/cpu/generate_math.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu::testing {

/// Elements that compiled code computes at once.
inline constexpr int kMathLanes = 16;

/// z[i] = f(x[i], y[i]) for a multiple of the lanes; `library` serves single elements.
template <class T>
using MathFunction = void(T* z, const T* x, const T* y, std::int64_t n, T (*library)(T));

/// The function "f", for a kind of CPU; empty: this one.
inline std::shared_ptr<const LoadedImage> compiled_math(const ir::OpDef& op, DType t,
                                                        const std::string& machine,
                                                        int lanes = kMathLanes) {
  IrWriter w;
  const std::string element = ir_type(t), type = ir_vector(element, lanes);
  const IrValue i = w.variable("i64");
  w.line("store i64 0, ptr " + i);
  w.fall_into("head");
  const IrValue now = w.let("load i64, ptr " + i);
  w.branch(w.let("icmp slt i64 " + now + ", %n"), "body", "done");
  w.begin("body");
  auto place = [&](const char* array) {
    return w.let(fmt::format("getelementptr {}, ptr {}, i64 {}", element, array, now));
  };
  auto load = [&](const char* array) {
    return w.let(fmt::format("load {}, ptr {}, align {}", type, place(array), byte_size(t)));
  };
  const IrValue in[] = {load("%x"), load("%y")};
  const IrValue z = write_math(w, op, in, t, lanes, [&](const IrValue& one) {
    return w.let(fmt::format("call {0} %library({0} {1})", element, one));
  });
  w.line(fmt::format("store {} {}, ptr {}, align {}", type, z, place("%z"), byte_size(t)));
  w.line("store i64 " + w.let(fmt::format("add i64 {}, {}", now, lanes)) + ", ptr " + i);
  w.jump("head");
  w.begin("done");
  return compile_ir(
      "define void @f(ptr %z, ptr %x, ptr %y, i64 %n, ptr %library) \"no-builtins\" {\nentry:\n" +
          w.entry() + "  br label %start\nstart:\n" + w.body() + "  ret void\n}\n",
      {.name = op.name, .passes = std::string(kScalarPasses), .cpu = machine});
}

}  // namespace tlaloc::cpu::testing
