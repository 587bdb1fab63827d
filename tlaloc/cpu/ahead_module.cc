// The LLVM module of a program that is compiled ahead of time: the program's own function, and
// around it what the machine does elsewhere, sizes and places in memory.
#include "tlaloc/cpu/ahead_module.h"

#include <fmt/format.h>

#include <algorithm>

#include "tlaloc/cpu/arena.h"
#include "tlaloc/cpu/generate_ops.h"
#include "tlaloc/cpu/generate_sizes.h"
#include "tlaloc/cpu/native.h"

namespace tlaloc::cpu {
namespace {

using fmt::format;

/// Storages never share a cache line.
constexpr std::int64_t kAlignment = 64;
/// Elements that an array may have: what bytes of all arrays add up to stays far below 2^63.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 44;

/// The room that a loop's history gets when it is full. `%keep`: with what is there, and more than
/// asked for where there is room, so that a history is copied a bounded number of times. What lies
/// last in the memory grows where it is.
constexpr const char* kMake = R"(
%state = type { ptr, ptr, ptr, ptr, i32 }

define internal i32 @.make(ptr %state, i32 %storage, i64 %elements, i32 %keep) noinline nounwind {
entry:
  %storages = load ptr, ptr %state
  %capacities.at = getelementptr %state, ptr %state, i64 0, i32 1
  %capacities = load ptr, ptr %capacities.at
  %next.at = getelementptr %state, ptr %state, i64 0, i32 2
  %next = load ptr, ptr %next.at
  %end.at = getelementptr %state, ptr %state, i64 0, i32 3
  %end = load ptr, ptr %end.at
  %status.at = getelementptr %state, ptr %state, i64 0, i32 4
  %size.at = getelementptr i64, ptr @.bytes, i32 %storage
  %size = load i64, ptr %size.at
  %old.at = getelementptr i64, ptr %capacities, i32 %storage
  %old.known = load i64, ptr %old.at
  %old = call i64 @llvm.smax.i64(i64 %old.known, i64 0)
  %pointer.at = getelementptr ptr, ptr %storages, i32 %storage
  %pointer = load ptr, ptr %pointer.at
  %none = icmp slt i64 %elements, 0
  %huge = icmp sgt i64 %elements, 17592186044416
  %wrong = or i1 %none, %huge
  br i1 %wrong, label %bad, label %sized
sized:
  %old.bytes = mul i64 %old, %size
  %old.room.more = add i64 %old.bytes, 63
  %old.room = and i64 %old.room.more, -64
  %old.end = getelementptr i8, ptr %pointer, i64 %old.room
  %is.last = icmp eq ptr %old.end, %next
  %from = select i1 %is.last, ptr %pointer, ptr %next
  %from.int = ptrtoint ptr %from to i64
  %end.int = ptrtoint ptr %end to i64
  %room = sub i64 %end.int, %from.int
  %keeps = icmp ne i32 %keep, 0
  %twice = mul i64 %old, 2
  %more = call i64 @llvm.smax.i64(i64 %twice, i64 %elements)
  %more.bytes = mul i64 %more, %size
  %more.room = add i64 %more.bytes, 63
  %more.fits = icmp sle i64 %more.room, %room
  %takes.more = and i1 %keeps, %more.fits
  %taken = select i1 %takes.more, i64 %more, i64 %elements
  %taken.bytes = mul i64 %taken, %size
  %taken.more = add i64 %taken.bytes, 63
  %taken.room = and i64 %taken.more, -64
  %fits = icmp sle i64 %taken.room, %room
  br i1 %fits, label %place, label %full
place:
  store ptr %from, ptr %pointer.at
  store i64 %taken, ptr %old.at
  %taken.end = getelementptr i8, ptr %from, i64 %taken.room
  store ptr %taken.end, ptr %next.at
  %moves = xor i1 %is.last, true
  %copies = and i1 %moves, %keeps
  %copied = select i1 %copies, i64 %old.bytes, i64 0
  br label %head
head:
  %i = phi i64 [ 0, %place ], [ %i.next, %copy ]
  %some = icmp slt i64 %i, %copied
  br i1 %some, label %copy, label %done
copy:
  %byte.from = getelementptr i8, ptr %pointer, i64 %i
  %byte = load i8, ptr %byte.from
  %byte.to = getelementptr i8, ptr %from, i64 %i
  store i8 %byte, ptr %byte.to
  %i.next = add i64 %i, 1
  br label %head
done:
  ret i32 0
full:
  store i32 1, ptr %status.at
  ret i32 1
bad:
  store i32 2, ptr %status.at
  ret i32 1
}

define internal i32 @.fail(ptr %state, i32 %at) noinline nounwind {
entry:
  %status.at = getelementptr %state, ptr %state, i64 0, i32 4
  %failure.at = getelementptr i8, ptr @.failures, i32 %at
  %failure = load i8, ptr %failure.at
  %status = zext i8 %failure to i32
  store i32 %status, ptr %status.at
  ret i32 1
}
)";

class Module {
 public:
  Module(const Program& p, const AheadNames& names, bool contract)
      : p_(p), names_(names), contract_(contract) {
    for (const Storage& s : p.storages) grows_ = grows_ || s.kind == Storage::Kind::dynamic;
  }

  std::string text() {
    return generate_ahead(p_, contract_) + tables() + kMake + size_function() + main_function();
  }

 private:
  static std::string bytes_text(const void* data, std::size_t n) {
    std::string text = "c\"";
    text.reserve(3 * n + 3);
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < n; ++i) text += format("\\{:02X}", bytes[i]);
    return text + "\"";
  }

  std::string tables() const {
    std::string text = "\n";
    for (const LibraryFunction& f : library_functions()) {
      const std::string type = ir_type(f.dtype);
      text += format("declare {} @{}{}({}{})\n", type, f.name, f.dtype == DType::f32 ? "f" : "",
                     type, f.arity == 2 ? ", " + type : "");
    }
    std::vector<std::int64_t> sizes;
    for (const Storage& s : p_.storages) sizes.push_back(byte_size(s.dtype));
    text += format("@.bytes = internal constant [{} x i64] [", sizes.size());
    for (std::size_t i = 0; i < sizes.size(); ++i)
      text += format("{}i64 {}", i ? ", " : "", sizes[i]);
    text += "]\n";
    std::vector<std::uint8_t> failures;
    for (const Instruction& i : p_.code) {
      failures.push_back(static_cast<std::uint8_t>(
          i.code == Code::limit ? AheadStatus::too_many_trips : AheadStatus::bad_size));
    }
    text += format("@.failures = internal constant [{} x i8] {}\n@.go = internal constant i8 0\n",
                   failures.size(), bytes_text(failures.data(), failures.size()));
    for (std::size_t k = 0; k < p_.constants.size(); ++k) {
      const HostArray& a = p_.constants[k];
      text += format("@.constant{} = internal constant [{} x i8] {}, align 64\n", k, a.bytes(),
                     bytes_text(a.data(), a.bytes()));
    }
    return text;
  }

  // ---- sizes ----

  /// What is known of sizes at the entry of a function.
  struct Sizes {
    std::vector<IrValue>
        slots;  ///< by slot; those that later points compute hold what they start with
    std::vector<IrValue> offsets;  ///< by storage, of planned ones
    IrValue arena;                 ///< bytes; 0 without planned storages
    IrValue bad;                   ///< an i1: the sizes do not fit
  };

  std::string dim_params() const {
    std::string text;
    for (std::size_t i = 0; i < names_.dims.size(); ++i)
      text += format("{}i64 %d{}", i ? ", " : "", i);
    return text;
  }

  Sizes sizes(IrWriter& w) const {
    Sizes s;
    s.bad = "false";
    auto refuse_if = [&](const std::string& comparison) {
      s.bad = w.let(format("or i1 {}, {}", s.bad, w.let("icmp " + comparison)));
    };
    for (std::int64_t v : p_.slots) s.slots.push_back(std::to_string(v));
    const auto symbols = p_.graph->dims();
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      const IrValue d = s.slots[p_.entry[i]] = format("%d{}", i);
      const ir::SymbolFacts& facts = symbols[i].facts();
      refuse_if(format("slt i64 {}, {}", d, facts.lower));
      refuse_if(format("sgt i64 {}, {}", d, std::min(facts.upper, kMaxElements)));
      if (facts.multiple_of > 1) {
        refuse_if(format("ne i64 {}, 0", w.let(format("srem i64 {}, {}", d, facts.multiple_of))));
      }
    }
    for (const SizeOp& op : p_.points[0]) {
      s.slots[op.result] = write_size_op(w, op.kind, s.slots[op.a], s.slots[op.b], true);
    }
    place(w, s, refuse_if);
    return s;
  }

  template <class Refuse>
  void place(IrWriter& w, Sizes& s, const Refuse& refuse_if) const {
    s.offsets.resize(p_.storages.size());
    const bool fixed = std::ranges::all_of(p_.storages, [&](const Storage& x) {
      return x.kind != Storage::Kind::planned || is_number(s.slots[x.elements]);
    });
    if (fixed) {
      const ArenaPlan plan = plan_arena(p_, p_.slots);
      for (std::size_t i = 0; i < s.offsets.size(); ++i)
        s.offsets[i] = std::to_string(plan.offsets[i]);
      s.arena = std::to_string(plan.bytes);
      return;
    }
    // Storages that hold nothing at one time share a place, which is as large as the largest.
    struct Place {
      std::uint32_t last;
      Slot elements;
      IrValue bytes;
      std::vector<StorageId> storages;
    };
    std::vector<Place> places;
    std::vector<StorageId> order;
    for (StorageId id = 0; id < p_.storages.size(); ++id) {
      if (p_.storages[id].kind == Storage::Kind::planned) order.push_back(id);
    }
    std::ranges::stable_sort(order, {}, [&](StorageId id) { return p_.storages[id].first; });
    for (StorageId id : order) {
      const Storage& x = p_.storages[id];
      const IrValue bytes = room(w, s.slots[x.elements], x.dtype, refuse_if);
      // One of the same size is best.
      auto best = places.end();
      for (auto it = places.begin(); it != places.end(); ++it) {
        if (it->last >= x.first) continue;
        if (best == places.end() || it->elements == x.elements) best = it;
      }
      if (best == places.end()) {
        places.push_back({x.last, x.elements, bytes, {id}});
        continue;
      }
      best->last = x.last;
      best->bytes = w.let(format("call i64 @llvm.smax.i64(i64 {}, i64 {})", best->bytes, bytes));
      best->storages.push_back(id);
    }
    s.arena = "0";
    for (const Place& place : places) {
      for (StorageId id : place.storages) s.offsets[id] = s.arena;
      s.arena = w.add(s.arena, place.bytes);
    }
  }
  /// Bytes of an array, as whole cache lines.
  template <class Refuse>
  static IrValue room(IrWriter& w, const IrValue& elements, DType t, const Refuse& refuse_if) {
    refuse_if(format("eq i64 {}, {}", elements, kPoison));
    refuse_if(format("sgt i64 {}, {}", elements, kMaxElements));
    const IrValue some = w.let(format("call i64 @llvm.smax.i64(i64 {}, i64 0)", elements));
    const IrValue bytes = w.mul(some, std::to_string(byte_size(t)));
    const IrValue more = w.let(format("add i64 {}, {}", bytes, kAlignment - 1));
    return w.let(format("and i64 {}, {}", more, -kAlignment));
  }
  /// What a call needs: room to align in too, if it needs any.
  IrValue needed(IrWriter& w, const Sizes& s) const {
    if (s.arena == "0" && !grows_) return "0";
    return w.add(s.arena, std::to_string(kAlignment));
  }

  std::string size_function() const {
    IrWriter w;
    const Sizes s = sizes(w);
    const IrValue n = needed(w, s);
    w.line("ret i64 " + w.let(format("select i1 {}, i64 -1, i64 {}", s.bad, n)));
    return format("\ndefine i64 @{}_scratch_bytes({}) nounwind {{\nentry:\n{}}}\n", names_.function,
                  dim_params(), w.entry() + w.body());
  }

  // ---- the function ----

  std::string main_function() const {
    IrWriter w;
    const Sizes s = sizes(w);
    auto leave_if = [&](const IrValue& p, AheadStatus status) {
      const std::string bad = w.label("bad"), go = w.label("go");
      w.branch(p, bad, go);
      w.begin(bad);
      w.line(format("ret i32 {}", static_cast<int>(status)));
      w.begin(go);
    };
    leave_if(s.bad, AheadStatus::bad_size);
    leave_if(w.let(format("icmp slt i64 %scratch_bytes, {}", needed(w, s))),
             AheadStatus::scratch_too_small);
    const IrValue at = w.let("ptrtoint ptr %scratch to i64");
    const IrValue minus = w.let(format("sub i64 0, {}", at));
    const IrValue gap = w.let(format("and i64 {}, {}", minus, kAlignment - 1));
    const IrValue base = w.let(format("getelementptr i8, ptr %scratch, i64 {}", gap));

    const IrValue slots = w.let_early(format("alloca [{} x i64]", p_.slots.size()));
    const IrValue storages =
        w.let_early(format("alloca [{} x ptr]", std::max<std::size_t>(p_.storages.size(), 1)));
    const IrValue capacities =
        w.let_early(format("alloca [{} x i64]", std::max<std::size_t>(p_.storages.size(), 1)));
    for (std::size_t i = 0; i < s.slots.size(); ++i) {
      store(w, "i64", s.slots[i], slots, i);
    }
    std::vector<IrValue> pointers;
    for (StorageId id = 0; id < p_.storages.size(); ++id) {
      pointers.push_back(pointer(w, id, base, s));
      store(w, "ptr", pointers[id], storages, id);
      store(w, "i64", "-1", capacities, id);
    }
    const IrValue state = w.let_early("alloca %state");
    const IrValue next = w.let(format("getelementptr i8, ptr {}, i64 {}", base, s.arena));
    const IrValue end = w.let("getelementptr i8, ptr %scratch, i64 %scratch_bytes");
    field(w, "%state", state, 0, "ptr", storages);
    field(w, "%state", state, 1, "ptr", capacities);
    field(w, "%state", state, 2, "ptr", next);
    field(w, "%state", state, 3, "ptr", end);
    field(w, "%state", state, 4, "i32", "0");
    const IrValue context = w.let_early("alloca %context");
    field(w, "%context", context, 0, "ptr", slots);
    field(w, "%context", context, 1, "ptr", storages);
    field(w, "%context", context, 2, "ptr", capacities);
    field(w, "%context", context, 3, "ptr", "null");
    field(w, "%context", context, 4, "ptr", state);
    field(w, "%context", context, 5, "ptr", "@.go");
    const IrValue failed = w.let(format("call i32 @.run(ptr {})", context));
    const std::string bad = w.label("failed"), go = w.label("go");
    w.branch(w.let(format("icmp ne i32 {}, 0", failed)), bad, go);
    w.begin(bad);
    w.line("ret i32 " + w.let("load i32, ptr " +
                              w.let(format("getelementptr %state, ptr {}, i64 0, i32 4", state))));
    w.begin(go);
    for (std::size_t k = 0; k < p_.results.size(); ++k) hand_out(w, k, pointers, s);
    w.line("ret i32 0");

    std::string params = dim_params();
    auto add = [&](const std::string& text) { params += (params.empty() ? "" : ", ") + text; };
    for (std::size_t k = 0; k < names_.params.size(); ++k) add(format("ptr %p{}", k));
    for (std::size_t k = 0; k < names_.results.size(); ++k) add(format("ptr %r{}", k));
    add("ptr %scratch");
    add("i64 %scratch_bytes");
    return format("\ndefine i32 @{}({}) nounwind {{\nentry:\n{}  br label %start\nstart:\n{}}}\n",
                  names_.function, params, w.entry(), w.body());
  }

  IrValue pointer(IrWriter& w, StorageId id, const IrValue& base, const Sizes& s) const {
    const Storage& x = p_.storages[id];
    switch (x.kind) {
      case Storage::Kind::argument:
        return format("%p{}", x.index);
      case Storage::Kind::constant:
        return format("@.constant{}", x.index);
      case Storage::Kind::result:
        return format("%r{}", x.index);
      case Storage::Kind::planned:
        return w.let(format("getelementptr i8, ptr {}, i64 {}", base, s.offsets[id]));
      case Storage::Kind::dynamic:
      case Storage::Kind::none:
        break;
    }
    return "null";
  }
  static void store(IrWriter& w, const char* type, const IrValue& v, const IrValue& array,
                    std::size_t i) {
    w.line(format("store {} {}, ptr {}", type, v,
                  w.let(format("getelementptr {}, ptr {}, i64 {}", type, array, i))));
  }
  static void field(IrWriter& w, const char* of, const IrValue& at, int k, const char* type,
                    const IrValue& v) {
    w.line(format("store {} {}, ptr {}", type, v,
                  w.let(format("getelementptr {}, ptr {}, i64 0, i32 {}", of, at, k))));
  }

  /// A result that lies somewhere else, to where the caller wants it.
  void hand_out(IrWriter& w, std::size_t k, const std::vector<IrValue>& pointers,
                const Sizes& s) const {
    const StorageId id = p_.results[k].storage;
    const Storage& x = p_.storages[id];
    if (x.kind == Storage::Kind::result && x.index == k) return;
    const std::string type = format("i{}", 8 * byte_size(x.dtype));
    const IrValue i = w.variable("i64");
    w.line("store i64 0, ptr " + i);
    const std::string head = w.label("head"), body = w.label("body"), done = w.label("done");
    w.fall_into(head);
    const IrValue now = w.let("load i64, ptr " + i);
    w.branch(w.let(format("icmp slt i64 {}, {}", now, s.slots[x.elements])), body, done);
    w.begin(body);
    const IrValue from = w.let(format("getelementptr {}, ptr {}, i64 {}", type, pointers[id], now));
    const IrValue to = w.let(format("getelementptr {}, ptr %r{}, i64 {}", type, k, now));
    w.line(format("store {} {}, ptr {}", type, w.let(format("load {}, ptr {}", type, from)), to));
    w.line("store i64 " + w.let(format("add i64 {}, 1", now)) + ", ptr " + i);
    w.jump(head);
    w.begin(done);
  }

  const Program& p_;
  const AheadNames& names_;
  const bool contract_;
  bool grows_ = false;
};

}  // namespace

std::string ahead_module(const Program& p, const AheadNames& names, bool contract) {
  return Module(p, names, contract).text();
}

}  // namespace tlaloc::cpu
