// Values that templates compute with: those of Python that templates use.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tlaloc::text {

struct TemplateObject {
  virtual ~TemplateObject() = default;
};

struct TemplateString;
struct TemplateList;
struct TemplateDict;
struct TemplateFunction;
struct TemplateNamespace;
struct TemplateLoop;

/// A value; objects belong to a Heap and live as long as it.
struct Value {
  enum Kind : std::uint8_t {
    kUndefined,
    kNone,
    kBool,
    kInteger,
    kFloat,
    kString,
    kList,
    kTuple,
    kDict,
    kFunction,
    kNamespace,
    kLoop
  } kind = kUndefined;
  union {
    bool boolean;
    std::int64_t integer;
    double number;
    const TemplateObject* object;
  };
  Value() : object(nullptr) {}
  static Value none() { return Value(kNone, nullptr); }
  static Value of(bool b) {
    Value v;
    v.kind = kBool;
    v.boolean = b;
    return v;
  }
  static Value of(std::int64_t i) {
    Value v;
    v.kind = kInteger;
    v.integer = i;
    return v;
  }
  static Value of(double d) {
    Value v;
    v.kind = kFloat;
    v.number = d;
    return v;
  }
  Value(Kind k, const TemplateObject* o) : kind(k), object(o) {}

  bool is(Kind k) const { return kind == k; }
  bool is_sequence() const { return kind == kList || kind == kTuple; }
  bool is_integer() const { return kind == kInteger || kind == kBool; }
  bool is_number() const { return is_integer() || kind == kFloat; }
  std::int64_t as_integer() const { return kind == kBool ? boolean : integer; }
  double as_number() const { return kind == kFloat ? number : static_cast<double>(as_integer()); }
  const std::string& str() const;           // of kString
  const std::vector<Value>& items() const;  // of kList and kTuple
  const TemplateDict& dict() const;         // of kDict
};

struct TemplateString : TemplateObject {
  explicit TemplateString(std::string s) : text(std::move(s)) {}
  std::string text;
};
/// The name of what is not there, for messages.
struct TemplateUndefined : TemplateObject {
  explicit TemplateUndefined(std::string s) : what(std::move(s)) {}
  std::string what;
};
struct TemplateList : TemplateObject {
  std::vector<Value> items;
};
struct TemplateDict : TemplateObject {
  std::vector<std::pair<Value, Value>> entries;        // in the order they came
  std::unordered_map<std::string, std::size_t> index;  // of keys that are text
  const Value* find(std::string_view key) const;
};
struct TemplateNamespace : TemplateObject {
  mutable std::unordered_map<std::string, Value> members;
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};
class Interpreter;
struct TemplateFunction : TemplateObject {
  std::string name;
  std::function<Value(Interpreter&, Arguments&)> call;
};
struct TemplateLoop : TemplateObject {
  std::vector<Value> items;
  mutable std::size_t index = 0;
  int depth = 0;
  mutable std::vector<Value> changed;
  mutable bool has_changed = false;
  const TemplateFunction* recurse = nullptr;
};

/// What went wrong with values: the interpreter adds the place.
struct TemplateError : std::runtime_error {
  TemplateError(std::string code, const std::string& message)
      : std::runtime_error(message), code(std::move(code)) {}
  std::string code;
};
[[noreturn]] void fail_value(const std::string& message);
[[noreturn]] void fail_limit(const std::string& message);

/// Owns values, and counts what they take, and the work that is done with them.
class Heap {
 public:
  Heap(std::size_t memory, std::size_t steps)
      : memory_left_(memory), steps_(steps), steps_left_(steps) {}
  Value text(std::string s) {
    take(s.size());
    return counted_text(std::move(s));
  }
  /// Of a text whose bytes are counted already.
  Value counted_text(std::string s) {
    take(64);
    return keep(Value::kString, std::make_unique<TemplateString>(std::move(s)));
  }
  Value list(std::vector<Value> items, Value::Kind kind = Value::kList) {
    take(items.size() * sizeof(Value) + 64);
    auto o = std::make_unique<TemplateList>();
    o->items = std::move(items);
    return keep(kind, std::move(o));
  }
  Value dict(std::vector<std::pair<Value, Value>> entries);
  Value undefined(std::string what) {
    take(what.size() + 64);
    return keep(Value::kUndefined, std::make_unique<TemplateUndefined>(std::move(what)));
  }
  Value function(std::string name, std::function<Value(Interpreter&, Arguments&)> call) {
    take(256);
    auto o = std::make_unique<TemplateFunction>();
    o->name = std::move(name);
    o->call = std::move(call);
    return keep(Value::kFunction, std::move(o));
  }
  template <class T>
  T* make(std::size_t bytes) {
    take(bytes + sizeof(T));
    auto o = std::make_unique<T>();
    T* p = o.get();
    objects_.push_back(std::move(o));
    return p;
  }
  /// TL-TEMPLATE-003 where so much more does not fit.
  void take(std::size_t bytes) {
    if (bytes > memory_left_) fail_limit("the template makes values beyond the limit of memory");
    memory_left_ -= bytes;
  }
  void give_back(std::size_t bytes) { memory_left_ += bytes; }
  /// One unit of work, or one for each so many `bytes` that are read. TL-TEMPLATE-003.
  void step(std::size_t bytes = 0);

 private:
  Value keep(Value::Kind kind, std::unique_ptr<TemplateObject> o) {
    objects_.push_back(std::move(o));
    return Value(kind, objects_.back().get());
  }
  std::deque<std::unique_ptr<TemplateObject>> objects_;
  std::size_t memory_left_, steps_, steps_left_;
};

/// A text that grows, and is counted while it does.
class HeapText {
 public:
  explicit HeapText(Heap& heap) : heap_(heap) {}
  HeapText& operator+=(std::string_view s) {
    heap_.take(s.size());
    text_ += s;
    return *this;
  }
  HeapText& operator+=(char c) { return *this += std::string_view(&c, 1); }
  Heap& heap() const { return heap_; }
  std::string text() && { return std::move(text_); }
  Value value() && { return heap_.counted_text(std::move(text_)); }

 private:
  Heap& heap_;
  std::string text_;
};

/// The characters of a text, and where they start; counted as long as they are there.
class Characters {
 public:
  Characters(Heap& heap, std::string_view s);
  ~Characters() { heap_.give_back(counted_); }
  Characters(const Characters&) = delete;
  Characters& operator=(const Characters&) = delete;
  std::size_t size() const { return all_.size(); }
  std::string_view operator[](std::size_t i) const { return all_[i]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  Heap& heap_;
  std::size_t counted_;
  std::vector<std::string_view> all_;
};

// Python's rules for values. Shared lists unfold to far more than they take, so each element of
// what is looked at is a step.
bool truth(const Value& v);
bool equal(Heap& heap, const Value& a, const Value& b, int depth = 0);
/// Below 0, 0, above 0; fails for values without an order.
int compare(Heap& heap, const Value& a, const Value& b, int depth = 0);
/// str(v) and repr(v).
std::string to_text(Heap& heap, const Value& v);
std::string to_repr(Heap& heap, const Value& v);
void append_text(HeapText& out, const Value& v);
std::string float_text(double d);
std::string kind_name(const Value& v);
/// The elements of what can be looped over.
std::vector<Value> elements(Heap& heap, const Value& v);
std::size_t length(const Value& v);

}  // namespace tlaloc::text
