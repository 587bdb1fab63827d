// A whole graph as a function: parameters, sizes, checks, statements, results.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/cxx/lower.h"
#include "tlaloc/cxx/names.h"
#include "tlaloc/cxx/types.h"

namespace tlaloc::cxx {

using ir::Dim;
using ir::Type;
using ir::ValueId;

namespace {

ExprRef length(VarId v) { return call("std::ssize", {variable(v)}); }

/// Product of the other axes, if the symbol is one axis and the others are constants.
std::optional<std::int64_t> row_beside(Type t, ir::Symbol s) {
  std::int64_t row = 1;
  bool found = false;
  for (Dim d : t.shape()) {
    if (d == Dim(s) && !found) {
      found = true;
    } else if (!d.is_constant() || d.constant() <= 0 ||
               __builtin_mul_overflow(row, d.constant(), &row)) {
      return std::nullopt;
    }
  }
  return found ? std::optional(row) : std::nullopt;
}

}  // namespace

std::vector<ir::Symbol> Lowering::function(const ir::Graph& g, const Signature& signature) {
  Values args;
  std::vector<ir::Symbol> sizes;
  function_.body = block([&] {
    std::vector<VarId> params;
    for (std::size_t k = 0; k < g.param_count(); ++k) {
      const Type t = g.type(static_cast<ValueId>(k));
      params.push_back(declare(t, signature.params[k], NameRank::parameter));
    }
    // Sizes: where an argument tells them, else parameters of their own.
    std::vector<VarId> size_params;
    std::vector<bool> checked(params.size());
    for (ir::Symbol s : g.dims()) {
      std::optional<std::size_t> from;
      std::int64_t row = 0;
      for (std::size_t k = 0; k < params.size(); ++k) {
        const auto r = row_beside(g.type(static_cast<ValueId>(k)), s);
        if (r && (!from || *r < row)) from = k, row = *r;
      }
      const VarId v = declare(Type::scalar(DType::i64), size_name(s.name()),
                              from ? NameRank::user : NameRank::parameter);
      if (from) {
        const ExprRef n = length(params[*from]);
        assign(v, row == 1 ? n : infix(Level::multiplicative, "/", n, integer(row)));
        checked[*from] = row == 1;
      } else {
        size_params.push_back(v);
        sizes.push_back(s);
      }
      define(s, variable(v));
      check_facts(s, !from);
    }
    for (std::size_t k = 0; k < params.size(); ++k) {
      const Type t = g.type(static_cast<ValueId>(k));
      if (t.rank() == 0) {
        args.push_back(scalar(t, variable(params[k])));
        continue;
      }
      args.push_back(in_vector(t, params[k]));
      if (checked[k]) continue;
      check(compare("==", length(params[k]), size(t.elements())), "std::invalid_argument",
            signature.params[k] + " has a wrong size");
    }
    function_.params = size_params;
    function_.params.insert(function_.params.end(), params.begin(), params.end());

    const Values results = graph(g, args, {});
    Stmt last{Stmt::Kind::result};
    for (std::size_t k = 0; k < results.size(); ++k) {
      const ExprRef e = whole(results[k]);
      if (is_var(*e)) var(e->var).suggest(signature.results[k], NameRank::result);
      last.moves.push_back({0, e});
    }
    emit(std::move(last));
  });
  if (g.results().size() == 1) {
    function_.result_type = type_name(g.type(g.results()[0]));
    return sizes;
  }
  Record& record = module_.records[function_.name];
  record.name = type_identifier(function_.name) + "Result";
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    record.fields.push_back(signature.results[k]);
    record.types.push_back(type_name(g.type(g.results()[k])));
  }
  function_.result_type = record.name;
  return sizes;
}

void Lowering::check_facts(ir::Symbol s, bool given) {
  const ir::SymbolFacts& facts = s.facts();
  auto refuse = [&](ExprRef holds, const std::string& what) {
    check(std::move(holds), "std::invalid_argument", facts.name + what);
  };
  const ExprRef n = size(s);
  if (facts.lower > 0 || given) {
    refuse(compare(">=", n, integer(facts.lower)), " is below " + std::to_string(facts.lower));
  }
  if (facts.upper < std::numeric_limits<std::int64_t>::max()) {
    refuse(compare("<=", n, integer(facts.upper)), " is above " + std::to_string(facts.upper));
  }
  if (facts.multiple_of > 1) {
    const ExprRef rest = infix(Level::multiplicative, "%", n, integer(facts.multiple_of));
    refuse(compare("==", rest, integer(0)),
           " is no multiple of " + std::to_string(facts.multiple_of));
  }
}

}  // namespace tlaloc::cxx
