#include "tlaloc/cxx/tensor_function.h"

#include <algorithm>

#include "tlaloc/cxx/names.h"
#include "tlaloc/cxx/passes.h"
#include "tlaloc/cxx/render.h"
#include "tlaloc/cxx/tensor_lowering.h"

namespace tlaloc::cxx {
namespace {

using ir::Type;
using ir::ValueId;

/// object.path, where a step that is a number is an element of a tuple.
ExprRef member(ExprRef object, const std::string& path) {
  std::string step;
  auto take = [&] {
    if (step.empty()) return;
    const bool number = step.find_first_not_of("0123456789") == std::string::npos;
    object = number ? call("std::get<" + step + ">", {object}) : field(object, step);
    step.clear();
  };
  for (std::size_t k = 0; k < path.size(); ++k) {
    if (path[k] == '.') {
      take();
    } else if (path[k] == '[') {
      take();
      const std::size_t end = path.find(']', k);
      object = index(object, literal(path.substr(k + 1, end - k - 1)));
      k = end;
    } else {
      step += path[k];
    }
  }
  take();
  return object;
}

class TensorFunction {
 public:
  TensorFunction(const ir::Graph& g, const Signature& signature, const Options& options,
                 Module& module, Function& f)
      : g_(g), signature_(signature), options_(options), module_(module), f_(f) {}

  void run() {
    TensorLowering l(f_, module_.needs);
    const TensorValues params = this->params();
    f_.body = l.body(g_, params, [&](const TensorValues& results) { finish(l, results); });
    fold(f_);
  }

 private:
  /// A structured argument is a parameter of a type of its own, so that the caller's may come.
  TensorValues params() {
    TensorValues r;
    std::vector<std::string> heads;
    for (std::size_t k = 0; k < g_.param_count(); ++k) {
      const Type t = g_.type(static_cast<ValueId>(k));
      const Member m = k < options_.members.size() ? options_.members[k] : Member{};
      if (m.of.empty()) {
        const VarId v = param(TensorLowering::tensor_type(t), signature_.params[k]);
        f_.params.push_back(v);
        r.push_back({t, t, variable(v)});
        continue;
      }
      const std::string name = identifier(m.of);
      auto known = std::ranges::find(structs_, name, &Struct::name);
      if (known == structs_.end()) {
        std::string type = type_identifier(name);
        const VarId v = param(type, name);
        f_.params.push_back(v);
        structs_.push_back({name, type, v});
        known = structs_.end() - 1;
        heads.push_back("class " + type);
      }
      r.push_back({t, t, member(variable(known->var), m.path)});
    }
    for (std::size_t k = 0; k < heads.size(); ++k) {
      f_.comment += (k ? ", " : "template <") + heads[k];
    }
    if (!heads.empty()) f_.comment += ">\n";
    return r;
  }
  VarId param(const std::string& type, const std::string& name) {
    Var v{.type = type, .array = true};
    v.suggest(name, NameRank::parameter);
    return f_.add_var(std::move(v));
  }

  void finish(TensorLowering& l, const TensorValues& results) {
    // Results come from no node: what they lack is told by the last one.
    const ir::Node n =
        g_.node(g_.node_count() ? static_cast<std::uint32_t>(g_.node_count()) - 1 : 0);
    Exprs values;
    for (std::size_t k = 0; k < results.size(); ++k) {
      values.push_back(g_.node_count() ? l.full(results[k], n) : results[k].expr);
      if (is_var(*values[k])) {
        f_.vars[values[k]->var].suggest(signature_.results[k], NameRank::result);
      }
    }
    Stmt last{Stmt::Kind::result};
    const auto like = std::ranges::find(structs_, identifier(options_.result_like), &Struct::name);
    if (!options_.result_like.empty() && like != structs_.end()) {
      f_.result_type = like->type;
      Var v{.type = like->type};
      v.suggest("result", NameRank::value);
      const VarId result = f_.add_var(std::move(v));
      Stmt start{Stmt::Kind::assign, result};
      start.value = variable(like->var);
      l.emit(std::move(start));
      std::size_t next = 0;
      for (const Member& m : options_.members) {
        if (m.of != options_.result_like) continue;
        Stmt s{Stmt::Kind::set, result};
        s.position = member(variable(result), m.path);
        s.value = values[next++];
        l.emit(std::move(s));
      }
      last.moves.push_back({0, variable(result)});
    } else {
      for (const ExprRef& e : values) last.moves.push_back({0, e});
      result_type(results);
    }
    l.emit(std::move(last));
  }
  void result_type(const TensorValues& results) {
    if (results.size() == 1) {
      f_.result_type = TensorLowering::tensor_type(results[0].type);
      return;
    }
    Record& record = module_.records[f_.name];
    record.name = type_identifier(f_.name) + "Result";
    for (std::size_t k = 0; k < results.size(); ++k) {
      record.fields.push_back(signature_.results[k]);
      record.types.push_back(TensorLowering::tensor_type(results[k].type));
    }
    f_.result_type = record.name;
  }

  struct Struct {
    std::string name, type;
    VarId var;
  };
  const ir::Graph& g_;
  const Signature& signature_;
  const Options& options_;
  Module& module_;
  Function& f_;
  std::vector<Struct> structs_;
};

}  // namespace

Printed print_tensor(const ir::Graph& g, const std::string& name, const Signature& signature,
                     const Options& options) {
  Module module;
  Function f;
  f.name = name;
  TensorFunction(g, signature, options, module, f).run();
  Printed printed{.mode = Mode::tensor};
  printed.function = f.name;
  printed.result_type = f.result_type;
  for (VarId p : f.params) printed.param_types.push_back(f.vars[p].type);
  if (module.records.contains(f.name)) printed.result_fields = signature.results;
  module.functions.push_back(std::move(f));
  printed.text = "#include <tlaloc/tlaloc.h>\n\n" + render(module);
  return printed;
}

}  // namespace tlaloc::cxx
