#include "tlaloc/cpu/machine.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <new>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/arena.h"
#include "tlaloc/cpu/generate_ops.h"
#include "tlaloc/cpu/loop.h"
#include "tlaloc/cpu/ragged.h"
#include "tlaloc/cpu/shared_loop.h"
#include "tlaloc/runtime/arguments.h"

namespace tlaloc::cpu {
namespace {

using Clock = std::chrono::steady_clock;

std::size_t bytes_of(const Storage& s, std::int64_t elements) {
  if (elements == kPoison) throw_size_overflow();
  return usize(checked_mul(std::max<std::int64_t>(elements, 0), byte_size(s.dtype)));
}

std::int64_t nanoseconds(Clock::duration d) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(d).count();
}

}  // namespace

Frame::Frame(const Program& p)
    : slots(p.slots),
      storages(p.storages.size()),
      dynamic(p.storages.size()),
      capacities(p.storages.size(), -1),
      scratch_memory_(p.scratch) {
  scratch = scratch_memory_.get();
  for (StorageId s = 0; s < p.storages.size(); ++s) {
    if (p.storages[s].kind != Storage::Kind::constant) continue;
    // Never written: kernels take all operands as one kind of pointer.
    storages[s] =
        static_cast<std::byte*>(const_cast<void*>(p.constants[p.storages[s].index].data()));
  }
}

void Frame::plan_memory(const Program& p) {
  const auto same = [&] {
    for (std::size_t i = 0; i < p.entry.size(); ++i) {
      if (slots[p.entry[i]] != planned_for_[i]) return false;
    }
    return true;
  };
  if (planned_ && same()) return;
  planned_ = false;
  evaluate(p.points[0], slots.data());
  const ArenaPlan plan = plan_arena(p, slots);
  // Much more room than that was for sizes that may not come again.
  if (plan.bytes > arena_capacity_ || plan.bytes < arena_capacity_ / 4 || !arena_) {
    arena_.reset();
    arena_.emplace(plan.bytes);
    arena_capacity_ = plan.bytes;
  }
  arena_bytes_ = plan.bytes;
  std::byte* base = arena_->get();
  for (StorageId s = 0; s < p.storages.size(); ++s) {
    if (p.storages[s].kind == Storage::Kind::planned) storages[s] = base + plan.offsets[s];
  }
  planned_for_.clear();
  for (Slot s : p.entry) planned_for_.push_back(slots[s]);
  planned_ = true;
}

namespace {

class Run {
 public:
  Run(const Program& p, Frame& f, const RunInputs& in) : p_(p), f_(f), in_(in) {}

  void use(const Native* native) { native_ = native; }

  RunOutputs run() {
    for (std::size_t i = 0; i < p_.entry.size(); ++i) f_.slots[p_.entry[i]] = in_.dims[i];
    f_.plan_memory(p_);
    place_arguments();
    begin_ = in_.options->profile ? Clock::now() : Clock::time_point{};
    if (native_) {
      execute_native();
    } else {
      execute();
    }
    return outputs();
  }

 private:
  void place_arguments() {
    for (StorageId k = 0; k < in_.args.size(); ++k) {
      f_.storages[k] = static_cast<std::byte*>(const_cast<void*>(in_.args[k]->data()));
    }
    out_.results.reserve(p_.results.size());
    for (std::size_t k = 0; k < p_.results.size(); ++k) {
      const Program::Result& r = p_.results[k];
      const Storage& s = p_.storages[r.storage];
      HostArray& a = out_.results.emplace_back(
          s.kind == Storage::Kind::result && s.index == k ? result_memory(r) : HostArray());
      if (!a.empty_handle()) {
        f_.storages[r.storage] = static_cast<std::byte*>(a.mutable_data());
      }
    }
  }
  /// Nothing for a negative size: its check fails soon.
  HostArray result_memory(const Program::Result& r) const {
    Extents extents = extents_of(r);
    if (std::ranges::any_of(extents, [](std::int64_t e) { return e < 0; })) return {};
    if (in_.donated.empty()) return HostArray::uninitialized(r.dtype, std::move(extents));
    for (std::uint32_t donor : r.donors) {
      HostArray* a = in_.donated[donor];
      if (!a || a->empty_handle() || !a->unique() || a->extents() != extents) continue;
      return std::move(*a);
    }
    return HostArray::uninitialized(r.dtype, std::move(extents));
  }

  void execute() {
    const auto& options = *in_.options;
    const auto end = static_cast<std::uint32_t>(p_.code.size());
    // The sizes of point 0 are there already.
    for (std::uint32_t at = 1; at < end;) {
      const Instruction& i = p_.code[at++];
      switch (i.code) {
        case Code::nothing:
        case Code::hold:
          break;
        case Code::step:
          if (options.cancel) poll();
          if (options.profile) step_begin_ = Clock::now();
          step(p_.steps[i.index]);
          if (options.profile) record(i.index);
          break;
        case Code::point:
          evaluate(p_.points[i.index], f_.slots.data());
          break;
        case Code::check:
          check(p_.checks[i.index]);
          break;
        case Code::make:
        case Code::grow:
          make(i.index, f_.slots[i.a], i.code == Code::grow);
          break;
        case Code::jump:
          at = i.target;
          break;
        case Code::jump_unless:
          if (!*reinterpret_cast<const bool*>(f_.storages[i.index])) at = i.target;
          break;
        case Code::jump_if_equal:
          if (f_.slots[i.a] == f_.slots[i.b]) at = i.target;
          break;
        case Code::set:
          f_.slots[i.a] = f_.slots[i.b];
          break;
        case Code::add:
          f_.slots[i.a] = checked_add(f_.slots[i.a], f_.slots[i.b]);
          break;
        case Code::subtract:
          f_.slots[i.a] = checked_sub(f_.slots[i.a], f_.slots[i.b]);
          break;
        case Code::load:
          f_.slots[i.a] =
              load_integer(f_.storages[i.index], p_.storages[i.index].dtype, f_.slots[i.b]);
          break;
        case Code::limit:
          if (f_.slots[i.a] >= f_.slots[i.b]) throw_limit(f_.slots[i.b]);
          break;
        case Code::poll:
          if (options.cancel) poll();
          break;
      }
    }
  }

  // ---- compiled code ----

  void execute_native() {
    static const std::uint8_t kGo = 0;
    static const std::vector<const void*> functions = native_functions();
    NativeContext c{
        f_.slots.data(), f_.storages.data(), f_.capacities.data(), functions.data(), this, &kGo};
    static_assert(sizeof(std::atomic<bool>) == 1);
    if (in_.options->cancel) {
      c.stop = reinterpret_cast<const std::uint8_t*>(&in_.options->cancel->flag());
    }
    native_->run(&c);
    // Where a sink of times fails the code goes on.
    if (failure_) std::rethrow_exception(failure_);
  }
  /// Exceptions stop here: compiled code only learns that there was one.
  template <class F>
  static std::int32_t guarded(void* run, const F& f) {
    auto& r = *static_cast<Run*>(run);
    try {
      f(r);
      return 0;
    } catch (...) {
      r.failure_ = std::current_exception();
      return 1;
    }
  }
  static std::int32_t call_step(void* run, std::int32_t index) {
    return guarded(run, [&](Run& r) { r.step(r.p_.steps[usize(index)]); });
  }
  static std::int32_t call_make(void* run, std::int32_t storage, std::int64_t elements,
                                std::int32_t keep) {
    return guarded(run,
                   [&](Run& r) { r.make(static_cast<StorageId>(storage), elements, keep != 0); });
  }
  static std::int32_t call_fail(void* run, std::int32_t at) {
    return guarded(run, [&](Run& r) {
      // Behind the last instruction: between steps.
      if (usize(at) == r.p_.code.size()) throw_cancelled();
      const Instruction& i = r.p_.code[usize(at)];
      if (i.code == Code::poll) throw_cancelled();
      if (i.code == Code::limit) throw_limit(r.f_.slots[i.b]);
      r.check(r.p_.checks[i.index]);
      throw InternalError("a check fails in compiled code only");
    });
  }
  static void call_time(void* run, std::int32_t index, std::int32_t end) {
    guarded(run, [&](Run& r) {
      if (end != 0) r.record(usize(index));
      r.step_begin_ = Clock::now();
    });
  }
  static std::int32_t call_share(void* run, std::int32_t number, const void* code,
                                 std::int64_t elements) {
    const SharedLoop& shared = static_cast<Run*>(run)->native_->loops[usize(number)];
    if (elements <= shared.few) return kFewElements;
    return guarded(run, [&](Run& r) { r.share_loop(shared, code); });
  }
  static std::int32_t call_run(void* run, std::int32_t row) {
    return guarded(run, [&](Run& r) {
      const DrivenRow& all = r.native_->rows[usize(row)];
      const bool watched = r.in_.options->cancel.has_value() || r.in_.options->profile != nullptr;
      for (const DrivenRow::Record& record : all.records) {
        const std::uint32_t* const operands = all.operands.data() + record.operands;
        watched ? r.drive_watched(record, operands) : r.drive(record, operands);
      }
    });
  }
  void drive_watched(const DrivenRow::Record& r, const std::uint32_t* operands) {
    if (r.kind >= DrivenRow::Kind::no_size_below) return drive(r, operands);
    if (in_.options->cancel) poll();
    if (in_.options->profile) step_begin_ = Clock::now();
    drive(r, operands);
    if (in_.options->profile) record(r.index);
  }
  void drive(const DrivenRow::Record& r, const std::uint32_t* operands) {
    using Kind = DrivenRow::Kind;
    switch (r.kind) {
      case Kind::kernel:
        return step(p_.steps[r.index], reinterpret_cast<KernelFn>(const_cast<void*>(r.run)), r.data,
                    {operands, r.storages}, {operands + r.storages, r.slots});
      case Kind::shared_loop:
      case Kind::whole_loop:
        return drive_loop(r, operands);
      case Kind::no_size_below:
        for (std::size_t k = 0; k < r.slots; ++k) {
          if (f_.slots[operands[k]] < 0) return check(p_.checks[r.index]);
        }
        return;
      case Kind::equal_sizes: {
        const std::int64_t a = f_.slots[operands[0]];
        if (a == kPoison || a != f_.slots[operands[1]]) check(p_.checks[r.index]);
        return;
      }
      case Kind::check:
        return check(p_.checks[r.index]);
    }
  }
  void drive_loop(const DrivenRow::Record& r, const std::uint32_t* at) {
    bool stays = r.pairs > 0;
    for (std::size_t k = 0; k < r.pairs; ++k, at += 2) {
      stays = stays && f_.storages[at[0]] == f_.storages[at[1]];
    }
    if (stays) return;
    std::array<std::uint64_t, kMaxLoopArgs> args;
    std::size_t count = 0;
    for (std::size_t k = 0; k < r.storages; ++k, ++at) {
      args[count++] =
          *at == DrivenRow::kNoStorage ? 0 : reinterpret_cast<std::uintptr_t>(f_.storages[*at]);
    }
    for (std::size_t k = 0; k < r.slots; ++k)
      args[count++] = static_cast<std::uint64_t>(f_.slots[*at++]);
    for (std::size_t k = 0; k < r.functions; ++k)
      args[count++] = reinterpret_cast<std::uintptr_t>(library_functions()[*at++].address);
    std::int64_t elements = 1;
    for (std::size_t k = 0; k < r.extents; ++k) elements *= f_.slots[at[k]];
    if (elements > r.few && r.kind == DrivenRow::Kind::shared_loop) {
      return share_loop(*static_cast<const SharedLoop*>(r.data), r.run);
    }
    const std::int64_t extent = r.extents == 0 ? 1 : f_.slots[at[r.axis]];
    LoopCode{r.run, std::span(args).first(count), {}}.run(0, extent);
  }
  void share_loop(const SharedLoop& shared, const void* code) {
    const Step& s = p_.steps[shared.step];
    const Loop& loop = *static_cast<const Loop*>(s.data.get());
    std::array<std::uint64_t, kMaxLoopArgs> args, steps;
    std::size_t count = 0;
    // Where each stream begins, and how far it is from one index to the next.
    auto add = [&](std::uint64_t from, std::size_t ints, int bytes) {
      steps[count] = static_cast<std::uint64_t>(f_.slots[s.ints[ints + 1 + shared.axis.axis]]) *
                     static_cast<std::uint64_t>(bytes);
      args[count++] = from;
    };
    auto pointer = [&](std::size_t array) {
      return reinterpret_cast<std::uintptr_t>(f_.storages[s.storages[array]]);
    };
    for (const Loop::Op& op : loop.ops) {
      if (op.kind == Loop::Op::Kind::load) add(pointer(op.array), op.ints, byte_size(op.dtype));
      if (op.kind == Loop::Op::Kind::position) add(0, op.ints, 1);
    }
    for (const Loop::Output& o : loop.outputs)
      add(pointer(o.array), o.ints, byte_size(loop.ops[o.reg].dtype));
    const std::size_t streams = count;
    for (Slot slot : shared.ints) args[count++] = static_cast<std::uint64_t>(f_.slots[slot]);
    for (std::size_t k : shared.functions)
      args[count++] = reinterpret_cast<std::uintptr_t>(library_functions()[k].address);

    const LoopCode all{code, std::span(args).first(count), std::span(steps).first(streams)};
    double nanoseconds = 1e-3 * static_cast<double>(shared.axis.picoseconds);
    for (std::size_t k = 0; k < loop.rank; ++k) {
      if (k != shared.axis.axis) nanoseconds *= static_cast<double>(f_.slots[s.ints[k]]);
    }
    const Ranges ranges = share(f_.slots[s.ints[shared.axis.axis]], nanoseconds, shared.axis.unit);
    if (shared.axis.kept == 0) return run_shared(all, ranges);
    fold_shared(all, ranges, *loop.fold, shared.axis.kept, streams - 1);
  }
  static std::vector<const void*> native_functions() {
    std::vector<const void*> r;
    for (const LibraryFunction& f : library_functions()) r.push_back(f.address);
    r.push_back(reinterpret_cast<const void*>(&call_step));
    r.push_back(reinterpret_cast<const void*>(&call_make));
    r.push_back(reinterpret_cast<const void*>(&call_fail));
    r.push_back(reinterpret_cast<const void*>(&call_time));
    r.push_back(reinterpret_cast<const void*>(&call_share));
    r.push_back(reinterpret_cast<const void*>(&call_run));
    return r;
  }

  [[noreturn]] static void throw_limit(std::int64_t trips) {
    throw UserError({"TL-LOOP-001",
                     "while",
                     "the condition still holds after " + std::to_string(trips) + " trips",
                     "raise max_trips",
                     {}});
  }
  [[noreturn]] static void throw_cancelled() {
    throw UserError({"TL-CANCEL-001", "", "the run was cancelled", "", {}});
  }

  /// Tells of a step that has just ended.
  void record(std::size_t index) const {
    in_.options->profile->record({p_.steps[index].name, nanoseconds(step_begin_ - begin_),
                                  nanoseconds(Clock::now() - step_begin_), index});
  }

  void poll() const {
    if (in_.options->cancel->cancelled()) throw_cancelled();
  }

  void step(const Step& s) { step(s, s.run, s.data.get(), s.storages, s.ints); }
  /// The step's own parts.
  void step(const Step& s, KernelFn run, const void* data, std::span<const StorageId> storages,
            std::span<const Slot> ints) {
    f_.operands.resize(storages.size());
    for (std::size_t k = 0; k < storages.size(); ++k) f_.operands[k] = f_.storages[storages[k]];
    f_.ints.resize(ints.size());
    for (std::size_t k = 0; k < ints.size(); ++k) f_.ints[k] = f_.slots[ints[k]];
    try {
      run({f_.operands.data(), f_.ints.data(), data, f_.scratch});
    } catch (Error& e) {
      if (s.origin) e.add_place(s.origin->place);
      throw;
    }
  }

  void make(StorageId id, std::int64_t elements, bool keep) {
    Frame::Dynamic& d = f_.dynamic[id];
    std::size_t bytes = bytes_of(p_.storages[id], elements);
    if (bytes > d.bytes || !d.memory) {
      // Twice as much each time: a history is copied a bounded number of times.
      if (keep) bytes = std::max(bytes, 2 * d.bytes);
      std::shared_ptr<std::byte[]> memory(new std::byte[std::max<std::size_t>(bytes, 1)]);
      if (keep && d.memory) std::copy_n(d.memory.get(), d.bytes, memory.get());
      d = {std::move(memory), bytes};
      f_.capacities[id] = static_cast<std::int64_t>(bytes) / byte_size(p_.storages[id].dtype);
    }
    f_.storages[id] = d.memory.get();
  }

  void check(const Check& c) {
    auto slot = [&](std::size_t k) { return f_.slots[c.slots[k]]; };
    try {
      switch (c.kind) {
        case Check::Kind::type:
          for (std::size_t k = 0; k < c.slots.size(); ++k) {
            if (slot(k) == kPoison) throw_size_overflow();
            if (slot(k) >= 0) continue;
            runtime::throw_negative_size(c.type, static_cast<int>(k), slot(k), c.op);
          }
          break;
        case Check::Kind::constraint: {
          const ir::Constraint& k = c.graph->constraints()[c.constraint];
          const std::int64_t a = slot(0), b = slot(1);
          if (a == kPoison || b == kPoison) throw_size_overflow();
          if (k.kind == ir::Constraint::Kind::equal ? a == b : a <= b) break;
          runtime::throw_constraint(*c.graph, k, [&](ir::Dim d) { return size_of(c, d); });
        }
        case Check::Kind::length:
          if (slot(0) >= 0) break;
          throw UserError({"TL-SIZE-001",
                           "scan",
                           "the length " + c.length.to_string() + " is " + std::to_string(slot(0)),
                           "",
                           {}});
        case Check::Kind::rows:
          if (slot(0) == slot(1)) break;
          throw UserError({"TL-SHAPE-001",
                           "scan",
                           "xs " + std::to_string(c.number) + " has " + std::to_string(slot(0)) +
                               " elements where " + std::to_string(slot(1)) + " are scanned",
                           "",
                           {}});
      }
    } catch (Error& e) {
      if (c.origin) e.add_place(c.origin->place);
      throw;
    }
  }
  /// A size of a graph that became part of the program; for messages only.
  std::int64_t size_of(const Check& c, ir::Dim d) {
    return d.substitute(c.dims).evaluate([&](ir::Symbol s) {
      const auto it = std::ranges::find(p_.symbols, s.id(), &Program::Known::symbol);
      internal_check(it != p_.symbols.end(), "a size in a message is not known");
      return f_.slots[it->slot];
    });
  }

  Extents extents_of(const Program::Result& r) const {
    Extents e;
    e.reserve(r.extents.size());
    for (Slot s : r.extents) e.push_back(f_.slots[s]);
    return e;
  }

  bool has_extents(const HostArray& a, const Program::Result& r) const {
    return std::ranges::equal(a.extents(), r.extents, {}, {}, [&](Slot s) { return f_.slots[s]; });
  }

  RunOutputs outputs() {
    for (std::size_t k = 0; k < p_.results.size(); ++k) {
      const Program::Result& r = p_.results[k];
      const Storage& s = p_.storages[r.storage];
      HostArray& a = out_.results[k];
      switch (s.kind) {
        case Storage::Kind::argument:
          a = *in_.args[s.index];
          break;
        case Storage::Kind::constant:
          a = p_.constants[s.index];
          break;
        case Storage::Kind::result:
          if (s.index != k) a = out_.results[s.index];
          break;
        case Storage::Kind::dynamic:
          a = HostArray::external(r.dtype, extents_of(r), f_.dynamic[r.storage].memory.get(),
                                  f_.dynamic[r.storage].memory);
          break;
        default:
          throw InternalError("a result lies nowhere");
      }
      if (!has_extents(a, r)) a = a.reshaped(extents_of(r));
    }
    // The caller's now.
    for (const Program::Result& r : p_.results) {
      if (p_.storages[r.storage].kind != Storage::Kind::dynamic) continue;
      f_.dynamic[r.storage] = {};
      f_.capacities[r.storage] = -1;
    }
    for (Slot s : p_.result_dims) out_.dims.push_back(f_.slots[s]);
    return std::move(out_);
  }

  const Program& p_;
  Frame& f_;
  const RunInputs& in_;
  RunOutputs out_;
  const Native* native_ = nullptr;
  Clock::time_point begin_, step_begin_;  // of the run, of the step; with a profile
  std::exception_ptr failure_;
};

}  // namespace

RunOutputs run_program(const Program& p, Frame& f, const RunInputs& in, const Native* native) {
  try {
    Run run(p, f, in);
    run.use(native);
    return run.run();
  } catch (const std::bad_alloc&) {
    throw EnvironmentError({"TL-MEM-001", "evaluate", "could not allocate memory", "", {}});
  }
}

}  // namespace tlaloc::cpu
