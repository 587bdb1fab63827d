// A program's instruction list as one function: jumps are branches, sizes and small arrays are
// registers, loops are code.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/generate_facts.h"
#include "tlaloc/cpu/generate_loop.h"
#include "tlaloc/cpu/generate_sizes.h"
#include "tlaloc/cpu/native.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;

/// Steps in a row from which on the machine runs them, at some tens of nanoseconds for each.
constexpr std::size_t kDriven = 12;
/// Steps of code between two looks at whether the run was cancelled.
constexpr std::size_t kStepsAPoll = 16;

class Generator {
 public:
  /// `ahead`: what the code calls stands in its module; else the context says where it is.
  /// `longest`: as generate() has it.
  Generator(const Program& p, bool contract, std::vector<bool>* timed, bool ahead,
            std::size_t longest)
      : p_(p), contract_(contract), timed_(timed), ahead_(ahead), longest_(longest) {
    slot_values_.resize(p_.slots.size());
    pointers_.resize(p_.storages.size());
    if (timed_) {
      for (std::size_t k = 0; k < p_.steps.size(); ++k) {
        timed_->push_back(!facts_.written[k] || !facts_.is_small(p_.steps[k]));
      }
    }
  }

  NativeText run() {
    for (std::uint32_t i = 0; i < p_.code.size(); ++i) {
      const Instruction& in = p_.code[i];
      if (in.code == Code::jump || in.code == Code::jump_unless || in.code == Code::jump_if_equal) {
        targets_[in.target] = true;
        for (std::uint32_t k = in.target; k <= i; ++k) in_loop_[k] = true;  // if it jumps back
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
        "attributes #3 = { nounwind alwaysinline \"no-builtins\" }\n"
        "attributes #4 = { nounwind cold }\n\n";
    write_body();
    text += (ahead_ ? "define internal i32 @.run(ptr %context) #3 {\nentry:\n"
                    : "define i32 @run(ptr %context) #0 {\nentry:\n") +
            prologue_.entry() + w_.entry() + "  br label %I0\nI0:\n" + w_.body() + "}\n";
    for (const auto& [body, name] : kernels_) {
      text +=
          (entries_.contains(name) ? "\ndefine void @" : "\ndefine internal void @") + name + body;
    }
    return {std::move(text), std::move(shared_), std::move(driven_), std::move(rows_)};
  }

 private:
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
    switch (facts_.slots[s]) {
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
    if (facts_.slots[s] != SlotKind::variable) return;
    const IrValue v = slot(s);
    const IrValue base = field(0);
    w_.line(format("store i64 {}, ptr {}", v,
                   w_.let(format("getelementptr i64, ptr {}, i64 {}", base, s))));
  }

  /// Loaded here: pointers that are kept in registers all along cost more than they save.
  IrValue load_pointer(std::size_t storage) {
    const IrValue base = field(1);
    return w_.let("load ptr, ptr " +
                  w_.let(format("getelementptr ptr, ptr {}, i64 {}", base, storage)));
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
      if (facts_.local[s]) {
        v = early(format("alloca [{} x {}], align 32",
                         std::max<std::int64_t>(p_.slots[storage.elements], 1),
                         ir_memory_type(storage.dtype)));
      } else if (!in_loop_[at_]) {
        // What is used once or twice is not kept from the start on: registers don't suffice for the
        // storages of a long program, and LLVM takes more than linear time to find that out.
        return load_pointer(s);
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
  /// Fails at `at` if p holds. `names_sizes`: the message has variables.
  void fail_if(const IrValue& p, std::uint32_t at, bool names_sizes = false) {
    const std::string bad = w_.label("bad"), go = w_.label("go");
    w_.branch(p, bad, go);
    w_.begin(bad);
    w_.line(format("store i32 {}, ptr {}", at, fail_at()));
    w_.jump(names_sizes ? "refuse" : "fail");
    w_.begin(go);
    may_fail_at_ = true;
    may_refuse_ = may_refuse_ || names_sizes;
  }
  IrValue fail_at() {
    if (fail_at_.empty()) fail_at_ = early("alloca i32");
    return fail_at_;
  }

  void write_body() {
    for (std::uint32_t i = 1; i < p_.code.size(); ++i) {
      at_ = i;
      if (i < targets_.size() && targets_[i]) w_.fall_into(format("I{}", i));
      if (const std::uint32_t end = driven_until(i); end > i) {
        drive(i, end);
        i = end - 1;
      } else {
        instruction(i, p_.code[i]);
      }
      if (w_.body().size() + kernel_size_ > longest_) return;
    }
    if (targets_[p_.code.size()]) {
      w_.fall_into(format("I{}", p_.code.size()));
    }
    std::vector<bool> copied(p_.storages.size());
    for (const Program::Result& r : p_.results) {
      for (Slot s : r.extents) publish(s);
      if (!facts_.local[r.storage] || copied[r.storage]) continue;
      copied[r.storage] = true;
      hand_out(r.storage);
    }
    for (Slot s : p_.result_dims) publish(s);
    w_.line("ret i32 0");
    if (may_refuse_) {
      w_.begin("refuse");
      for (Slot s : std::vector<Slot>(variables_)) publish(s);
      w_.jump("fail");
    }
    if (may_fail_at_) {
      w_.begin("fail");
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
      case Code::poll:
        return poll(at);
    }
  }

  void poll(std::uint32_t at) {
    const IrValue stop = field(5);
    const IrValue v = w_.let(format("load atomic i8, ptr {} monotonic, align 1", stop));
    fail_if(w_.let("icmp ne i8 " + v + ", 0"), at);
  }
  /// Between steps a cancelled run ends, too.
  void poll_before(std::uint32_t index) {
    if (ahead_ || (facts_.written[index] && facts_.is_small(p_.steps[index]))) return;
    if (!facts_.written[index] || ++steps_since_poll_ == kStepsAPoll) {
      steps_since_poll_ = 0;
      poll(static_cast<std::uint32_t>(p_.code.size()));
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
    set_slot(op.result, write_size_op(w_, op.kind, a, b, facts_.checked[op.result]));
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
    fail_if(bad, at, true);
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
    // Cold: what is in registers goes to memory around the call, not before the branch.
    const IrValue status = w_.let(format("call i32 {}(ptr {}, i32 {}, i64 {}, i32 {}) #4", call,
                                         run, s, elements, keep ? 1 : 0));
    leave_if(status);
    w_.fall_into(go);
  }

  // ---- steps ----

  bool contracts(const Step& s) const { return contract_ || loop_of(s)->fused; }

  class Source final : public LoopSource {
   public:
    Source(Generator& g, const Step& s) : LoopSource(g.contracts(s)), g_(g), s_(s) {}
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
    ParameterSource(bool contract, std::vector<IrValue> integers)
        : LoopSource(contract), integers_(std::move(integers)) {}
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
    poll_before(index);
    const bool timed = timed_ && (*timed_)[index];
    if (timed) time(index, 0);
    write_step(index);
    if (timed) time(index, 1);
  }
  void time(std::uint32_t index, int end) {
    const IrValue call = callback(3), run = field(4);
    w_.line(format("call void {}(ptr {}, i32 {}, i32 {})", call, run, index, end));
  }
  // ---- steps that the machine runs ----

  /// Whether it can: by a kernel, or by code that is for a range of an axis.
  bool can_drive(std::uint32_t index) {
    const Step& s = p_.steps[index];
    if (!facts_.written[index]) return true;
    if (facts_.is_small(s)) return false;
    const Loop& loop = *loop_of(s);
    // At most: which functions it calls shows when it is written.
    std::size_t args = s.storages.size() + loop.outputs.size() + library_functions().size();
    args += static_cast<std::size_t>(std::ranges::count_if(loop.ops, [](const Loop::Op& op) {
      return op.kind == Loop::Op::Kind::load || op.kind == Loop::Op::Kind::position;
    }));
    for (Slot k : s.ints) args += facts_.slots[k] == SlotKind::constant ? 0 : 1;
    return args <= kMaxLoopArgs;
  }
  /// The end of the steps in a row that begins at `at`; `at` itself where they are too few.
  std::uint32_t driven_until(std::uint32_t at) {
    if (ahead_ || at < not_driven_until_) return at;
    std::uint32_t end = at;
    std::size_t steps = 0;
    for (; end < p_.code.size() && (end == at || !targets_[end]); ++end) {
      const Instruction& in = p_.code[end];
      if (in.code == Code::step) {
        if (!can_drive(in.index)) break;
        ++steps;
      } else if (in.code == Code::check) {
        const auto& slots = p_.checks[in.index].slots;
        if (!std::ranges::all_of(slots,
                                 [&](Slot s) { return facts_.slots[s] != SlotKind::variable; })) {
          break;
        }
      } else if (in.code != Code::nothing && in.code != Code::hold) {
        break;
      }
    }
    if (steps >= kDriven) return end;
    not_driven_until_ = end;
    return at;
  }
  void drive(std::uint32_t from, std::uint32_t to) {
    driven_.resize(p_.steps.size(), -1);
    for (std::uint32_t at = from; at < to; ++at) {
      if (p_.code[at].code != Code::step) continue;
      const std::uint32_t index = p_.code[at].index;
      const Step& s = p_.steps[index];
      for (Slot k : s.ints) publish(k);
      if (!facts_.written[index]) continue;
      ParameterSource source(contracts(s), parameters_of(s));
      const auto axis = find_shared_axis(source, *loop_of(s));
      const Kernel kernel = kernel_of(s, axis, true);
      driven_[index] = static_cast<std::int32_t>(shared_.size());
      shared_.push_back(shared_loop(index, axis, kernel));
      shared_.back().entry = kernel.name;
      entries_.insert(kernel.name);
    }
    const IrValue call = callback(5), run = field(4);
    leave_if(w_.let(format("call i32 {}(ptr {}, i32 {})", call, run, rows_.size())));
    rows_.push_back({from, to});
  }

  // ---- steps by code ----

  /// Of a step's function: a constant, or the name of its parameter.
  std::vector<IrValue> parameters_of(const Step& s) const {
    std::vector<IrValue> r;
    for (std::size_t k = 0; k < s.ints.size(); ++k) {
      r.push_back(facts_.slots[s.ints[k]] == SlotKind::constant
                      ? std::to_string(p_.slots[s.ints[k]])
                      : format("%n{}", k));
    }
    return r;
  }
  struct Argument {
    enum class Kind : std::uint8_t {
      storage,   ///< its pointer
      slot,      ///< its value
      function,  ///< of the C library
      start,     ///< 0, where a counted position begins
    };
    std::string type, name;
    Kind kind;
    std::size_t which = 0;
  };
  /// A loop as a function. Equal loops share one: what is not a constant is a parameter.
  struct Kernel {
    std::string name;
    std::vector<Argument> args;
    std::vector<std::size_t> functions;
  };
  /// With `count`, it takes one, even if it has no use for it.
  Kernel kernel_of(const Step& s, const std::optional<SharedAxis>& shared, bool count = false) {
    using Kind = Argument::Kind;
    const Loop& loop = *loop_of(s);
    Kernel k;
    const std::vector<IrValue> integers = parameters_of(s);
    ParameterSource source(contracts(s), integers);
    std::optional<AxisRange> range;
    if (shared) {
      range = {shared->axis, "%count"};
      // What says where a range begins: pointers, and numbers of positions, from the whole's start.
      auto add = [&](Kind kind, StorageId storage) {
        k.args.push_back(
            {kind == Kind::start ? "i64" : "ptr", stream_parameter(k.args.size()), kind, storage});
      };
      for (const Loop::Op& op : loop.ops) {
        if (op.kind == Loop::Op::Kind::load) add(Kind::storage, s.storages[op.array]);
        if (op.kind == Loop::Op::Kind::position) add(Kind::start, 0);
      }
      for (const Loop::Output& o : loop.outputs) add(Kind::storage, s.storages[o.array]);
    } else {
      for (std::size_t i = 0; i < s.storages.size(); ++i) {
        k.args.push_back({"ptr", format("%p{}", i), Kind::storage, s.storages[i]});
      }
    }
    for (std::size_t i = 0; i < integers.size(); ++i) {
      if (!is_number(integers[i])) k.args.push_back({"i64", integers[i], Kind::slot, s.ints[i]});
    }
    IrWriter w;
    write_loop(w, source, loop, range);
    k.functions = source.used_;
    for (std::size_t f : k.functions)
      k.args.push_back({"ptr", format("%f{}", f), Kind::function, f});
    std::string params = shared || count ? "i64 %count" : "";
    for (const Argument& a : k.args) params += (params.empty() ? "" : ", ") + a.type + " " + a.name;
    const std::string body = "(" + params + ") #2 {\nentry:\n" + w.entry() +
                             "  br label %start\nstart:\n" + w.body() + "  ret void\n}\n";
    auto [it, added] = kernel_names_.try_emplace(
        body, format("{}kernel{}", ahead_ ? "." : "", kernel_names_.size()));
    if (added) {
      kernels_.emplace_back(body, it->second);
      kernel_size_ += body.size();
    }
    k.name = it->second;
    return k;
  }
  SharedLoop shared_loop(std::uint32_t index, const std::optional<SharedAxis>& axis,
                         const Kernel& k) const {
    SharedLoop shared{.step = index, .functions = k.functions, .whole = !axis};
    if (axis) {
      shared.axis = *axis;
      shared.few = static_cast<std::int64_t>(elements_alone(*axis));
    }
    for (Slot s : p_.steps[index].ints) {
      if (facts_.slots[s] != SlotKind::constant) shared.ints.push_back(s);
    }
    return shared;
  }

  void write_step(std::uint32_t index) {
    const Step& s = p_.steps[index];
    if (!facts_.written[index]) {
      for (Slot k : s.ints) publish(k);
      const IrValue call = callback(0), run = field(4);
      return leave_if(w_.let(format("call i32 {}(ptr {}, i32 {})", call, run, index)));
    }
    const Loop& loop = *loop_of(s);
    if (facts_.is_small(s)) {
      Source source(*this, s);
      source.read_all();
      return write_loop(w_, source, loop);
    }
    std::vector<IrValue> values;
    for (Slot k : s.ints) values.push_back(slot(k));
    ParameterSource source(contracts(s), parameters_of(s));
    const std::optional<SharedAxis> shared =
        ahead_ ? std::nullopt : shared_axis(source, loop, values);
    const Kernel kernel = kernel_of(s, shared);
    const std::string done = loop.moves ? leave_out_if_it_stays(s, loop) : "";
    const std::string all = shared ? "i64 " + values[shared->axis] : "";
    if (!shared || kernel.args.size() > kMaxLoopArgs) {
      call(kernel, all);
    } else {
      IrValue elements = "1";
      for (std::size_t k = 0; k < loop.rank; ++k) elements = w_.mul(elements, values[k]);
      share(index, *shared, kernel, elements, all);
    }
    if (!done.empty()) w_.fall_into(done);
  }
  /// Begins what is run unless each element would be written to where it is; what comes behind it
  /// begins at the label that is returned.
  std::string leave_out_if_it_stays(const Step& s, const Loop& loop) {
    IrValue stays;
    for (const Loop::Output& o : loop.outputs) {
      const IrValue from = load_pointer(s.storages[loop.ops[o.reg].array]);
      const IrValue same =
          w_.let(format("icmp eq ptr {}, {}", from, load_pointer(s.storages[o.array])));
      stays = stays.empty() ? same : w_.let(format("and i1 {}, {}", stays, same));
    }
    const std::string moves = w_.label("moves"), done = w_.label("done");
    w_.branch(stays, done, moves);
    w_.begin(moves);
    return done;
  }

  void call(const Kernel& kernel, std::string text) {
    for (const Argument& a : kernel.args) {
      IrValue v = "0";
      switch (a.kind) {
        case Argument::Kind::storage:
          v = load_pointer(a.which);
          break;
        case Argument::Kind::slot:
          v = slot(static_cast<Slot>(a.which));
          break;
        case Argument::Kind::function:
          v = function(a.which);
          break;
        case Argument::Kind::start:
          break;
      }
      text += (text.empty() ? "" : ", ") + a.type + " " + v;
    }
    w_.line(format("call void @{}({})", kernel.name, text));
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
  void share(std::uint32_t index, const SharedAxis& axis, const Kernel& kernel,
             const IrValue& elements, const std::string& all) {
    for (Slot k : p_.steps[index].ints) publish(k);
    const IrValue callee = callback(4), run = field(4);
    const IrValue status = w_.let(format("call i32 {}(ptr {}, i32 {}, ptr @{}, i64 {})", callee,
                                         run, shared_.size(), kernel.name, elements));
    shared_.push_back(shared_loop(index, axis, kernel));
    const std::string few = w_.label("few"), go = w_.label("go");
    w_.line(format("switch i32 {}, label %failed [ i32 0, label %{} i32 {}, label %{} ]", status,
                   go, kFewElements, few));
    may_fail_ = true;
    w_.begin(few);
    call(kernel, all);
    w_.fall_into(go);
  }

  const Program& p_;
  const bool contract_;
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
  const ProgramFacts facts_{p_};
  std::vector<IrValue> slot_values_, pointers_;
  std::vector<Slot> variables_;
  std::vector<bool> targets_ = std::vector<bool>(p_.code.size() + 1);
  std::vector<bool> in_loop_ = std::vector<bool>(p_.code.size() + 1);  // by instruction
  std::uint32_t at_ = 0;                                               // that which is written
  IrValue fields_[6];
  std::unordered_map<std::size_t, IrValue> functions_;
  IrValue fail_at_;
  bool may_fail_ = false, may_fail_at_ = false, may_refuse_ = false;
  std::vector<SharedLoop> shared_;
  std::vector<std::int32_t> driven_;  // by step, where any is
  std::vector<NativeText::Row> rows_;
  std::size_t steps_since_poll_ = 0;
  std::uint32_t not_driven_until_ = 0;       // no row of enough steps begins before
  std::unordered_set<std::string> entries_;  // kernels that the machine begins
  std::vector<std::pair<std::string, std::string>> kernels_;  // body, name
  std::size_t kernel_size_ = 0;                               // characters of all bodies
  std::unordered_map<std::string, std::string> kernel_names_;
};

}  // namespace

NativeText generate(const Program& p, bool contract, std::vector<bool>* timed,
                    std::size_t longest) {
  if (timed) timed->clear();
  return Generator(p, contract, timed, false, longest).run();
}
std::string generate_ahead(const Program& p, bool contract) {
  return Generator(p, contract, nullptr, true, std::numeric_limits<std::size_t>::max()).run().ir;
}

}  // namespace tlaloc::cpu
