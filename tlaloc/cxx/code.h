// The function being printed, as structured statements over variables. Lowering writes it plainly
// (every value its own variable, every copy explicit); the passes in passes.h make it readable.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tlaloc/cxx/expr.h"
#include "tlaloc/ir/graph.h"

namespace tlaloc::cxx {

struct Stmt;
using Block = std::vector<Stmt>;

struct Assignment {
  VarId target;
  ExprRef value;
};

struct Stmt {
  enum class Kind : std::uint8_t {
    assign,    ///< target = value; the first one declares
    store,     ///< target[position] = value
    set,       ///< position = value, where position is a member of target
    push,      ///< target.push_back(value)
    append,    ///< the elements of the vector `value` at the end of target
    parallel,  ///< all of `moves`: every value is read before any target is written
    loop,      ///< while (before; value) body
    count,     ///< for (target from position; value; target += step) body
    branch,    ///< if (value) body else other
    require,   ///< if (!value) throw text
    leave,     ///< if (!value) break
    declare,   ///< target, without a value yet
    result,    ///< return moves' values
    unpack,    ///< const auto [params…] = value
    lambda,    ///< const auto target = [&](params…) body
  };
  Kind kind;
  VarId target = 0;
  ExprRef position, value;
  std::vector<Assignment> moves;
  std::vector<VarId> params;
  Block before, body, other;
  std::int64_t step = 1;
  std::string text;
  /// A loop whose trips store to different elements, each computed before it is stored.
  bool by_element = false;
  /// A loop over the indices of an array, which an op on arrays became.
  bool over_indices = false;
  /// A new vector that may as well be this one: all elements are written, each from the old one.
  std::optional<VarId> like;
};

/// How good a name is; the best one of all variables that became one wins.
enum class NameRank : std::uint8_t { none, derived, value, result, user, parameter };

struct Var {
  std::string type;
  bool array = false;    ///< moved rather than copied
  bool counter = false;  ///< counts the trips of a loop
  bool history = false;  ///< one element per trip of a loop
  char stem = 'v';       ///< of a name with a number: d for cotangents, t for tangents
  ir::Type shape;        ///< of a vector, in the function's sizes
  std::string name;
  NameRank rank = NameRank::none;
  void suggest(const std::string& better, NameRank with) {
    if (with > rank && !better.empty()) {
      name = better;
      rank = with;
    }
  }
};

/// Names v after what it is, or is a tangent or cotangent of.
void suggest(Var& v, const ir::Origin& origin);

struct Function {
  std::string name, result_type;
  std::vector<VarId> params;
  std::vector<Var> vars;
  Block body;
  std::string comment;

  VarId add_var(Var v) {
    vars.push_back(std::move(v));
    return static_cast<VarId>(vars.size() - 1);
  }
};

/// True if the statement makes a new vector of zeros.
bool allocates(const Function& f, const Stmt& s);
/// Visits the variables that a statement itself reads (not its blocks): every operand, and the
/// target where its old value matters.
void each_read(const Stmt& s, const std::function<void(VarId)>& visit);
/// The variable that a statement itself writes.
void each_write(const Stmt& s, const std::function<void(VarId)>& visit);
/// Visits every expression of the statement itself.
void each_expr(Stmt& s, const std::function<void(ExprRef&)>& visit);
/// Visits every block directly inside, in the order in which they run.
void each_block(Stmt& s, const std::function<void(Block&)>& visit);
void each_block(const Stmt& s, const std::function<void(const Block&)>& visit);

}  // namespace tlaloc::cxx
