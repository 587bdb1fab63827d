#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure.h"
#include "tlaloc/lang/explain.h"
#include "tlaloc/lang/nan_mode.h"
#include "tlaloc/lang/target.h"
#include "tlaloc/lang/trace_log.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::core {
namespace {

using Key = std::vector<std::uint64_t>;
struct KeyHash {
  std::size_t operator()(const Key& key) const {
    ir::Hasher h;
    for (std::uint64_t word : key) h.add(word);
    return h.value();
  }
};

/// What a trace depends on: C++ types, structure, element types, which sizes are numbers and which
/// are the same symbol, and the modes of this thread: for the NaN mode a trace keeps the lines of
/// operators, and what is going to be mapped is differentiated in another way.
Key key_of(const Function& f, const Leaves& args, const Signature& s) {
  const Leaves::Data& d = args.data();
  Key key{reinterpret_cast<std::uintptr_t>(f.type), nan_mode(), transform::mapped(),
          d.notes.size()};
  key.insert(key.end(), d.notes.begin(), d.notes.end());
  for (int begin : d.argument_begin) key.push_back(static_cast<std::uint64_t>(begin));
  std::unordered_map<std::uint32_t, std::uint64_t> position;
  for (std::size_t i = 0; i < s.types.size(); ++i) {
    key.push_back(static_cast<std::uint64_t>(s.types[i].dtype()) << 32 |
                  static_cast<std::uint64_t>(s.types[i].rank()));
    for (int k = 0; k < s.types[i].rank(); ++k) {
      const AxisLabel label = s.labels[i].empty() ? AxisLabel{} : s.labels[i][std::size_t(k)];
      key.push_back(reinterpret_cast<std::uintptr_t>(label.tag));
      const ir::Dim dim = s.types[i].dim(k);
      if (dim.is_constant()) {
        key.push_back(static_cast<std::uint64_t>(dim.constant()) << 1);
        continue;
      }
      const ir::Symbol symbol = *dim.as_symbol();
      key.push_back(position.emplace(symbol.id(), position.size()).first->second << 1 | 1);
      key.push_back(static_cast<std::uint64_t>(symbol.facts().upper));
    }
  }
  return key;
}

/// The arguments that a trace serves, so that a call can compare its own with them and make neither
/// a signature nor a key. Says no where it does not know; then the key decides, or an error is due.
class Pattern {
 public:
  Pattern(const Function& f, const Leaves& args, const Signature& s) : type_(f.type) {
    const Leaves::Data& d = args.data();
    notes_ = d.notes;
    argument_begin_ = d.argument_begin;
    std::unordered_map<std::uint32_t, std::pair<std::size_t, int>> first;
    for (std::size_t i = 0; i < s.types.size(); ++i) {
      const ir::Type t = s.types[i];
      leaves_.push_back({t.dtype(), t.rank(), d.info[i].typed, d.info[i].axes.data()});
      for (int k = 0; k < t.rank(); ++k) {
        Axis axis{s.labels[i].empty() ? nullptr : s.labels[i][usize(k)].tag, t.dim(k), i, k};
        if (const auto symbol = t.dim(k).as_symbol()) {
          std::tie(axis.leaf, axis.axis) =
              first.emplace(symbol->id(), std::pair(i, k)).first->second;
        }
        axes_.push_back(axis);
      }
    }
  }

  bool serves(const Function& f, const Leaves& args) const {
    const Leaves::Data& d = args.data();
    if (f.type != type_ || d.values.size() != leaves_.size() || d.notes != notes_ ||
        d.argument_begin != argument_begin_) {
      return false;
    }
    auto axis = axes_.begin();
    for (std::size_t i = 0; i < leaves_.size(); ++i) {
      const Leaf& leaf = leaves_[i];
      const Node* n = d.values[i].get();
      if (!n || n->traced() || d.info[i].typed != leaf.typed) return false;
      const ir::Type t = n->type;
      if (t.dtype() != leaf.dtype || t.rank() != leaf.rank) {
        return false;
      }
      if (leaf.typed &&
          (d.info[i].axes.data() != leaf.axes || d.info[i].axes.size() != usize(leaf.rank))) {
        return false;
      }
      for (int k = 0; k < leaf.rank; ++k, ++axis) {
        if (!leaf.typed && n->label(k).tag != axis->tag) return false;
        const ir::Dim expected = axis->size.is_constant()
                                     ? axis->size
                                     : d.values[axis->leaf].get()->type.dim(axis->axis);
        if (t.dim(k) != expected) return false;
      }
    }
    return true;
  }

 private:
  struct Leaf {
    DType dtype;
    int rank;
    bool typed;
    const AxisSpec* axes;  ///< of a typed leaf
  };
  struct Axis {
    const void* tag;
    ir::Dim size;
    std::size_t leaf;  ///< where its symbol comes first
    int axis;
  };
  const void* type_;
  std::vector<std::int64_t> notes_;
  std::vector<int> argument_begin_;
  std::vector<Leaf> leaves_;
  std::vector<Axis> axes_;
};

/// A trace, and its graph compiled with the captured arrays bound, which happens at the first call
/// that is not part of another trace.
struct Compiled {
  Compiled(Closure c, Pattern p, runtime::Backend& on)
      : closure(std::move(c)), pattern(std::move(p)), backend(on) {}
  Closure closure;
  Pattern pattern;
  runtime::Backend& backend;

  Leaves run(const Leaves& args) const {
    std::call_once(once_, [&] {
      std::map<std::size_t, runtime::Buffer> bound;
      for (std::size_t k = 0; k < closure.captures.captured.size(); ++k) {
        bound.emplace(closure.argument_count() + k, buffer_of(node(closure.captures.captured[k])));
      }
      bound_ = backend.compile(closure.graph)->bind(std::move(bound));
      there_ = !backend.devices().front().is_host();
    });
    if (explaining()) tell(bound_->explain({.inputs = arrays_of(args), .dims = {}}));
    return there_ ? run_there(args) : run_here(args);
  }

 private:
  Leaves run_here(const Leaves& args) const {
    const std::vector<const HostArray*> inputs = arrays_of(args);
    std::vector<HostArray*> donated(args.data().used_up == 0 ? 0 : inputs.size());
    for_each_donor(args, [&](std::size_t i, Node& n) { donated[i] = n.owned(); });
    runtime::RunOptions options;
    options.check_nan = nan_mode();
    return with_values(
        closure.results,
        as_refs(*closure.graph, bound_->run_host(inputs, options, donated), closure.result_labels));
  }

  /// What lies on the device is not moved, and results stay there. Returns before they are ready.
  Leaves run_there(const Leaves& args) const {
    const auto& values = args.data().values;
    std::vector<runtime::Buffer> inputs;
    inputs.reserve(values.size());
    for (const Ref& x : values) inputs.push_back(buffer_of(node(x)));
    runtime::RunOptions options;
    options.donate.resize(values.size());
    for_each_donor(args, [&](std::size_t i, Node& n) {
      // Other nodes may have the same value under other names.
      options.donate[i] = n.device() && n.device().use_count() == 1;
    });
    runtime::RunResult r = bound_->run(std::move(inputs), options);
    std::vector<Ref> out;
    for (std::size_t k = 0; k < r.outputs.size(); ++k) {
      out.push_back(make_on_device(std::move(r.outputs[k]), backend, closure.result_labels[k],
                                   closure.graph->type(closure.graph->results()[k]).encoding()));
    }
    return with_values(closure.results, std::move(out));
  }

  static std::vector<const HostArray*> arrays_of(const Leaves& args) {
    std::vector<const HostArray*> arrays;
    arrays.reserve(args.data().values.size());
    for (const Ref& x : args.data().values) arrays.push_back(&node(x).array());
    return arrays;
  }
  runtime::Buffer buffer_of(const Node& n) const {
    const bool at_home = n.device() && &n.device()->backend() == &backend;
    return at_home ? n.device()->buffer() : runtime::Buffer(n.array());
  }
  /// The leaves whose nodes the call has to itself.
  template <class F>
  static void for_each_donor(const Leaves& args, const F& f) {
    const Leaves::Data& d = args.data();
    if (d.used_up == 0) return;
    for (std::size_t k = 0; k < std::min<std::size_t>(d.argument_begin.size(), 64); ++k) {
      if ((d.used_up >> k & 1) == 0) continue;
      const auto argument = static_cast<int>(k);
      for (int i = args.argument_begin(argument); i < args.argument_end(argument); ++i) {
        Node* n = d.values[usize(i)].get();
        // Held by the leaves and by the callee's parameter.
        if (n->refs.load(std::memory_order_acquire) == 2) f(usize(i), *n);
      }
    }
  }

  mutable std::once_flag once_;
  mutable std::shared_ptr<const runtime::Bound> bound_;
  mutable bool there_ = false;  ///< values of the back end lie on a device
};

/// The traces that served last, found without a lock. None is ever dropped while the jit object
/// lives, so a pointer is enough.
class Recent {
 public:
  const Compiled* find(const Function& f, const Leaves& args) const {
    for (const auto& slot : slots_) {
      const Compiled* c = slot.load(std::memory_order_acquire);
      if (c && c->pattern.serves(f, args)) return c;
    }
    return nullptr;
  }
  void add(const Compiled* c) {
    for (const auto& slot : slots_) {
      if (slot.load(std::memory_order_relaxed) == c) return;
    }
    slots_[next_.fetch_add(1, std::memory_order_relaxed) % slots_.size()].store(
        c, std::memory_order_release);
  }

 private:
  std::array<std::atomic<const Compiled*>, 4> slots_{};
  std::atomic<std::size_t> next_ = 0;
};

}  // namespace

struct JitCache::Data {
  std::atomic<std::uint32_t> refs{1};
  std::atomic<std::int64_t> traces{0};
  Recent recent;  ///< those made without a mode
  std::mutex mutex;
  std::unordered_map<Key, std::shared_ptr<const Compiled>, KeyHash> compiled;
  TraceLog log;
  runtime::Backend* target = nullptr;  ///< null: the default one
};

JitCache::JitCache() : data_(new Data) {}
JitCache::JitCache(const JitCache& other) : data_(other.data_) {
  if (data_) data_->refs.fetch_add(1, std::memory_order_relaxed);
}
JitCache& JitCache::operator=(JitCache other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}
JitCache::~JitCache() {
  if (data_ && data_->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete data_;
}
std::int64_t JitCache::traces() const { return data_ ? data_->traces.load() : 0; }

JitCache jit_cache_on(Target target) {
  JitCache cache;
  cache.data()->target = &target.backend();
  return cache;
}

std::string explain(const JitCache& cache) {
  if (!cache.data()) return "traced 0 times\n";
  JitCache::Data& d = *cache.data();
  const std::lock_guard lock(d.mutex);
  std::string text = "traced " + std::to_string(d.traces) + " times\n";
  for (const std::string& entry : d.log.entries()) text += entry;
  return text;
}

Leaves jit(JitCache& cache, const Function& f, const Leaves& args, Where where) {
  const OpCall call{"jit", where};
  return with_place(where, [&] {
    const bool plain = !nan_mode() && !transform::mapped();
    if (plain && cache.data()) {
      if (const Compiled* c = cache.data()->recent.find(f, args)) return c->run(args);
    }
    require_values(args, call.name);
    require_agreement(call, args);
    if (!cache.data()) {
      throw UserError({"TL-VALUE-001", call.name,
                       "a compiled function that was moved away is called",
                       "call the object it was moved to", user_place(where)});
    }
    JitCache::Data& d = *cache.data();
    Signature signature = open_signature(args);
    const Key key = key_of(f, args, signature);
    std::shared_ptr<const Compiled> c;
    {
      const std::lock_guard lock(d.mutex);
      if (auto it = d.compiled.find(key); it != d.compiled.end()) c = it->second;
    }
    if (!c) {
      // Not under the lock: f may call this same function with other types.
      Pattern pattern(f, args, signature);
      c = std::make_shared<const Compiled>(trace_closure(f, args, std::move(signature)),
                                           std::move(pattern),
                                           d.target && !nan_mode() ? *d.target : default_backend());
      d.traces.fetch_add(1);
      const std::lock_guard lock(d.mutex);
      d.log.add(f, args, c->closure, where);
      // A trace that reads values of the one around it can't serve another call.
      if (c->closure.captures.lifted.empty()) c = d.compiled.emplace(key, c).first->second;
    }
    const Closure& f_closed = c->closure;
    const bool lifted = !f_closed.captures.lifted.empty();
    if (lifted || any_traced(args.data().values)) {
      return with_values(f_closed.results, call_closure(call, f_closed, f_closed.graph, args,
                                                        f_closed.result_labels));
    }
    if (plain) d.recent.add(c.get());
    return c->run(args);
  });
}

}  // namespace tlaloc::core
