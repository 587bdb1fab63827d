#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/closure.h"
#include "tlaloc/lang/inspect.h"
#include "tlaloc/lang/nan_mode.h"
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

std::string signature_text(const Leaves& args, const Signature& s) {
  std::string text;
  for (std::size_t i = 0; i < s.types.size(); ++i) {
    text += "  " + args.data().path(i) + ": " +
            describe(s.types[i].dtype(), s.labels[i], s.types[i].shape()) + "\n";
  }
  return text;
}

/// A trace, and its graph compiled with the captured arrays bound, which happens at the first call
/// that is not part of another trace.
struct Compiled {
  explicit Compiled(Closure c) : closure(std::move(c)) {}
  Closure closure;

  std::vector<Ref> run(std::span<const Ref> args) const {
    std::call_once(once_, [&] {
      std::map<std::size_t, runtime::Buffer> bound;
      for (std::size_t k = 0; k < closure.captures.captured.size(); ++k) {
        bound.emplace(closure.argument_count() + k, buffer(closure.captures.captured[k]));
      }
      bound_ = default_backend().compile(closure.graph)->bind(std::move(bound));
    });
    std::vector<runtime::Buffer> inputs;
    for (const Ref& x : args) inputs.push_back(buffer(x));
    runtime::RunOptions options;
    options.dims = DimBinding(closure.signature, args).sizes(*closure.graph);
    options.check_nan = nan_mode();
    return as_refs(*closure.graph, bound_->run(std::move(inputs), options), closure.result_labels);
  }

 private:
  static runtime::Buffer buffer(const Ref& x) { return default_backend().upload(node(x).array); }
  mutable std::once_flag once_;
  mutable std::shared_ptr<const runtime::Bound> bound_;
};

}  // namespace

struct JitCache::Data {
  std::atomic<std::uint32_t> refs{1};
  std::atomic<std::int64_t> traces{0};
  std::mutex mutex;
  std::unordered_map<Key, std::shared_ptr<const Compiled>, KeyHash> compiled;
  std::vector<std::string> log;  ///< one entry per trace
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

std::string explain(const JitCache& cache) {
  if (!cache.data()) return "traced 0 times\n";
  JitCache::Data& d = *cache.data();
  const std::lock_guard lock(d.mutex);
  std::string text = "traced " + std::to_string(d.traces) + " times\n";
  for (const std::string& entry : d.log) text += entry;
  return text;
}

namespace {

std::string log_entry(std::size_t number, const Leaves& args, const Closure& c, Where where) {
  std::string text = "trace " + std::to_string(number + 1);
  if (const Place p = place_of(where); p.known()) {
    text += " at " + p.file + ":" + std::to_string(p.line);
  }
  text += number == 0 ? ", the first, of\n" : ", as no earlier one has these types, of\n";
  text += signature_text(args, c.signature);
  for (const Ref& x : c.captures.captured) {
    text += "  captured, frozen at this trace: " + describe(x) + "\n";
  }
  if (!c.captures.lifted.empty()) {
    text += "  not kept: it reads values of the trace around it\n";
  }
  return text;
}

}  // namespace

Leaves jit(JitCache& cache, const Function& f, const Leaves& args, Where where) {
  const OpCall call{"jit", where};
  return with_place(where, [&] {
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
      c = std::make_shared<const Compiled>(trace_closure(f, args, std::move(signature)));
      d.traces.fetch_add(1);
      const std::lock_guard lock(d.mutex);
      d.log.push_back(log_entry(d.log.size(), args, c->closure, where));
      // A trace that reads values of the one around it can't serve another call.
      if (c->closure.captures.lifted.empty()) c = d.compiled.emplace(key, c).first->second;
    }
    const Closure& f_closed = c->closure;
    const auto& values = args.data().values;
    const bool inlined = any_traced(values) || !f_closed.captures.lifted.empty();
    return with_values(f_closed.results, inlined ? call_closure(call, f_closed, f_closed.graph,
                                                                args, f_closed.result_labels)
                                                 : c->run(values));
  });
}

}  // namespace tlaloc::core
