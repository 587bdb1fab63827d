// A program's instruction list as one function: jumps are branches, sizes and small arrays are
// registers, loops are code.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/generate_loop.h"
#include "tlaloc/cpu/generate_sizes.h"
#include "tlaloc/cpu/native.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;

/// Bytes up to which an array is a variable of the function.
constexpr std::int64_t kLocalBytes = 256;
/// Elements up to which a loop is written where it runs; a larger one is a function of its own.
constexpr std::int64_t kInlineElements = 64;

class Generator {
 public:
  /// `ahead`: what the code calls stands in its module; else the context says where it is.
  /// `longest`: as generate() has it.
  Generator(const Program& p, std::vector<bool>* timed, bool ahead, std::size_t longest)
      : p_(p), timed_(timed), ahead_(ahead), longest_(longest) {
    find_inline_steps();
    find_slots();
    find_locals();
    if (timed_) {
      for (std::size_t k = 0; k < p_.steps.size(); ++k) {
        timed_->push_back(!written_step_[k] || !is_small(p_.steps[k]));
      }
    }
  }

  NativeText run() {
    for (std::uint32_t i = 0; i < p_.code.size(); ++i) {
      const Instruction& in = p_.code[i];
      if (in.code == Code::jump || in.code == Code::jump_unless || in.code == Code::jump_if_equal) {
        targets_[in.target] = true;
      }
    }
    // Code on disk knows the functions of the table, and the context, by position.
    std::string text =
        format("; context {}, functions {}\n", kNativeVersion, library_functions().size());
    text +=
        "%context = type { ptr, ptr, ptr, ptr, ptr, ptr }\n"
        "attributes #0 = { nounwind \"no-builtins\" }\n"
        "attributes #1 = { nounwind willreturn memory(none) }\n"
        "attributes #2 = { nounwind noinline \"no-builtins\" }\n"
        "attributes #3 = { nounwind alwaysinline \"no-builtins\" }\n\n";
    write_body();
    text += (ahead_ ? "define internal i32 @.run(ptr %context) #3 {\nentry:\n"
                    : "define i32 @run(ptr %context) #0 {\nentry:\n") +
            prologue_.entry() + w_.entry() + "  br label %I0\nI0:\n" + w_.body() + "}\n";
    for (const auto& [body, name] : kernels_) {
      text += "\ndefine internal void @" + name + body;
    }
    return {std::move(text), std::move(shared_)};
  }

 private:
  // ---- what is known about the program ----

  static const Loop* loop_of(const Step& s) {
    return s.run == run_loop ? static_cast<const Loop*>(s.data.get()) : nullptr;
  }
  void find_inline_steps() {
    written_step_.resize(p_.steps.size());
    for (std::size_t k = 0; k < p_.steps.size(); ++k) {
      const Loop* loop = loop_of(p_.steps[k]);
      written_step_[k] = loop && can_write(*loop);
    }
  }

  enum class SlotKind : std::uint8_t { constant, early, variable };
  void find_slots() {
    slot_kinds_.assign(p_.slots.size(), SlotKind::constant);
    for (Slot s : p_.entry) slot_kinds_[s] = SlotKind::early;
    for (const SizeOp& op : p_.points[0]) slot_kinds_[op.result] = SlotKind::early;
    for (std::size_t k = 1; k < p_.points.size(); ++k) {
      for (const SizeOp& op : p_.points[k]) slot_kinds_[op.result] = SlotKind::variable;
    }
    for (const Instruction& in : p_.code) {
      if (in.code == Code::set || in.code == Code::add || in.code == Code::subtract ||
          in.code == Code::load) {
        slot_kinds_[in.a] = SlotKind::variable;
      }
    }
    slot_values_.resize(p_.slots.size());
    find_checked_slots();
  }
  /// What the sizes of storages are computed from: there an overflow must not go unseen. All other
  /// sizes and positions are within storages.
  void find_checked_slots() {
    std::vector<const SizeOp*> made_by(p_.slots.size());
    for (std::size_t k = 1; k < p_.points.size(); ++k) {
      for (const SizeOp& op : p_.points[k]) made_by[op.result] = &op;
    }
    checked_.resize(p_.slots.size());
    std::vector<Slot> pending;
    for (const Instruction& in : p_.code) {
      if (in.code == Code::make || in.code == Code::grow) pending.push_back(in.a);
    }
    for (const Check& c : p_.checks) {
      if (c.kind == Check::Kind::type || c.kind == Check::Kind::constraint) {
        pending.insert(pending.end(), c.slots.begin(), c.slots.end());
      }
    }
    while (!pending.empty()) {
      const Slot s = pending.back();
      pending.pop_back();
      if (checked_[s]) continue;
      checked_[s] = true;
      if (const SizeOp* op = made_by[s]) pending.insert(pending.end(), {op->a, op->b});
    }
  }

  /// Small arrays that only written steps touch.
  void find_locals() {
    local_.assign(p_.storages.size(), false);
    for (StorageId s = 0; s < p_.storages.size(); ++s) {
      const Storage& storage = p_.storages[s];
      const bool here =
          storage.kind == Storage::Kind::planned || storage.kind == Storage::Kind::result;
      if (!here || !ir_computes(storage.dtype)) continue;
      if (slot_kinds_[storage.elements] != SlotKind::constant) continue;
      const std::int64_t n = p_.slots[storage.elements];
      local_[s] = n >= 0 && n * byte_size(storage.dtype) <= kLocalBytes;
    }
    for (std::size_t k = 0; k < p_.steps.size(); ++k) {
      const Step& s = p_.steps[k];
      const bool here = written_step_[k] && is_small(s);
      if (here) continue;
      for (StorageId id : s.storages) local_[id] = false;
    }
    pointers_.resize(p_.storages.size());
  }
  /// Few elements, known now.
  bool is_small(const Step& s) const {
    const Loop* loop = loop_of(s);
    std::int64_t n = 1;
    for (std::size_t k = 0; k < loop->rank; ++k) {
      if (slot_kinds_[s.ints[k]] != SlotKind::constant) return false;
      n *= p_.slots[s.ints[k]];
      if (n > kInlineElements) return false;
    }
    return true;
  }

  // ---- slots and storages as values ----

  IrValue field(int k) {
    IrValue& v = fields_[static_cast<std::size_t>(k)];
    if (v.empty()) {
      v = prologue_.let_early(
          "load ptr, ptr " +
          prologue_.let_early(format("getelementptr %context, ptr %context, i64 0, i32 {}", k)));
    }
    return v;
  }
  IrValue early(const std::string& right) { return prologue_.let_early(right); }

  IrValue slot(Slot s) {
    IrValue& v = slot_values_[s];
    switch (slot_kinds_[s]) {
      case SlotKind::constant:
        return std::to_string(p_.slots[s]);
      case SlotKind::early:
        if (v.empty()) v = early("load i64, ptr " + early_slot_address(s));
        return v;
      case SlotKind::variable:
        return w_.let("load i64, ptr " + variable(s));
    }
    return v;
  }
  IrValue early_slot_address(Slot s) {
    const IrValue base = field(0);
    return early(format("getelementptr i64, ptr {}, i64 {}", base, s));
  }
  IrValue variable(Slot s) {
    IrValue& v = slot_values_[s];
    if (v.empty()) {
      v = early("alloca i64");
      prologue_line(format("store i64 {}, ptr {}", p_.slots[s], v));
      variables_.push_back(s);
    }
    return v;
  }
  void prologue_line(const std::string& text) { prologue_.entry_line(text); }
  void set_slot(Slot s, const IrValue& v) { w_.line("store i64 " + v + ", ptr " + variable(s)); }
  /// Puts a variable where callbacks and the machine look.
  void publish(Slot s) {
    if (slot_kinds_[s] != SlotKind::variable) return;
    const IrValue v = slot(s);
    const IrValue base = field(0);
    w_.line(format("store i64 {}, ptr {}", v,
                   w_.let(format("getelementptr i64, ptr {}, i64 {}", base, s))));
  }

  IrValue storage_cell(StorageId s) {
    const IrValue base = field(1);
    return early(format("getelementptr ptr, ptr {}, i64 {}", base, s));
  }
  IrValue pointer(StorageId s) {
    IrValue& v = pointers_[s];
    const Storage& storage = p_.storages[s];
    if (storage.kind == Storage::Kind::dynamic) {
      if (v.empty()) v = storage_cell(s);
      return w_.let("load ptr, ptr " + v);
    }
    if (v.empty()) {
      if (local_[s]) {
        v = early(format("alloca [{} x {}], align 32",
                         std::max<std::int64_t>(p_.slots[storage.elements], 1),
                         ir_memory_type(storage.dtype)));
      } else {
        v = early("load ptr, ptr " + storage_cell(s));
      }
    }
    return v;
  }
  IrValue function(std::size_t index) {
    if (ahead_) return "@" + function_name(index);
    auto [it, added] = functions_.try_emplace(index);
    if (added) {
      const IrValue base = field(3);
      it->second =
          early("load ptr, ptr " + early(format("getelementptr ptr, ptr {}, i64 {}", base, index)));
    }
    return it->second;
  }
  IrValue callback(std::size_t k) { return function(library_functions().size() + k); }
  /// In a module that has all that it calls, or declares it.
  static std::string function_name(std::size_t index) {
    const auto library = library_functions();
    if (index >= library.size()) return index == library.size() + 1 ? ".make" : ".fail";
    return std::string(library[index].name) + (library[index].dtype == DType::f32 ? "f" : "");
  }

  // ---- code ----

  /// Leaves with a failure if `status` is one.
  void leave_if(const IrValue& status) {
    const std::string go = w_.label("go");
    w_.branch(w_.let("icmp eq i32 " + status + ", 0"), go, "failed");
    w_.begin(go);
    may_fail_ = true;
  }
  /// Fails at `at` if p holds.
  void fail_if(const IrValue& p, std::uint32_t at) {
    const std::string bad = w_.label("bad"), go = w_.label("go");
    w_.branch(p, bad, go);
    w_.begin(bad);
    w_.line(format("store i32 {}, ptr {}", at, fail_at()));
    w_.jump("fail");
    w_.begin(go);
    may_fail_at_ = true;
  }
  IrValue fail_at() {
    if (fail_at_.empty()) fail_at_ = early("alloca i32");
    return fail_at_;
  }

  void write_body() {
    for (std::uint32_t i = 1; i < p_.code.size(); ++i) {
      if (i < targets_.size() && targets_[i]) w_.fall_into(format("I{}", i));
      instruction(i, p_.code[i]);
      if (w_.body().size() + kernel_size_ > longest_) return;
    }
    if (targets_[p_.code.size()]) {
      w_.fall_into(format("I{}", p_.code.size()));
    }
    std::vector<bool> copied(p_.storages.size());
    for (const Program::Result& r : p_.results) {
      for (Slot s : r.extents) publish(s);
      if (!local_[r.storage] || copied[r.storage]) continue;
      copied[r.storage] = true;
      hand_out(r.storage);
    }
    for (Slot s : p_.result_dims) publish(s);
    w_.line("ret i32 0");
    if (may_fail_at_) {
      w_.begin("fail");
      // Messages name sizes.
      for (Slot s : std::vector<Slot>(variables_)) publish(s);
      const IrValue at = w_.let("load i32, ptr " + fail_at());
      const IrValue run = field(4), call = callback(2);
      w_.line(format("call i32 {}(ptr {}, i32 {})", call, run, at));
      w_.jump("failed");
    }
    if (may_fail_ || may_fail_at_) {
      w_.begin("failed");
      w_.line("ret i32 1");
    }
  }

  /// A result that was a variable, to where the caller gets it.
  void hand_out(StorageId s) {
    const Storage& storage = p_.storages[s];
    const std::string type = ir_memory_type(storage.dtype);
    const IrValue from = pointer(s), to = early("load ptr, ptr " + storage_cell(s));
    for (std::int64_t i = 0; i < p_.slots[storage.elements]; ++i) {
      const IrValue v =
          w_.let(format("load {}, ptr {}", type,
                        w_.let(format("getelementptr {}, ptr {}, i64 {}", type, from, i))));
      w_.line(format("store {} {}, ptr {}", type, v,
                     w_.let(format("getelementptr {}, ptr {}, i64 {}", type, to, i))));
    }
  }

  void instruction(std::uint32_t at, const Instruction& in) {
    switch (in.code) {
      case Code::nothing:
      case Code::hold:
        return;
      case Code::step:
        return step(in.index);
      case Code::point:
        for (const SizeOp& op : p_.points[in.index]) size_op(op);
        return;
      case Code::check:
        return check(at, p_.checks[in.index]);
      case Code::make:
      case Code::grow:
        return make(in.index, slot(in.a), in.code == Code::grow);
      case Code::jump:
        w_.jump(format("I{}", in.target));
        w_.begin(w_.label("after"));
        return;
      case Code::jump_unless: {
        const IrValue p = w_.let("load i8, ptr " + pointer(in.index));
        const std::string go = w_.label("go");
        w_.branch(w_.let("icmp ne i8 " + p + ", 0"), go, format("I{}", in.target));
        w_.begin(go);
        return;
      }
      case Code::jump_if_equal: {
        const IrValue a = slot(in.a), b = slot(in.b);
        const std::string go = w_.label("go");
        w_.branch(w_.let(format("icmp eq i64 {}, {}", a, b)), format("I{}", in.target), go);
        w_.begin(go);
        return;
      }
      case Code::set:
        return set_slot(in.a, slot(in.b));
      case Code::add: {
        const IrValue a = slot(in.a), b = slot(in.b);
        return set_slot(in.a, w_.let(format("add i64 {}, {}", a, b)));
      }
      case Code::subtract: {
        const IrValue a = slot(in.a), b = slot(in.b);
        return set_slot(in.a, w_.let(format("sub i64 {}, {}", a, b)));
      }
      case Code::load:
        return load_integer(in);
      case Code::limit: {
        const IrValue a = slot(in.a), b = slot(in.b);
        return fail_if(w_.let(format("icmp sge i64 {}, {}", a, b)), at);
      }
      case Code::poll: {
        const IrValue stop = field(5);
        const IrValue v = w_.let(format("load atomic i8, ptr {} monotonic, align 1", stop));
        return fail_if(w_.let("icmp ne i8 " + v + ", 0"), at);
      }
    }
  }

  void load_integer(const Instruction& in) {
    const DType t = p_.storages[in.index].dtype;
    const IrValue base = pointer(in.index), i = slot(in.b);
    const std::string type = ir_memory_type(t);
    const IrValue p = w_.let(format("getelementptr {}, ptr {}, i64 {}", type, base, i));
    IrValue v = w_.let(format("load {}, ptr {}", type, p));
    if (byte_size(t) < 8) {
      v = w_.let(format("{} {} {} to i64", is_signed_integer(t) ? "sext" : "zext", type, v));
    }
    set_slot(in.a, v);
  }

  void size_op(const SizeOp& op) {
    const IrValue a = slot(op.a), b = slot(op.b);
    set_slot(op.result, write_size_op(w_, op.kind, a, b, checked_[op.result]));
  }

  void check(std::uint32_t at, const Check& c) {
    IrValue bad;
    auto require = [&](const char* fails, const IrValue& a, const IrValue& b) {
      const IrValue p = w_.let(format("icmp {} i64 {}, {}", fails, a, b));
      bad = bad.empty() ? p : w_.let(format("or i1 {}, {}", bad, p));
    };
    std::vector<IrValue> values;
    for (Slot s : c.slots) values.push_back(slot(s));
    switch (c.kind) {
      case Check::Kind::type:
      case Check::Kind::length:
        for (const IrValue& v : values) require("slt", v, "0");
        break;
      case Check::Kind::rows:
        require("ne", values[0], values[1]);
        break;
      case Check::Kind::constraint: {
        const auto kind = c.graph->constraints()[c.constraint].kind;
        require(kind == ir::Constraint::Kind::equal ? "ne" : "sgt", values[0], values[1]);
        break;
      }
    }
    fail_if(bad, at);
  }

  void make(StorageId s, const IrValue& elements, bool keep) {
    // Room for it may be there: the machine is asked only where it is not.
    const IrValue base = field(2);
    const IrValue cell = early(format("getelementptr i64, ptr {}, i64 {}", base, s));
    const IrValue have = w_.let("load i64, ptr " + cell);
    const std::string more = w_.label("more"), go = w_.label("go");
    // A size that is none is for the machine to refuse.
    const IrValue larger = w_.let(format("icmp sgt i64 {}, {}", elements, have));
    const IrValue none = w_.let(format("icmp slt i64 {}, 0", elements));
    w_.branch(w_.let(format("or i1 {}, {}", larger, none)), more, go);
    w_.begin(more);
    const IrValue call = callback(1), run = field(4);
    const IrValue status = w_.let(format("call i32 {}(ptr {}, i32 {}, i64 {}, i32 {})", call, run,
                                         s, elements, keep ? 1 : 0));
    leave_if(status);
    w_.fall_into(go);
  }

  // ---- steps ----

  class Source final : public LoopSource {
   public:
    Source(Generator& g, const Step& s) : g_(g), s_(s) {}
    IrValue integer(std::size_t k) override {
      // One read of a variable serves the whole loop.
      auto [it, added] = integers_.try_emplace(k);
      if (added) it->second = g_.slot(s_.ints[k]);
      return it->second;
    }
    IrValue pointer(std::size_t k) override {
      auto [it, added] = pointers_.try_emplace(k);
      if (added) it->second = g_.pointer(s_.storages[k]);
      return it->second;
    }
    IrValue library(std::size_t index) override { return g_.function(index); }
    /// Reads everything at this point, which dominates the loop.
    void read_all() {
      for (std::size_t k = 0; k < s_.ints.size(); ++k) integer(k);
      for (std::size_t k = 0; k < s_.storages.size(); ++k) pointer(k);
    }

   private:
    Generator& g_;
    const Step& s_;
    std::unordered_map<std::size_t, IrValue> integers_, pointers_;
  };
  /// The same inside a function of its own, whose parameters they are.
  class ParameterSource final : public LoopSource {
   public:
    explicit ParameterSource(std::vector<IrValue> integers) : integers_(std::move(integers)) {}
    IrValue integer(std::size_t k) override { return integers_[k]; }
    IrValue pointer(std::size_t k) override { return format("%p{}", k); }
    IrValue library(std::size_t index) override {
      if (std::ranges::find(used_, index) == used_.end()) used_.push_back(index);
      return format("%f{}", index);
    }
    std::vector<std::size_t> used_;

   private:
    std::vector<IrValue> integers_;
  };

  void step(std::uint32_t index) {
    const bool timed = timed_ && (*timed_)[index];
    if (timed) time(index, 0);
    write_step(index);
    if (timed) time(index, 1);
  }
  void time(std::uint32_t index, int end) {
    const IrValue call = callback(3), run = field(4);
    w_.line(format("call void {}(ptr {}, i32 {}, i32 {})", call, run, index, end));
  }
  void write_step(std::uint32_t index) {
    const Step& s = p_.steps[index];
    if (!written_step_[index]) {
      for (Slot k : s.ints) publish(k);
      const IrValue call = callback(0), run = field(4);
      return leave_if(w_.let(format("call i32 {}(ptr {}, i32 {})", call, run, index)));
    }
    const Loop& loop = *loop_of(s);
    if (is_small(s)) {
      Source source(*this, s);
      source.read_all();
      return write_loop(w_, source, loop);
    }
    // Equal loops share a function: what is not a constant is a parameter.
    Arguments args;
    std::vector<IrValue> values, integers;
    for (std::size_t k = 0; k < s.ints.size(); ++k) {
      const IrValue v = slot(s.ints[k]);
      values.push_back(v);
      integers.push_back(is_number(v) ? v : format("%n{}", k));
    }
    ParameterSource source(integers);
    const std::optional<SharedAxis> shared =
        ahead_ ? std::nullopt : shared_axis(source, loop, values);
    std::optional<AxisRange> range;
    if (shared) {
      range = {shared->axis, "%count"};
      add_streams(args, s, loop);
    } else {
      for (std::size_t k = 0; k < s.storages.size(); ++k)
        args.push_back({"ptr", format("%p{}", k), s.storages[k], ""});
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!is_number(values[k])) args.push_back({"i64", integers[k], kNone, values[k]});
    }
    IrWriter w;
    write_loop(w, source, loop, range);
    for (std::size_t f : source.used_)
      args.push_back({"ptr", format("%f{}", f), kNone, function(f)});
    std::string params = shared ? "i64 %count" : "";
    for (const Argument& a : args) params += (params.empty() ? "" : ", ") + a.type + " " + a.name;
    const std::string body = "(" + params + ") #2 {\nentry:\n" + w.entry() +
                             "  br label %start\nstart:\n" + w.body() + "  ret void\n}\n";
    auto [it, added] = kernel_names_.try_emplace(
        body, format("{}kernel{}", ahead_ ? "." : "", kernel_names_.size()));
    if (added) {
      kernels_.emplace_back(body, it->second);
      kernel_size_ += body.size();
    }
    if (!shared) return call(it->second, "", args);
    const std::string all = "i64 " + values[shared->axis];
    if (args.size() > kMaxLoopArgs) return call(it->second, all, args);
    IrValue elements = "1";
    for (std::size_t k = 0; k < loop.rank; ++k) elements = w_.mul(elements, values[k]);
    share(index, *shared, it->second, elements, source.used_, all, args);
  }

  /// Of a loop's function: the pointer of a storage, or a value.
  struct Argument {
    std::string type, name;
    StorageId storage;
    IrValue value;
  };
  using Arguments = std::vector<Argument>;
  static constexpr auto kNone = static_cast<StorageId>(-1);

  /// What says where a range begins: pointers, and numbers of positions, from the whole's start on.
  static void add_streams(Arguments& args, const Step& s, const Loop& loop) {
    auto add = [&](StorageId storage, const IrValue& value) {
      args.push_back(
          {value.empty() ? "ptr" : "i64", stream_parameter(args.size()), storage, value});
    };
    for (const Loop::Op& op : loop.ops) {
      if (op.kind == Loop::Op::Kind::load) add(s.storages[op.array], "");
      if (op.kind == Loop::Op::Kind::position) add(kNone, "0");
    }
    for (const Loop::Output& o : loop.outputs) add(s.storages[o.array], "");
  }

  void call(const std::string& kernel, std::string text, const Arguments& args) {
    for (const Argument& a : args) {
      IrValue v = a.value;
      if (a.storage != kNone) {
        // Loaded here: pointers that are kept in registers all along cost more than they save.
        const IrValue base = field(1);
        v = w_.let("load ptr, ptr " +
                   w_.let(format("getelementptr ptr, ptr {}, i64 {}", base, a.storage)));
      }
      text += (text.empty() ? "" : ", ") + a.type + " " + v;
    }
    w_.line(format("call void @{}({})", kernel, text));
  }

  static double elements_alone(const SharedAxis& axis) {
    return 1e3 * alone_nanoseconds() / static_cast<double>(axis.picoseconds);
  }
  /// Of a loop that may be large. `integers`: of the step, as values of this function.
  static std::optional<SharedAxis> shared_axis(LoopSource& source, const Loop& loop,
                                               const std::vector<IrValue>& integers) {
    const auto axis = find_shared_axis(source, loop);
    if (!axis) return std::nullopt;
    double elements = 1;
    bool known = true;
    for (std::size_t k = 0; k < loop.rank; ++k) {
      is_number(integers[k]) ? elements *= std::stod(integers[k]) : known = false;
    }
    const bool counts = elements < 0x1p62;  // in 64 bits
    return counts && (!known || elements > elements_alone(*axis)) ? axis : std::nullopt;
  }
  /// Lets the machine run a loop in parts; or runs it here, if it has few elements.
  void share(std::uint32_t index, const SharedAxis& axis, const std::string& kernel,
             const IrValue& elements, const std::vector<std::size_t>& functions,
             const std::string& all, const Arguments& args) {
    SharedLoop shared{index, axis, static_cast<std::int64_t>(elements_alone(axis)), {}, functions};
    for (Slot k : p_.steps[index].ints) {
      publish(k);
      if (slot_kinds_[k] != SlotKind::constant) shared.ints.push_back(k);
    }
    const IrValue callee = callback(4), run = field(4);
    const IrValue status = w_.let(format("call i32 {}(ptr {}, i32 {}, ptr @{}, i64 {})", callee,
                                         run, shared_.size(), kernel, elements));
    shared_.push_back(std::move(shared));
    const std::string few = w_.label("few"), go = w_.label("go");
    w_.line(format("switch i32 {}, label %failed [ i32 0, label %{} i32 {}, label %{} ]", status,
                   go, kFewElements, few));
    may_fail_ = true;
    w_.begin(few);
    call(kernel, all, args);
    w_.fall_into(go);
  }

  const Program& p_;
  std::vector<bool>* const timed_;
  const bool ahead_;
  const std::size_t longest_;
  IrWriter w_;
  /// The entry block: what is the same in the whole run.
  class Prologue {
   public:
    IrValue let_early(const std::string& right) {
      const IrValue v = format("%x{}", next_++);
      entry_line(v + " = " + right);
      return v;
    }
    void entry_line(const std::string& text) { entry_ += "  " + text + "\n"; }
    const std::string& entry() const { return entry_; }

   private:
    std::string entry_;
    int next_ = 0;
  } prologue_;
  std::vector<bool> written_step_, local_, checked_;
  std::vector<SlotKind> slot_kinds_;
  std::vector<IrValue> slot_values_, pointers_;
  std::vector<Slot> variables_;
  std::vector<bool> targets_ = std::vector<bool>(p_.code.size() + 1);
  IrValue fields_[6];
  std::unordered_map<std::size_t, IrValue> functions_;
  IrValue fail_at_;
  bool may_fail_ = false, may_fail_at_ = false;
  std::vector<SharedLoop> shared_;
  std::vector<std::pair<std::string, std::string>> kernels_;  // body, name
  std::size_t kernel_size_ = 0;                               // characters of all bodies
  std::unordered_map<std::string, std::string> kernel_names_;
};

}  // namespace

NativeText generate(const Program& p, std::vector<bool>* timed, std::size_t longest) {
  if (timed) timed->clear();
  return Generator(p, timed, false, longest).run();
}
std::string generate_ahead(const Program& p) {
  return Generator(p, nullptr, true, std::numeric_limits<std::size_t>::max()).run().ir;
}

}  // namespace tlaloc::cpu
