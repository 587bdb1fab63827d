#include "tlaloc/cpu/generate_ops.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/generate_convert.h"
#include "tlaloc/cpu/generate_math.h"
#include "tlaloc/ops/elementwise_arith.h"
#include "tlaloc/ops/elementwise_bits.h"
#include "tlaloc/ops/elementwise_power.h"
#include "tlaloc/ops/elementwise_special.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;
using ops::OpId;

template <class T>
using Function1 = T (*)(T);
template <class T>
using Function2 = T (*)(T, T);

template <class T>
const void* address(Function1<T> f) {
  return reinterpret_cast<const void*>(f);
}
template <class T>
const void* address(Function2<T> f) {
  return reinterpret_cast<const void*>(f);
}

#define TLALOC_UNARY_FUNCTION(name)                                                   \
  LibraryFunction{#name, DType::f32, 1, address<float>(std::name)}, LibraryFunction { \
    #name, DType::f64, 1, address<double>(std::name)                                  \
  }
#define TLALOC_BINARY_FUNCTION(name)                                                  \
  LibraryFunction{#name, DType::f32, 2, address<float>(std::name)}, LibraryFunction { \
    #name, DType::f64, 2, address<double>(std::name)                                  \
  }
// Compiled code finds them by position: append only.
const std::array kFunctions = {
    TLALOC_UNARY_FUNCTION(cbrt),
    TLALOC_UNARY_FUNCTION(sin),
    TLALOC_UNARY_FUNCTION(cos),
    TLALOC_UNARY_FUNCTION(tan),
    TLALOC_UNARY_FUNCTION(asinh),
    TLALOC_UNARY_FUNCTION(acosh),
    TLALOC_UNARY_FUNCTION(atanh),
    TLALOC_BINARY_FUNCTION(fmod),
    LibraryFunction{"erf_inv", DType::f32, 1, address<float>(ops::erf_inv_value)},
    LibraryFunction{"erf_inv", DType::f64, 1, address<double>(ops::erf_inv_value)}};
#undef TLALOC_UNARY_FUNCTION
#undef TLALOC_BINARY_FUNCTION

std::optional<std::size_t> find_function(std::string_view name, DType t) {
  for (std::size_t i = 0; i < kFunctions.size(); ++i) {
    if (kFunctions[i].name == name && kFunctions[i].dtype == t) return i;
  }
  return std::nullopt;
}

/// The function of the table that an op is.
const char* function_of(const ir::OpDef& op) {
  switch (static_cast<OpId>(op.id)) {
    case OpId::Cbrt:
      return "cbrt";
    case OpId::Sin:
      return "sin";
    case OpId::Cos:
      return "cos";
    case OpId::Tan:
      return "tan";
    case OpId::Asinh:
      return "asinh";
    case OpId::Acosh:
      return "acosh";
    case OpId::Atanh:
      return "atanh";
    case OpId::ErfInv:
      return "erf_inv";
    case OpId::Rem:
      return "fmod";
    default:
      return nullptr;
  }
}

class OpWriter {
 public:
  OpWriter(IrWriter& w, FunctionSource& functions, DType t, int lanes)
      : w_(w),
        functions_(functions),
        t_(t),
        lanes_(lanes),
        type_(ir_vector(ir_type(t_), lanes)),
        contract_(functions.contract() ? " contract" : "") {}

  IrValue write(const ir::OpDef& op, const ir::Attr* attr, std::span<const IrValue> in) {
    return is_float(t_) ? real(op, attr, in) : whole(op, attr, in);
  }

 private:
  // ---- pieces ----
  IrValue call(const std::string& intrinsic, std::initializer_list<IrValue> args,
               const std::string& more = "") {
    std::string text = "call " + type_ + " @llvm." + intrinsic + "." + suffix(t_) + "(";
    bool first = true;
    for (const IrValue& a : args) {
      text += (first ? "" : ", ") + type_ + " " + a;
      first = false;
    }
    return w_.let(text + more + ")");
  }
  std::string suffix(DType t) const {
    const std::string e = t == DType::f32 ? "f32"
                          : t == DType::f64
                              ? "f64"
                              : format("i{}", t == DType::boolean ? 1 : 8 * byte_size(t));
    return lanes_ == 1 ? e : format("v{}{}", lanes_, e);
  }
  IrValue binary(const std::string& op, const IrValue& a, const IrValue& b) {
    return w_.let(format("{} {} {}, {}", op, type_, a, b));
  }
  /// Sums and products of floats.
  IrValue real_binary(const std::string& op, const IrValue& a, const IrValue& b) {
    return binary(op + contract_, a, b);
  }
  IrValue choose(const IrValue& p, const IrValue& a, const IrValue& b) {
    return w_.let(
        format("select {} {}, {} {}, {} {}", ir_vector("i1", lanes_), p, type_, a, type_, b));
  }
  IrValue constant(double x) const { return ir_real(t_, x, lanes_); }
  IrValue whole_constant(std::int64_t x) const {
    return ir_splat(ir_type(t_), t_ == DType::boolean ? (x ? "true" : "false") : std::to_string(x),
                    lanes_);
  }
  IrValue library(const char* name, std::span<const IrValue> in) {
    internal_check(lanes_ == 1, "the C library takes one element");
    return library_call(name, in, "");
  }
  IrValue library_call(const char* name, std::span<const IrValue> in, const char* more) {
    const auto index = find_function(name, t_);
    internal_check(index.has_value(), "no library function");
    const std::string type = ir_type(t_);
    std::string args;
    for (const IrValue& a : in) args += (args.empty() ? "" : ", ") + type + " " + a;
    return w_.let(format("call {} {}({}) #1{}", type, functions_.library(*index), args, more));
  }

  IrValue compare(const ir::Attr* attr, const IrValue& a, const IrValue& b) {
    static constexpr const char* kReal[] = {"oeq", "une", "olt", "ole", "ogt", "oge"};
    static constexpr const char* kSigned[] = {"eq", "ne", "slt", "sle", "sgt", "sge"};
    static constexpr const char* kUnsigned[] = {"eq", "ne", "ult", "ule", "ugt", "uge"};
    const auto k = static_cast<std::size_t>(ir::attr_as<ops::CompareAttrs>(attr).direction);
    if (is_float(t_)) return w_.let(format("fcmp {} {} {}, {}", kReal[k], type_, a, b));
    const char* how = is_signed_integer(t_) ? kSigned[k] : kUnsigned[k];
    return w_.let(format("icmp {} {} {}, {}", how, type_, a, b));
  }

  IrValue power(std::int64_t exponent, IrValue x, const std::string& multiply) {
    auto n = static_cast<std::uint64_t>(exponent < 0 ? -exponent : exponent);
    IrValue r;
    for (; n; n >>= 1) {
      if (n & 1) r = r.empty() ? x : binary(multiply, r, x);
      if (n > 1) x = binary(multiply, x, x);
    }
    return r;
  }

  // ---- floating elements ----
  IrValue real(const ir::OpDef& op, const ir::Attr* attr, std::span<const IrValue> in) {
    const IrValue& x = in[0];
    if (has_math(op, t_)) {
      return write_math(w_, op, in, t_, lanes_, [&](const IrValue& element) {
        return library_call(function_of(op), std::array{element}, " cold");
      });
    }
    switch (static_cast<OpId>(op.id)) {
      case OpId::Neg:
        return w_.let("fneg" + contract_ + " " + type_ + " " + x);
      case OpId::Abs:
        return call("fabs", {x});
      case OpId::Sign: {
        const IrValue up = w_.let(format("fcmp ogt {} {}, {}", type_, x, constant(0)));
        const IrValue down = w_.let(format("fcmp olt {} {}, {}", type_, x, constant(0)));
        return choose(up, constant(1), choose(down, constant(-1), x));
      }
      case OpId::Ceil:
        return call("ceil", {x});
      case OpId::Floor:
        return call("floor", {x});
      case OpId::RoundEven:
        return call("nearbyint", {x});
      case OpId::Round: {
        // The largest number below one half: with it, sums never round up to the next integer.
        const double half = t_ == DType::f64 ? std::nextafter(0.5, 0) : std::nextafter(0.5F, 0.0F);
        return call("trunc", {binary("fadd", x, call("copysign", {constant(half), x}))});
      }
      case OpId::Sqrt:
        return call("sqrt", {x});
      case OpId::Rsqrt:
        return binary("fdiv", constant(1), call("sqrt", {x}));
      case OpId::Add:
        return real_binary("fadd", x, in[1]);
      case OpId::Sub:
        return real_binary("fsub", x, in[1]);
      case OpId::Mul:
        return real_binary("fmul", x, in[1]);
      case OpId::Div:
        return binary("fdiv", x, in[1]);
      case OpId::Max:
        return call("maximum", {x, in[1]});
      case OpId::Min:
        return call("minimum", {x, in[1]});
      case OpId::Clamp:
        return call("minimum", {call("maximum", {in[1], in[0]}), in[2]});
      case OpId::Compare:
        return compare(attr, x, in[1]);
      case OpId::IsFinite:
        return w_.let(format("fcmp olt {} {}, {}", type_, call("fabs", {x}),
                             constant(std::numeric_limits<double>::infinity())));
      case OpId::IntegerPow: {
        const std::int64_t n = ir::attr_as<ops::IntegerPowAttrs>(attr).exponent;
        if (n == 0) return constant(1);
        const IrValue p = power(n, x, "fmul" + contract_);
        return n < 0 ? binary("fdiv", constant(1), p) : p;
      }
      default:
        internal_check(function_of(op) != nullptr, "an operation has no code");
        return library(function_of(op), in);
    }
  }

  // ---- integers and bool ----
  IrValue whole(const ir::OpDef& op, const ir::Attr* attr, std::span<const IrValue> in) {
    const IrValue& x = in[0];
    const bool sign = is_signed_integer(t_);
    auto is = [&](const IrValue& a, std::int64_t value) {
      return w_.let(format("icmp eq {} {}, {}", type_, a, whole_constant(value)));
    };
    auto shift = [&](const char* how, const IrValue& beyond) {
      const IrValue all =
          w_.let(format("icmp uge {} {}, {}", type_, in[1], whole_constant(8 * byte_size(t_))));
      // A shift by too much has no value, so it gets another amount.
      const IrValue amount = choose(all, whole_constant(0), in[1]);
      return choose(all, beyond, binary(how, x, amount));
    };
    switch (static_cast<OpId>(op.id)) {
      case OpId::Neg:
        return binary("sub", whole_constant(0), x);
      case OpId::Abs:
        return sign ? call("abs", {x}, ", i1 false") : x;
      case OpId::Sign: {
        const IrValue zero = is(x, 0);
        if (!sign) return choose(zero, x, whole_constant(1));
        const IrValue down = w_.let(format("icmp slt {} {}, {}", type_, x, whole_constant(0)));
        return choose(zero, x, choose(down, whole_constant(-1), whole_constant(1)));
      }
      case OpId::Add:
        return binary("add", x, in[1]);
      case OpId::Sub:
        return binary("sub", x, in[1]);
      case OpId::Mul:
        return binary("mul", x, in[1]);
      case OpId::Div:
      case OpId::Rem: {
        const bool quotient = op.id == static_cast<std::uint16_t>(OpId::Div);
        const IrValue zero = is(in[1], 0);
        IrValue special = zero, minus;
        if (sign) {
          minus = is(in[1], -1);
          special = w_.let(format("or {} {}, {}", ir_vector("i1", lanes_), zero, minus));
        }
        const IrValue by = choose(special, whole_constant(1), in[1]);
        IrValue r = binary(quotient ? (sign ? "sdiv" : "udiv") : (sign ? "srem" : "urem"), x, by);
        if (sign) {
          r = choose(minus, quotient ? binary("sub", whole_constant(0), x) : whole_constant(0), r);
        }
        return choose(zero, quotient ? whole_constant(-1) : x, r);
      }
      case OpId::Max:
        if (t_ == DType::boolean) return binary("or", x, in[1]);
        return call(sign ? "smax" : "umax", {x, in[1]});
      case OpId::Min:
        if (t_ == DType::boolean) return binary("and", x, in[1]);
        return call(sign ? "smin" : "umin", {x, in[1]});
      case OpId::Clamp:
        return call(sign ? "smin" : "umin", {call(sign ? "smax" : "umax", {in[1], in[0]}), in[2]});
      case OpId::And:
        return binary("and", x, in[1]);
      case OpId::Or:
        return binary("or", x, in[1]);
      case OpId::Xor:
        return binary("xor", x, in[1]);
      case OpId::Not:
        return binary("xor", x, t_ == DType::boolean ? whole_constant(1) : whole_constant(-1));
      case OpId::ShiftLeft:
        return shift("shl", whole_constant(0));
      case OpId::ShiftRightLogical:
        return shift("lshr", whole_constant(0));
      case OpId::ShiftRightArithmetic:
        return shift("ashr", binary("ashr", x, whole_constant(8 * byte_size(t_) - 1)));
      case OpId::Popcnt:
        return call("ctpop", {x});
      case OpId::Clz:
        return call("ctlz", {x}, ", i1 false");
      case OpId::Compare:
        return compare(attr, x, in[1]);
      case OpId::IntegerPow: {
        const std::int64_t n = ir::attr_as<ops::IntegerPowAttrs>(attr).exponent;
        return n == 0 ? whole_constant(1) : power(n, x, "mul");
      }
      default:
        throw InternalError(std::string(op.name) + " has no code for integers");
    }
  }

  IrWriter& w_;
  FunctionSource& functions_;
  DType t_;
  int lanes_;
  std::string type_, contract_;
};

}  // namespace

std::span<const LibraryFunction> library_functions() { return kFunctions; }

bool can_write(const ir::OpDef& op, std::span<const DType> in, DType out, int lanes) {
  if (!ir_computes(out)) return false;
  for (DType t : in) {
    if (!ir_computes(t)) return false;
  }
  const bool real = is_float(in[0]);
  switch (static_cast<OpId>(op.id)) {
    case OpId::Pow:
      return real;
    case OpId::Clamp:
      return in[0] != DType::boolean;
    case OpId::Rem:
      return !real || lanes == 1;
    default:
      return !function_of(op) || lanes == 1 || has_math(op, computed_as(in[0]));
  }
}

namespace {

/// Whether the result is one of the operands' numbers, or a small integer.
bool keeps_precision(const ir::OpDef& op) {
  switch (static_cast<OpId>(op.id)) {
    case OpId::Neg:
    case OpId::Abs:
    case OpId::Sign:
    case OpId::Max:
    case OpId::Min:
    case OpId::Clamp:
      return true;
    default:
      return false;
  }
}

}  // namespace

IrValue write_op(IrWriter& w, FunctionSource& functions, const ir::OpDef& op, const ir::Attr* attr,
                 std::span<const IrValue> in, std::span<const DType> in_types, DType out,
                 int lanes) {
  switch (static_cast<OpId>(op.id)) {
    case OpId::Select: {
      const std::string type = ir_vector(ir_type(out), lanes);
      return w.let(format("select {} {}, {} {}, {} {}", ir_vector("i1", lanes), in[0], type, in[1],
                          type, in[2]));
    }
    case OpId::Convert:
      return write_convert(w, in_types[0], out, in[0], lanes);
    case OpId::BitcastConvert:
      return write_bitcast(w, in_types[0], out, in[0], lanes);
    case OpId::StopGradient:
    case OpId::OptimizationBarrier:
      return in[0];
    default:
      break;
  }
  // Short floats are computed on as floats, and rounded after each op.
  std::array<IrValue, 3> operands;
  for (std::size_t k = 0; k < in.size(); ++k) operands[k] = widened(w, in_types[k], in[k], lanes);
  OpWriter writer(w, functions, computed_as(in_types[0]), lanes);
  const IrValue r = writer.write(op, attr, std::span(operands).first(in.size()));
  return narrowed(w, out, r, lanes, keeps_precision(op));
}

}  // namespace tlaloc::cpu
