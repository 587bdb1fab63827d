#include "tlaloc/cpu/ir_writer.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cstring>

#include "tlaloc/base/error.h"

namespace tlaloc::cpu {

IrValue IrWriter::fresh(std::string_view stem) { return fmt::format("%{}{}", stem, next_++); }
IrValue IrWriter::let(const std::string& right) {
  const IrValue v = fresh();
  line(v + " = " + right);
  return v;
}
IrValue IrWriter::let_early(const std::string& right) {
  const IrValue v = fresh("e");
  entry_ += "  " + v + " = " + right + "\n";
  return v;
}
std::string IrWriter::label(std::string_view stem) { return fmt::format("{}{}", stem, next_++); }
void IrWriter::fall_into(const std::string& label) {
  jump(label);
  begin(label);
}
IrValue IrWriter::variable(const std::string& type) {
  const IrValue v = fresh("var");
  entry_ += "  " + v + " = alloca " + type + ", align 32\n";
  return v;
}

namespace {
std::int64_t number(const IrValue& v) {
  std::int64_t r = 0;
  std::from_chars(v.data(), v.data() + v.size(), r);
  return r;
}
}  // namespace

bool is_number(const IrValue& v) { return !v.empty() && v[0] != '%'; }

IrValue IrWriter::add(const IrValue& a, const IrValue& b) {
  if (a == "0") return b;
  if (b == "0") return a;
  if (is_number(a) && is_number(b)) return std::to_string(number(a) + number(b));
  return let("add i64 " + a + ", " + b);
}
IrValue IrWriter::mul(const IrValue& a, const IrValue& b) {
  if (a == "0" || b == "0") return "0";
  if (a == "1") return b;
  if (b == "1") return a;
  if (is_number(a) && is_number(b)) return std::to_string(number(a) * number(b));
  return let("mul i64 " + a + ", " + b);
}

std::string ir_vector(const std::string& type, int lanes) {
  return lanes == 1 ? type : fmt::format("<{} x {}>", lanes, type);
}
std::string ir_type(DType t) { return t == DType::boolean ? "i1" : ir_memory_type(t); }
std::string ir_memory_type(DType t) {
  switch (t) {
    case DType::f32:
      return "float";
    case DType::f64:
      return "double";
    default:
      return fmt::format("i{}", 8 * byte_size(t));
  }
}
bool ir_computes(DType t) {
  // Without instructions for f16 there would be calls.
  static const bool halves = __builtin_cpu_supports("f16c");
  return t == DType::f16 ? halves : !is_complex(t);
}

IrValue ir_splat(const std::string& type, const std::string& value, int lanes) {
  if (lanes == 1) return value;
  return fmt::format("splat ({} {})", type, value);
}
IrValue ir_real(DType t, double value, int lanes) {
  // LLVM writes floats as the doubles that they are.
  return ir_splat(ir_type(t), fmt::format("0x{:016X}", std::bit_cast<std::uint64_t>(value)), lanes);
}
IrValue ir_constant(DType t, std::uint64_t bits, int lanes) {
  switch (t) {
    case DType::boolean:
      return ir_splat("i1", (bits & 0xff) ? "true" : "false", lanes);
    case DType::f32:
      return ir_real(t, static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits))),
                     lanes);
    case DType::f64:
      return ir_real(t, std::bit_cast<double>(bits), lanes);
    default:
      break;
  }
  const int unused = 64 - 8 * byte_size(t);
  const auto value = static_cast<std::int64_t>(bits << unused) >> unused;
  return ir_splat(ir_type(t), std::to_string(value), lanes);
}

}  // namespace tlaloc::cpu
