#include "tlaloc/cpu/math_writer.h"

#include <fmt/format.h>

namespace tlaloc::cpu {

using fmt::format;

namespace {

template <class T>
constexpr const char* kElement = std::is_same_v<T, double> ? "double" : "float";
template <class T>
constexpr const char* kBits = std::is_same_v<T, double> ? "i64" : "i32";

std::string suffix(const char* element, int lanes) {
  return lanes == 1 ? element : format("v{}{}", lanes, element);
}

}  // namespace

template <class T>
MathWriter<T>::MathWriter(IrWriter& w, int lanes)
    : w_(w),
      lanes_(lanes),
      type_(ir_vector(kElement<T>, lanes)),
      bits_(ir_vector(kBits<T>, lanes)),
      flags_(ir_vector("i1", lanes)) {}

template <class T>
IrValue MathWriter<T>::real(double x) const {
  return ir_real(dtype_of<T>, double{static_cast<T>(x)}, lanes_);
}
template <class T>
IrValue MathWriter<T>::whole(std::int64_t x) const {
  return ir_splat(kBits<T>, std::to_string(x), lanes_);
}
template <class T>
IrValue MathWriter<T>::binary(const char* op, const IrValue& a, const IrValue& b) const {
  return w_.let(format("{} {} {}, {}", op, type_, a, b));
}
template <class T>
IrValue MathWriter<T>::neg(const IrValue& a) const {
  return w_.let("fneg " + type_ + " " + a);
}
template <class T>
IrValue MathWriter<T>::call(const char* intrinsic, std::initializer_list<IrValue> args) const {
  std::string text;
  for (const IrValue& a : args) text += (text.empty() ? "" : ", ") + type_ + " " + a;
  return w_.let(format("call {} @llvm.{}.{}({})", type_, intrinsic,
                       suffix(kWide ? "f64" : "f32", lanes_), text));
}
template <class T>
IrValue MathWriter<T>::compare(const char* how, const IrValue& a, const IrValue& b) const {
  return w_.let(format("fcmp {} {} {}, {}", how, type_, a, b));
}
template <class T>
IrValue MathWriter<T>::choose(const IrValue& p, const IrValue& a, const IrValue& b) const {
  return w_.let(format("select {} {}, {} {}, {} {}", flags_, p, type_, a, type_, b));
}
template <class T>
IrValue MathWriter<T>::flags(const char* op, const IrValue& p, const IrValue& q) const {
  return w_.let(format("{} {} {}, {}", op, flags_, p, q));
}

template <class T>
IrValue MathWriter<T>::pattern(const IrValue& x) const {
  return w_.let(format("bitcast {} {} to {}", type_, x, bits_));
}
template <class T>
IrValue MathWriter<T>::from_pattern(const IrValue& x) const {
  return w_.let(format("bitcast {} {} to {}", bits_, x, type_));
}
template <class T>
IrValue MathWriter<T>::integer(const char* op, const IrValue& a, const IrValue& b) const {
  return w_.let(format("{} {} {}, {}", op, bits_, a, b));
}
template <class T>
IrValue MathWriter<T>::smaller(const IrValue& a, const IrValue& b) const {
  return w_.let(
      format("call {0} @llvm.smin.{1}({0} {2}, {0} {3})", bits_, suffix(kBits<T>, lanes_), a, b));
}
template <class T>
IrValue MathWriter<T>::has_bit(const IrValue& n, std::int64_t bit) const {
  return w_.let(format("icmp ne {} {}, {}", bits_, both_bits(n, whole(bit)), whole(0)));
}
template <class T>
IrValue MathWriter<T>::turned_by_bit_1(const IrValue& x, const IrValue& n) const {
  const IrValue sign = integer("shl", both_bits(n, whole(2)), whole(8 * sizeof(T) - 2));
  return from_pattern(integer("xor", pattern(x), sign));
}
template <class T>
IrValue MathWriter<T>::real_of(const IrValue& n) const {
  if constexpr (!kWide) return w_.let(format("sitofp {} {} to {}", bits_, n, type_));
  // Not every processor converts vectors of i64.
  const IrValue magic = real(0x1.8p52);
  return sub(from_pattern(plus(n, pattern(magic))), magic);
}

template <class T>
MathWriter<double> MathWriter<T>::widened() const {
  return {w_, lanes_};
}
template <class T>
IrValue MathWriter<T>::widen(const IrValue& x) const {
  return w_.let(format("fpext {} {} to {}", type_, x, ir_vector("double", lanes_)));
}
template <class T>
IrValue MathWriter<T>::narrow(const IrValue& x) const {
  return w_.let(format("fptrunc {} {} to {}", ir_vector("double", lanes_), x, type_));
}
template <class T>
IrValue MathWriter<T>::narrow_whole(const IrValue& n) const {
  return w_.let(format("trunc {} {} to {}", ir_vector("i64", lanes_), n, bits_));
}

template <class T>
IrValue MathWriter<T>::sooner(const IrValue& x, double low, double high,
                              const std::function<IrValue()>& near,
                              const std::function<IrValue()>& any) const {
  if (lanes_ != 1) return any();
  const IrValue result = w_.variable(type_);
  const std::string is_near = w_.label("is_near"), is_far = w_.label("is_far"),
                    done = w_.label("done");
  const IrValue size = abs(x), below = compare("ole", size, real(high));
  w_.branch(low == 0 ? below : both(below, ge(size, real(low))), is_near, is_far);
  w_.begin(is_near);
  w_.line(format("store {} {}, ptr {}", type_, near(), result));
  w_.jump(done);
  w_.begin(is_far);
  w_.line(format("store {} {}, ptr {}", type_, any(), result));
  w_.fall_into(done);
  return w_.let(format("load {}, ptr {}", type_, result));
}

template <class T>
IrValue MathWriter<T>::with_far_lanes(const IrValue& x, const IrValue& y, double limit,
                                      const ScalarCall& scalar) const {
  const IrValue far = ge(abs(x), real(limit));
  const IrValue result = w_.variable(type_);
  w_.line(format("store {} {}, ptr {}", type_, y, result));
  const std::string some = w_.label("far"), done = w_.label("near");
  if (lanes_ == 1) {
    w_.branch(far, some, done);
    w_.begin(some);
    w_.line(format("store {} {}, ptr {}", type_, scalar(x), result));
    w_.fall_into(done);
    return w_.let(format("load {}, ptr {}", type_, result));
  }
  const IrValue mask = w_.let(format("bitcast {} {} to i{}", flags_, far, lanes_));
  w_.branch(w_.let(format("icmp ne i{} {}, 0", lanes_, mask)), some, done);
  w_.begin(some);
  // Lane by lane, in memory, whose alignment is a variable's.
  const IrValue in = w_.variable(type_), out = w_.variable(type_), at = w_.variable("i64");
  w_.line(format("store {} {}, ptr {}, align 32", type_, x, in));
  w_.line(format("store {} {}, ptr {}, align 32", type_, y, out));
  w_.line("store i64 0, ptr " + at);
  const std::string head = w_.label("lane"), call = w_.label("call"), next = w_.label("next"),
                    end = w_.label("end");
  w_.fall_into(head);
  const IrValue i = w_.let("load i64, ptr " + at);
  auto place = [&](const IrValue& of) {
    return w_.let(format("getelementptr {}, ptr {}, i64 {}", kElement<T>, of, i));
  };
  const IrValue v = w_.let(format("load {}, ptr {}", kElement<T>, place(in)));
  const MathWriter one(w_, 1);
  w_.branch(one.ge(one.abs(v), one.real(limit)), call, next);
  w_.begin(call);
  const IrValue called = scalar(v);
  w_.line(format("store {} {}, ptr {}", kElement<T>, called, place(out)));
  w_.fall_into(next);
  const IrValue after = w_.let(format("add i64 {}, 1", i));
  w_.line("store i64 " + after + ", ptr " + at);
  w_.branch(w_.let(format("icmp ult i64 {}, {}", after, lanes_)), head, end);
  w_.begin(end);
  const IrValue all = w_.let(format("load {}, ptr {}, align 32", type_, out));
  w_.line(format("store {} {}, ptr {}", type_, all, result));
  w_.fall_into(done);
  return w_.let(format("load {}, ptr {}", type_, result));
}

template class MathWriter<float>;
template class MathWriter<double>;

}  // namespace tlaloc::cpu
