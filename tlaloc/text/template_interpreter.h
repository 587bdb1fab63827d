// Runs a template.
#pragma once

#include <optional>
#include <string>

#include "tlaloc/text/chat_template.h"
#include "tlaloc/text/template_ast.h"
#include "tlaloc/text/template_value.h"

namespace tlaloc::text {

/// Arguments by place or name, as functions, filters and tests take them.
class Parameters {
 public:
  Parameters(std::string_view function, Arguments& arguments)
      : function_(function), arguments_(arguments) {}
  /// The next parameter; nothing where it is not given.
  std::optional<Value> next(std::string_view name);
  Value required(std::string_view name);
  /// Fails for arguments that are left.
  void finish();

 private:
  std::string_view function_;
  Arguments& arguments_;
  std::size_t at_ = 0;
};

class Interpreter {
 public:
  Interpreter(const std::string& name, const RenderLimits& limits, std::optional<std::tm> now);

  Heap& heap() { return heap_; }
  void set_global(const std::string& name, Value value) { globals_.set(name, value); }
  Rendered run(const Nodes& nodes);

  Value call(const Value& function, Arguments& arguments);
  Value filter(std::string_view name, const Value& value, Arguments& arguments);
  bool test(std::string_view name, const Value& value, Arguments& arguments);
  /// value.name: a method, a member or an entry.
  Value attribute(const Value& value, const std::string& name);
  Value item(const Value& value, const Value& index);
  /// One unit of work. TL-TEMPLATE-003.
  void step() { heap_.step(); }

 private:
  struct Frame {
    Frame* parent = nullptr;
    std::vector<std::pair<std::string, Value>> values;
    void set(const std::string& name, Value value);
    const Value* find(const std::string& name) const;
  };
  /// One level of what recurses. TL-TEMPLATE-003.
  class Deeper {
   public:
    explicit Deeper(Interpreter& i);
    ~Deeper() { --i_.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;

   private:
    Interpreter& i_;
  };
  enum class Flow { kOn, kBreak, kContinue };

  Flow run(const Nodes& nodes, Frame& frame);
  Flow run(const TemplateNode& node, Frame& frame);
  void loop(const TemplateNode& node, const Value& over, Frame& frame, int depth);
  Value macro(const TemplateNode& node, Frame& frame);
  Value call_macro(const TemplateNode& node, Frame& frame, Arguments& arguments);
  std::string captured(const Nodes& nodes, Frame& frame);
  void assign(const AssignTarget& target, const Value& value, Frame& frame);
  Frame* new_frame(Frame& parent);
  void write(std::string_view s);

  Value evaluate(const TemplateExpr& e, Frame& frame);
  Value evaluate_here(const TemplateExpr& e, Frame& frame);
  Value apply_filters(const TemplateExpr& e, const Value& inner, Frame& frame);
  Value binary(const std::string& op, const Value& a, const Value& b);
  bool compares(const std::string& op, const Value& a, const Value& b);
  Value slice(const Value& v, const TemplateExpr& e, Frame& frame);
  Value loop_member(const TemplateLoop& loop, const std::string& name);
  Arguments arguments(const CallArguments& a, Frame& frame);
  void add_globals(std::optional<std::tm> now);

  const std::string& name_;
  RenderLimits limits_;
  Heap heap_;
  Frame globals_;
  std::string out_;
  std::vector<Range> generations_;
  int depth_ = 0, captures_ = 0;
};

/// A method of a text or dictionary, bound to it; undefined where there is none.
Value method_of(Interpreter& interpreter, const Value& value, const std::string& name);
/// As Python's json.dumps writes it, without escapes of what is not ASCII.
Value to_json(Heap& heap, const Value& v, std::optional<std::string> indent,
              std::string_view item_separator, std::string_view key_separator, bool sort_keys);
Value from_json(Heap& heap, const boost::json::value& v);
/// a*b for integers and the like, which must fit 64 bits.
Value arithmetic(const std::string& op, const Value& a, const Value& b);
std::string python_strip(Heap& heap, const std::string& s, const Value* chars, bool left,
                         bool right);

}  // namespace tlaloc::text
