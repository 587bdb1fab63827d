#include "tlaloc/text/template_interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tlaloc/base/error.h"
#include "tlaloc/text/template_parser.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

using Expr = TemplateExpr;
using Node = TemplateNode;

constexpr int kMostDepth = 200;
constexpr std::int64_t kLongestRange = 100'000;  // as jinja2's sandbox has it

}  // namespace

std::optional<Value> Parameters::next(std::string_view name) {
  if (at_ < arguments_.positional.size()) return arguments_.positional[at_++];
  for (auto it = arguments_.named.begin(); it != arguments_.named.end(); ++it) {
    if (it->first == name) {
      const Value v = it->second;
      arguments_.named.erase(it);
      return v;
    }
  }
  return std::nullopt;
}

Value Parameters::required(std::string_view name) {
  const std::optional<Value> v = next(name);
  if (!v) fail_value(fmt::format("{} needs the argument '{}'", function_, name));
  return *v;
}

void Parameters::finish() {
  if (at_ < arguments_.positional.size()) {
    fail_value(fmt::format("{} takes {} arguments at most", function_, at_));
  }
  if (!arguments_.named.empty()) {
    fail_value(fmt::format("{} has no parameter '{}'", function_, arguments_.named[0].first));
  }
}

void Interpreter::Frame::set(const std::string& name, Value value) {
  for (auto& [key, v] : values) {
    if (key == name) {
      v = value;
      return;
    }
  }
  values.emplace_back(name, value);
}

const Value* Interpreter::Frame::find(const std::string& name) const {
  for (const Frame* f = this; f != nullptr; f = f->parent) {
    for (const auto& [key, v] : f->values) {
      if (key == name) return &v;
    }
  }
  return nullptr;
}

Interpreter::Deeper::Deeper(Interpreter& i) : i_(i) {
  if (i_.depth_ >= kMostDepth) fail_limit("calls and expressions nested too deep");
  ++i_.depth_;
}

Interpreter::Interpreter(const std::string& name, const RenderLimits& limits,
                         std::optional<std::tm> now)
    : name_(name), limits_(limits), heap_(limits.memory, limits.steps) {
  add_globals(now);
}

void Interpreter::add_globals(std::optional<std::tm> now) {
  auto add = [&](const char* name, std::function<Value(Interpreter&, Arguments&)> f) {
    set_global(name, heap_.function(name, std::move(f)));
  };
  add("raise_exception", [](Interpreter& i, Arguments& a) -> Value {
    throw TemplateError("TL-TEMPLATE-004",
                        to_text(i.heap(), Parameters("raise_exception", a).required("message")));
  });
  add("strftime_now", [now](Interpreter& i, Arguments& a) {
    const std::string format = to_text(i.heap(), Parameters("strftime_now", a).required("format"));
    std::tm time{};
    if (now) {
      time = *now;
    } else {
      const std::time_t t = std::time(nullptr);
      localtime_r(&t, &time);
    }
    if (format.size() > 1000) fail_value("strftime_now has a format of over a thousand bytes");
    // A mark at the end tells an empty result from one that does not fit.
    std::string text(format.size() * 64 + 64, '\0');
    text.resize(std::strftime(text.data(), text.size(), (format + ".").c_str(), &time));
    text.resize(text.empty() ? 0 : text.size() - 1);
    return i.heap().text(std::move(text));
  });
  add("range", [](Interpreter& i, Arguments& a) {
    Parameters p("range", a);
    std::int64_t numbers[3] = {0, 0, 1};
    std::size_t n = 0;
    for (; n < 3; ++n) {
      const std::optional<Value> v = p.next("");
      if (!v) break;
      if (!v->is_integer()) fail_value("range takes integers");
      numbers[n] = v->as_integer();
    }
    p.finish();
    if (n == 0) fail_value("range needs an argument");
    if (n == 1) std::swap(numbers[0], numbers[1]);
    const auto [begin, end, by] = numbers;
    if (by == 0) fail_value("range with a step of 0");
    std::vector<Value> items;
    for (std::int64_t k = begin; by > 0 ? k < end : k > end;) {
      if (static_cast<std::int64_t>(items.size()) >= kLongestRange) {
        fail_limit(fmt::format("a range of more than {} numbers", kLongestRange));
      }
      items.push_back(Value::of(k));
      if (__builtin_add_overflow(k, by, &k)) break;
    }
    return i.heap().list(std::move(items));
  });
  auto entries_of = [](Interpreter& i, Arguments& a, const char* name) {
    std::vector<std::pair<Value, Value>> entries;
    for (const Value& v : a.positional) {
      if (!v.is(Value::kDict)) fail_value(std::string(name) + " takes a dictionary");
      entries.insert(entries.end(), v.dict().entries.begin(), v.dict().entries.end());
    }
    for (auto& [key, v] : a.named) entries.emplace_back(i.heap().text(key), v);
    return entries;
  };
  add("dict", [entries_of](Interpreter& i, Arguments& a) {
    return i.heap().dict(entries_of(i, a, "dict"));
  });
  add("namespace", [entries_of](Interpreter& i, Arguments& a) {
    auto* n = i.heap().make<TemplateNamespace>(256);
    for (auto& [key, v] : entries_of(i, a, "namespace")) n->members[to_text(i.heap(), key)] = v;
    return Value(Value::kNamespace, n);
  });
}

void Interpreter::write(std::string_view s) {
  if (out_.size() + s.size() > limits_.output) {
    fail_limit(fmt::format("the template writes more than {} bytes", limits_.output));
  }
  out_ += s;
}

Rendered Interpreter::run(const Nodes& nodes) {
  run(nodes, *new_frame(globals_));
  return {std::move(out_), std::move(generations_)};
}

Interpreter::Frame* Interpreter::new_frame(Frame& parent) {
  struct Kept : TemplateObject {
    Frame frame;
  };
  auto* kept = heap_.make<Kept>(0);
  kept->frame.parent = &parent;
  return &kept->frame;
}

Interpreter::Flow Interpreter::run(const Nodes& nodes, Frame& frame) {
  for (const auto& node : nodes) {
    Flow flow;
    try {
      step();
      flow = run(*node, frame);
    } catch (const TemplateError& e) {
      throw UserError({e.code,
                       "template",
                       e.what(),
                       e.code == "TL-TEMPLATE-004" ? "give it messages that it takes" : "",
                       {name_, node->line, node->column}});
    }
    if (flow != Flow::kOn) return flow;
  }
  return Flow::kOn;
}

Interpreter::Flow Interpreter::run(const Node& n, Frame& frame) {
  const Deeper deeper(*this);
  switch (n.kind) {
    case Node::kText:
      write(n.text);
      break;
    case Node::kPrint:
      write(to_text(heap_, evaluate(*n.expr, frame)));
      break;
    case Node::kIf:
      for (const auto& [test, body] : n.branches) {
        if (truth(evaluate(*test, frame))) return run(body, frame);
      }
      return run(n.otherwise, frame);
    case Node::kFor:
      loop(n, evaluate(*n.expr, frame), frame, 0);
      break;
    case Node::kSet:
      assign(n.target, evaluate(*n.expr, frame), frame);
      break;
    case Node::kSetBlock: {
      Value text = heap_.text(captured(n.body, *new_frame(frame)));
      assign(n.target, n.filter ? apply_filters(*n.filter, text, frame) : text, frame);
      break;
    }
    case Node::kFilterBlock: {
      const Value text = heap_.text(captured(n.body, *new_frame(frame)));
      write(to_text(heap_, apply_filters(*n.filter, text, frame)));
      break;
    }
    case Node::kMacro:
      frame.set(n.signature.name, macro(n, frame));
      break;
    case Node::kCallBlock: {
      const Value callee = evaluate(*n.expr->items[0], frame);
      Arguments a = arguments(n.expr->arguments, frame);
      a.named.emplace_back("caller", macro(n, frame));
      write(to_text(heap_, call(callee, a)));
      break;
    }
    case Node::kWith: {
      Frame& inner = *new_frame(frame);
      for (std::size_t i = 0; i < n.targets.size(); ++i) {
        assign(n.targets[i], evaluate(*n.values[i], frame), inner);
      }
      return run(n.body, inner);
    }
    case Node::kGeneration: {
      const std::size_t begin = out_.size();
      const Flow flow = run(n.body, frame);
      // In what is captured, places are not those of the text.
      if (captures_ == 0) {
        generations_.push_back(
            {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(out_.size())});
      }
      return flow;
    }
    case Node::kBreak:
      return Flow::kBreak;
    case Node::kContinue:
      return Flow::kContinue;
  }
  return Flow::kOn;
}

void Interpreter::loop(const Node& n, const Value& over, Frame& frame, int depth) {
  std::vector<Value> items = elements(heap_, over);
  if (n.test) {
    std::vector<Value> kept;
    for (const Value& v : items) {
      Frame& inner = *new_frame(frame);
      step();
      assign(n.target, v, inner);
      if (truth(evaluate(*n.test, inner))) kept.push_back(v);
    }
    items = std::move(kept);
  }
  if (items.empty()) {
    run(n.otherwise, frame);
    return;
  }
  auto* loop = heap_.make<TemplateLoop>(items.size() * sizeof(Value));
  loop->items = std::move(items);
  loop->depth = depth;
  if (n.recursive) {
    const Value f = heap_.function("loop", [&n, &frame, depth](Interpreter& i, Arguments& a) {
      const Value inner = Parameters("loop", a).required("iterable");
      std::string before = std::move(i.out_);
      i.out_.clear();
      ++i.captures_;
      i.loop(n, inner, frame, depth + 1);
      --i.captures_;
      std::swap(before, i.out_);
      return i.heap().text(std::move(before));
    });
    loop->recurse = static_cast<const TemplateFunction*>(f.object);
  }
  const Value loop_value(Value::kLoop, loop);
  for (; loop->index < loop->items.size(); ++loop->index) {
    Frame& inner = *new_frame(frame);
    inner.set("loop", loop_value);
    assign(n.target, loop->items[loop->index], inner);
    step();
    if (run(n.body, inner) == Flow::kBreak) break;
  }
}

std::string Interpreter::captured(const Nodes& nodes, Frame& frame) {
  std::string before = std::move(out_);
  out_.clear();
  ++captures_;
  run(nodes, frame);
  --captures_;
  std::swap(before, out_);
  return before;
}

Value Interpreter::macro(const Node& n, Frame& frame) {
  return heap_.function(n.signature.name, [&n, &frame](Interpreter& i, Arguments& a) {
    return i.call_macro(n, frame, a);
  });
}

Value Interpreter::call_macro(const Node& n, Frame& frame, Arguments& a) {
  const Deeper deeper(*this);
  const MacroSignature& s = n.signature;
  Frame& inner = *new_frame(frame);
  Parameters p(s.name, a);
  std::optional<Value> caller;
  for (auto it = a.named.begin(); it != a.named.end(); ++it) {
    if (it->first == "caller") {
      caller = it->second;
      a.named.erase(it);
      break;
    }
  }
  const std::size_t first_default = s.parameters.size() - s.defaults.size();
  for (std::size_t i = 0; i < s.parameters.size(); ++i) {
    std::optional<Value> v = p.next(s.parameters[i]);
    if (!v && i >= first_default) v = evaluate(*s.defaults[i - first_default], inner);
    if (!v) v = heap_.undefined(fmt::format("the argument '{}' of {}", s.parameters[i], s.name));
    inner.set(s.parameters[i], *v);
  }
  p.finish();
  inner.set("caller", caller ? *caller : heap_.undefined("caller"));
  return heap_.text(captured(n.body, inner));
}

void Interpreter::assign(const AssignTarget& t, const Value& v, Frame& frame) {
  if (!t.parts.empty()) {
    const std::vector<Value> items = elements(heap_, v);
    if (items.size() != t.parts.size()) {
      fail_value(fmt::format("{} values for {} names", items.size(), t.parts.size()));
    }
    for (std::size_t i = 0; i < items.size(); ++i) assign(t.parts[i], items[i], frame);
  } else if (t.attribute.empty()) {
    heap_.take(64);
    frame.set(t.name, v);
  } else {
    const Value* n = frame.find(t.name);
    if (n == nullptr || !n->is(Value::kNamespace)) {
      fail_value(
          fmt::format("'{}' is no namespace, so that nothing can be assigned in it", t.name));
    }
    heap_.take(64);
    static_cast<const TemplateNamespace*>(n->object)->members[t.attribute] = v;
  }
}

Value Interpreter::evaluate(const Expr& e, Frame& frame) {
  try {
    const Deeper deeper(*this);
    step();
    return evaluate_here(e, frame);
  } catch (const TemplateError& error) {
    throw UserError({error.code,
                     "template",
                     error.what(),
                     error.code == "TL-TEMPLATE-004" ? "give it messages that it takes" : "",
                     {name_, e.line, e.column}});
  }
}

Value Interpreter::evaluate_here(const Expr& e, Frame& frame) {
  switch (e.kind) {
    case Expr::kNone:
      return Value::none();
    case Expr::kBool:
      return Value::of(e.integer != 0);
    case Expr::kInteger:
      return Value::of(e.integer);
    case Expr::kFloat:
      return Value::of(e.number);
    case Expr::kString:
      return heap_.text(e.text);
    case Expr::kName: {
      const Value* v = frame.find(e.text);
      return v != nullptr ? *v : heap_.undefined("'" + e.text + "'");
    }
    case Expr::kList:
    case Expr::kTuple: {
      std::vector<Value> items;
      for (const ExprPtr& item : e.items) items.push_back(evaluate(*item, frame));
      return heap_.list(std::move(items), e.kind == Expr::kList ? Value::kList : Value::kTuple);
    }
    case Expr::kDict: {
      std::vector<std::pair<Value, Value>> entries;
      for (std::size_t i = 0; i < e.items.size(); i += 2) {
        const Value key = evaluate(*e.items[i], frame);
        entries.emplace_back(key, evaluate(*e.items[i + 1], frame));
      }
      return heap_.dict(std::move(entries));
    }
    case Expr::kAttribute:
      return attribute(evaluate(*e.items[0], frame), e.text);
    case Expr::kItem: {
      const Value v = evaluate(*e.items[0], frame);
      if (e.items[1]->kind == Expr::kSlice) return slice(v, *e.items[1], frame);
      return item(v, evaluate(*e.items[1], frame));
    }
    case Expr::kSlice:
      fail_value("a slice that is no index");
    case Expr::kCall: {
      const Value callee = evaluate(*e.items[0], frame);
      Arguments a = arguments(e.arguments, frame);
      return call(callee, a);
    }
    case Expr::kFilter:
      return apply_filters(e, {}, frame);
    case Expr::kTest: {
      const Value v = evaluate(*e.items[0], frame);
      Arguments a = arguments(e.arguments, frame);
      return Value::of(test(e.text, v, a));
    }
    case Expr::kNot:
      return Value::of(!truth(evaluate(*e.items[0], frame)));
    case Expr::kNegate:
      return binary("*", evaluate(*e.items[0], frame), Value::of(std::int64_t{-1}));
    case Expr::kPlus: {
      const Value v = evaluate(*e.items[0], frame);
      if (!v.is_number()) fail_value("a + before a " + kind_name(v));
      return v.is(Value::kBool) ? Value::of(v.as_integer()) : v;
    }
    case Expr::kAnd: {
      const Value v = evaluate(*e.items[0], frame);
      return truth(v) ? evaluate(*e.items[1], frame) : v;
    }
    case Expr::kOr: {
      const Value v = evaluate(*e.items[0], frame);
      return truth(v) ? v : evaluate(*e.items[1], frame);
    }
    case Expr::kBinary: {
      const Value a = evaluate(*e.items[0], frame);
      return binary(e.text, a, evaluate(*e.items[1], frame));
    }
    case Expr::kCompare: {
      Value left = evaluate(*e.items[0], frame);
      for (std::size_t i = 0; i < e.operators.size(); ++i) {
        const Value right = evaluate(*e.items[i + 1], frame);
        if (!compares(e.operators[i], left, right)) return Value::of(false);
        left = right;
      }
      return Value::of(true);
    }
    case Expr::kConcat: {
      HeapText text(heap_);
      for (const ExprPtr& item : e.items) append_text(text, evaluate(*item, frame));
      return std::move(text).value();
    }
    case Expr::kCondition:
      if (truth(evaluate(*e.items[0], frame))) return evaluate(*e.items[1], frame);
      return e.items[2] ? evaluate(*e.items[2], frame)
                        : heap_.undefined("what an if without else leaves open");
  }
  return {};
}

Value Interpreter::apply_filters(const Expr& e, const Value& inner, Frame& frame) {
  const Value v = !e.items[0]                         ? inner
                  : e.items[0]->kind == Expr::kFilter ? apply_filters(*e.items[0], inner, frame)
                                                      : evaluate(*e.items[0], frame);
  Arguments a = arguments(e.arguments, frame);
  step();
  return filter(e.text, v, a);
}

Arguments Interpreter::arguments(const CallArguments& a, Frame& frame) {
  Arguments result;
  for (const ExprPtr& e : a.positional) result.positional.push_back(evaluate(*e, frame));
  for (const auto& [name, e] : a.named) result.named.emplace_back(name, evaluate(*e, frame));
  return result;
}

Value Interpreter::call(const Value& f, Arguments& a) {
  const Deeper deeper(*this);
  step();
  if (f.is(Value::kLoop)) {
    const TemplateFunction* recurse = static_cast<const TemplateLoop*>(f.object)->recurse;
    if (recurse == nullptr) fail_value("a loop is called that is not recursive");
    return recurse->call(*this, a);
  }
  if (!f.is(Value::kFunction)) fail_value("a " + kind_name(f) + " can't be called");
  return static_cast<const TemplateFunction*>(f.object)->call(*this, a);
}

Value Interpreter::attribute(const Value& v, const std::string& name) {
  if (v.is(Value::kUndefined)) {
    fail_value(fmt::format("'{}' of an {}", name, kind_name(v)));
  }
  if (name.starts_with("__")) fail_value(fmt::format("the name '{}', which is Python's own", name));
  if (v.is(Value::kLoop)) return loop_member(*static_cast<const TemplateLoop*>(v.object), name);
  if (v.is(Value::kNamespace)) {
    const auto& members = static_cast<const TemplateNamespace*>(v.object)->members;
    const auto it = members.find(name);
    return it != members.end() ? it->second : heap_.undefined("'" + name + "' of a namespace");
  }
  if (v.is(Value::kFunction) && name == "name") {
    return heap_.text(static_cast<const TemplateFunction*>(v.object)->name);
  }
  const Value method = method_of(*this, v, name);
  if (!method.is(Value::kUndefined)) return method;
  if (v.is(Value::kDict)) {
    if (const Value* found = v.dict().find(name)) return *found;
  }
  return heap_.undefined(fmt::format("'{}' of a {}", name, kind_name(v)));
}

Value Interpreter::item(const Value& v, const Value& index) {
  if (v.is(Value::kUndefined)) {
    fail_value(fmt::format("[{}] of an {}", to_repr(heap_, index), kind_name(v)));
  }
  if (v.is(Value::kDict)) {
    if (index.is(Value::kString)) {
      if (const Value* found = v.dict().find(index.str())) return *found;
    } else {
      for (const auto& [key, value] : v.dict().entries) {
        if (equal(heap_, key, index)) return value;
      }
    }
  } else if (v.is_sequence() && index.is_integer()) {
    const auto size = static_cast<std::int64_t>(v.items().size());
    const std::int64_t i = index.as_integer() < 0 ? index.as_integer() + size : index.as_integer();
    if (i >= 0 && i < size) return v.items()[static_cast<std::size_t>(i)];
  } else if (v.is(Value::kString) && index.is_integer()) {
    const Characters chars(heap_, v.str());
    const auto size = static_cast<std::int64_t>(chars.size());
    const std::int64_t i = index.as_integer() < 0 ? index.as_integer() + size : index.as_integer();
    if (i >= 0 && i < size) return heap_.text(std::string(chars[static_cast<std::size_t>(i)]));
  }
  if (index.is(Value::kString)) return attribute(v, index.str());
  return heap_.undefined(fmt::format("[{}] of a {}", to_text(heap_, index), kind_name(v)));
}

Value Interpreter::slice(const Value& v, const Expr& e, Frame& frame) {
  std::optional<std::int64_t> parts[3];
  for (std::size_t i = 0; i < 3; ++i) {
    if (!e.items[i]) continue;
    const Value part = evaluate(*e.items[i], frame);
    if (part.is(Value::kNone)) continue;
    if (!part.is_integer()) fail_value("a slice from or to a " + kind_name(part));
    parts[i] = part.as_integer();
  }
  if (!v.is_sequence() && !v.is(Value::kString)) fail_value("a slice of a " + kind_name(v));
  const Characters chars(heap_, v.is(Value::kString) ? std::string_view(v.str()) : "");
  const auto size =
      static_cast<std::int64_t>(v.is(Value::kString) ? chars.size() : v.items().size());
  const std::int64_t by = parts[2].value_or(1);
  if (by == 0) fail_value("a slice with a step of 0");
  auto bound = [&](std::optional<std::int64_t> i, std::int64_t otherwise) {
    if (!i) return otherwise;
    const std::int64_t k = *i < 0 ? *i + size : *i;
    return std::clamp(k, by > 0 ? std::int64_t{0} : std::int64_t{-1}, by > 0 ? size : size - 1);
  };
  const std::int64_t begin = bound(parts[0], by > 0 ? 0 : size - 1);
  const std::int64_t end = bound(parts[1], by > 0 ? size : -1);
  HeapText text(heap_);
  std::vector<Value> items;
  for (std::int64_t k = begin; by > 0 ? k < end : k > end;) {
    if (v.is(Value::kString)) {
      text += chars[static_cast<std::size_t>(k)];
    } else {
      heap_.take(sizeof(Value));
      items.push_back(v.items()[static_cast<std::size_t>(k)]);
    }
    if (__builtin_add_overflow(k, by, &k)) break;
  }
  return v.is(Value::kString) ? std::move(text).value() : heap_.list(std::move(items), v.kind);
}

Value Interpreter::loop_member(const TemplateLoop& l, const std::string& name) {
  const auto i = static_cast<std::int64_t>(l.index), n = static_cast<std::int64_t>(l.items.size());
  if (name == "index") return Value::of(i + 1);
  if (name == "index0") return Value::of(i);
  if (name == "revindex") return Value::of(n - i);
  if (name == "revindex0") return Value::of(n - i - 1);
  if (name == "first") return Value::of(i == 0);
  if (name == "last") return Value::of(i + 1 == n);
  if (name == "length") return Value::of(n);
  if (name == "depth") return Value::of(std::int64_t{l.depth} + 1);
  if (name == "depth0") return Value::of(std::int64_t{l.depth});
  if (name == "previtem") {
    return i > 0 ? l.items[l.index - 1] : heap_.undefined("the item before the first");
  }
  if (name == "nextitem") {
    return i + 1 < n ? l.items[l.index + 1] : heap_.undefined("the item after the last");
  }
  const TemplateLoop* loop = &l;
  if (name == "cycle") {
    return heap_.function("cycle", [loop](Interpreter&, Arguments& a) {
      if (a.positional.empty()) fail_value("cycle needs an argument");
      return a.positional[loop->index % a.positional.size()];
    });
  }
  if (name == "changed") {
    return heap_.function("changed", [loop](Interpreter& i, Arguments& a) {
      const bool same = loop->has_changed &&
                        std::equal(loop->changed.begin(), loop->changed.end(), a.positional.begin(),
                                   a.positional.end(), [&](const Value& x, const Value& y) {
                                     return equal(i.heap(), x, y);
                                   });
      loop->has_changed = true;
      loop->changed = a.positional;
      return Value::of(!same);
    });
  }
  return heap_.undefined("'" + name + "' of a loop");
}

bool Interpreter::compares(const std::string& op, const Value& a, const Value& b) {
  if (op == "==") return equal(heap_, a, b);
  if (op == "!=") return !equal(heap_, a, b);
  if (op == "in" || op == "not in") {
    bool found = false;
    if (b.is(Value::kString)) {
      if (!a.is(Value::kString)) fail_value("a " + kind_name(a) + " is looked for in a text");
      heap_.step(b.str().size());
      found = b.str().find(a.str()) != std::string::npos;
    } else if (b.is(Value::kDict) && a.is(Value::kString)) {
      found = b.dict().find(a.str()) != nullptr;
    } else {
      for (const Value& v : elements(heap_, b)) found = found || equal(heap_, v, a);
    }
    return found == (op == "in");
  }
  const int order = compare(heap_, a, b);
  return op == "<" ? order < 0 : op == ">" ? order > 0 : op == "<=" ? order <= 0 : order >= 0;
}

Value Interpreter::binary(const std::string& op, const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return arithmetic(op, a, b);
  if (op == "+") {
    if (a.is(Value::kString) && b.is(Value::kString)) {
      HeapText text(heap_);
      (text += a.str()) += b.str();
      return std::move(text).value();
    }
    if (a.is_sequence() && a.kind == b.kind) {
      std::vector<Value> items = elements(heap_, a);
      heap_.take(b.items().size() * sizeof(Value));
      items.insert(items.end(), b.items().begin(), b.items().end());
      return heap_.list(std::move(items), a.kind);
    }
  }
  if (op == "*" && (a.is_integer() || b.is_integer())) {
    const Value &what = a.is_integer() ? b : a, &times = a.is_integer() ? a : b;
    const auto n = static_cast<std::size_t>(std::max<std::int64_t>(0, times.as_integer()));
    const std::size_t size = what.is(Value::kString) ? what.str().size()
                             : what.is_sequence()    ? what.items().size() * sizeof(Value)
                                                     : 0;
    if (what.is(Value::kString) || what.is_sequence()) {
      if (size > 0 && n > limits_.memory / size)
        fail_limit("a repetition beyond the limit of memory");
      heap_.take(n * size);
      std::string text;
      std::vector<Value> items;
      for (std::size_t i = 0; size > 0 && i < n; ++i) {
        if (what.is(Value::kString)) {
          text += what.str();
        } else {
          items.insert(items.end(), what.items().begin(), what.items().end());
        }
      }
      return what.is(Value::kString) ? heap_.counted_text(std::move(text))
                                     : heap_.list(std::move(items), what.kind);
    }
  }
  fail_value(fmt::format("{} {} {}", kind_name(a), op, kind_name(b)));
}

Value arithmetic(const std::string& op, const Value& a, const Value& b) {
  const bool integers = a.is_integer() && b.is_integer();
  const std::int64_t i = integers ? a.as_integer() : 0, j = integers ? b.as_integer() : 0;
  const double x = a.as_number(), y = b.as_number();
  const bool divides = op == "/" || op == "//" || op == "%";
  if (divides && y == 0) fail_value("a division by zero");
  if (op == "/") return Value::of(x / y);
  std::int64_t r = 0;
  bool overflow = false;
  if (op == "+") {
    if (!integers) return Value::of(x + y);
    overflow = __builtin_add_overflow(i, j, &r);
  } else if (op == "-") {
    if (!integers) return Value::of(x - y);
    overflow = __builtin_sub_overflow(i, j, &r);
  } else if (op == "*") {
    if (!integers) return Value::of(x * y);
    overflow = __builtin_mul_overflow(i, j, &r);
  } else if (op == "//" || op == "%") {
    if (!integers) {
      // Python's remainder has the sign of the divisor.
      double rest = std::fmod(x, y);
      if (rest != 0 && (rest < 0) != (y < 0)) rest += y;
      return Value::of(op == "%" ? rest : std::floor((x - rest) / y + 0.5));
    }
    overflow = j == -1 && i == std::numeric_limits<std::int64_t>::min();
    if (!overflow) {
      const std::int64_t rest = i % j, shift = rest != 0 && (rest < 0) != (j < 0);
      r = op == "%" ? rest + shift * j : i / j - shift;
    }
  } else {
    if (!integers || j < 0) return Value::of(std::pow(x, y));
    r = 1;
    std::int64_t base = i;
    for (std::int64_t e = j; e > 0 && !overflow; e >>= 1) {
      if (e & 1) overflow = __builtin_mul_overflow(r, base, &r);
      if (e > 1 && !overflow) overflow = __builtin_mul_overflow(base, base, &base);
    }
  }
  if (overflow) fail_value("an integer beyond 64 bits");
  return Value::of(r);
}

struct ChatTemplate::Parsed {
  std::string name;
  Nodes nodes;
};

ChatTemplate::ChatTemplate(std::string_view source, std::string name) {
  auto parsed = std::make_shared<Parsed>();
  parsed->name = std::move(name);
  parsed->nodes = parse_template(replace_ill_formed(source), parsed->name);
  parsed_ = std::move(parsed);
}

Rendered ChatTemplate::render(const boost::json::object& variables, const RenderLimits& limits,
                              std::optional<std::tm> now) const {
  try {
    Interpreter interpreter(parsed_->name, limits, now);
    for (const auto& entry : variables) {
      interpreter.set_global(std::string(entry.key().data(), entry.key().size()),
                             from_json(interpreter.heap(), entry.value()));
    }
    return interpreter.run(parsed_->nodes);
  } catch (const TemplateError& e) {
    throw UserError({e.code, "template", e.what(), "", {parsed_->name, 1, 1}});
  }
}

}  // namespace tlaloc::text
