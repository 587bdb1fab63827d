// Templates as trees.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tlaloc::text {

struct TemplateExpr;
using ExprPtr = std::unique_ptr<const TemplateExpr>;

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> named;
};

struct TemplateExpr {
  enum Kind {
    kNone,
    kBool,
    kInteger,
    kFloat,
    kString,  // constants
    kName,    // text
    kList,
    kTuple,      // items
    kDict,       // items: keys and values in turn
    kAttribute,  // items[0].text
    kItem,       // items[0][items[1]]
    kSlice,      // of an item: begin, end, step; each may be null
    kCall,       // items[0](arguments)
    kFilter,
    kTest,  // items[0] | text(arguments)
    kNot,
    kNegate,
    kPlus,  // items[0]
    kAnd,
    kOr,
    kBinary,    // items[0] text items[1]
    kCompare,   // items[0] and then operators with items
    kConcat,    // items
    kCondition  // items[1] if items[0] else items[2], which may be null
  } kind;
  int line, column;
  std::string text;
  std::int64_t integer = 0;
  double number = 0;
  std::vector<ExprPtr> items;
  std::vector<std::string> operators;
  CallArguments arguments;
};

/// What is assigned to: a name, an attribute of a namespace, or several of those.
struct AssignTarget {
  std::string name, attribute;
  std::vector<AssignTarget> parts;
};

struct TemplateNode;
using Nodes = std::vector<std::unique_ptr<const TemplateNode>>;

struct MacroSignature {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
};

struct TemplateNode {
  enum Kind {
    kText,         // text
    kPrint,        // expr
    kIf,           // branches, otherwise
    kFor,          // target, expr, test; body, otherwise
    kSet,          // target, expr
    kSetBlock,     // target, filter; body
    kMacro,        // signature; body
    kCallBlock,    // expr is a call; signature of the caller; body
    kFilterBlock,  // filter; body
    kWith,         // targets, values; body
    kGeneration,   // body
    kBreak,
    kContinue
  } kind;
  int line, column;
  std::string text;
  ExprPtr expr, test;
  /// A chain of filters whose innermost operand is null.
  ExprPtr filter;
  std::vector<std::pair<ExprPtr, Nodes>> branches;
  AssignTarget target;
  std::vector<AssignTarget> targets;
  std::vector<ExprPtr> values;
  MacroSignature signature;
  bool recursive = false;
  Nodes body, otherwise;
};

}  // namespace tlaloc::text
